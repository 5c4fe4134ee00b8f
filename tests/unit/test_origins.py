"""ALLOWED_ORIGINS: each origin in the form that browsers send, so that it can match."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.config.settings import HttpSettings
from handler.config.values import origin
from handler.core.errors import ConfigurationError


@pytest.mark.parametrize(
    ("given_as", "sent"),
    [
        ("https://user.github.io", "https://user.github.io"),
        ("HTTPS://User.GitHub.IO", "https://user.github.io"),
        ("https://user.github.io:443", "https://user.github.io"),
        ("http://localhost:80", "http://localhost"),
        ("http://localhost:3000", "http://localhost:3000"),
        ("https://localhost:80", "https://localhost:80"),
        ("https://müller.example", "https://xn--mller-kva.example"),
        ("https://MÜLLER.example:8443", "https://xn--mller-kva.example:8443"),
        ("https://straße.example", "https://xn--strae-oqa.example"),
        ("https://日本語.example", "https://xn--wgv71a119e.example"),
        ("http://[::1]:3000", "http://[::1]:3000"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("*", "*"),
    ],
)
def test_origin_is_normalised_as_browsers_send_it(given_as: str, sent: str) -> None:
    assert HttpSettings.from_env({"ALLOWED_ORIGINS": given_as}).allowed_origins == (sent,)


@pytest.mark.parametrize("value", ["https://*.vercel.app", "https://*", "*.github.io", "http://localhost:*", "**"])
def test_wildcard_is_refused_with_a_correct_example(value: str) -> None:
    with pytest.raises(ConfigurationError, match=r"ALLOWED_ORIGINS: .*wildcard: name each origin"):
        HttpSettings.from_env({"ALLOWED_ORIGINS": value})


@pytest.mark.parametrize(
    "value",
    [
        *("https://x.example/", "https://x.example/docs", "https://x.example?", "https://x.example#", "x.example"),
        *("null", "https://", "https://user@x.example", "https://x.example:99999", "https://x.example:port"),
        *("ftp://x.example", "https://x y.example", "https://[::1", "https://ü\u0301..example"),
    ],
)
def test_invalid_origin_is_refused(value: str) -> None:
    with pytest.raises(ConfigurationError, match=r"ALLOWED_ORIGINS: .*is not an origin: scheme://host\[:port\]"):
        HttpSettings.from_env({"ALLOWED_ORIGINS": value})


@given(st.text(max_size=30) | st.builds("https://{}".format, st.text(max_size=20)))
def test_normalised_origin_stays_the_same_and_ascii(value: str) -> None:
    try:
        first = origin(value)
    except ValueError:
        return
    assert first.isascii()
    assert origin(first) == first
