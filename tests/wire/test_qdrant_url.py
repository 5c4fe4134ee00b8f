"""Valid and invalid values of QDRANT_URL, and those that the client would misread."""

import pytest

from handler.config.settings import Settings
from handler.core.errors import ConfigurationError


def qdrant_url(value: str) -> str | None:
    return Settings.from_env({"COHERE_API_KEY": "key", "QDRANT_URL": value}).qdrant_url


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("https://x.cloud.qdrant.io", "https://x.cloud.qdrant.io:443"),
        ("https://x.cloud.qdrant.io/", "https://x.cloud.qdrant.io:443"),
        ("https://x.cloud.qdrant.io:6333", "https://x.cloud.qdrant.io:6333"),
        ("https://x.cloud.qdrant.io:6333/", "https://x.cloud.qdrant.io:6333"),
        ("https://example.org/qdrant", "https://example.org:443/qdrant"),
        ("https://[2001:db8::1]", "https://[2001:db8::1]:443"),
        ("http://qdrant", "http://qdrant:6333"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
    ],
)
def test_port_is_always_explicit(given: str, used: str) -> None:
    """The client would use port 6333 for a URL without a port."""
    assert qdrant_url(given) == used


@pytest.mark.parametrize(
    "value",
    [
        *("x.cloud.qdrant.io", "x.cloud.qdrant.io:6333", "localhost:6333", "//x.cloud.qdrant.io", ":memory:"),
        *("https://", "https://:6333", "ftp://x.cloud.qdrant.io", "https://x.cloud.qdrant.io:port"),
        *("https://x.cloud.qdrant.io:99999", "https://x .cloud.qdrant.io", " https://x.cloud.qdrant.io"),
        *("https://x.cloud.qdrant.io\n", "https://user:word@x.cloud.qdrant.io", "https://x.cloud.qdrant.io?key=word"),
        "https://x.cloud.qdrant.io#top",
    ],
)
def test_ambiguous_qdrant_url_is_refused_without_repeating_it(value: str) -> None:
    with pytest.raises(ConfigurationError, match="QDRANT_URL") as refused:
        qdrant_url(value)
    assert "word" not in str(refused.value)


@pytest.mark.parametrize("value", ["", "  "])
def test_empty_url_is_a_missing_one_and_not_localhost(value: str) -> None:
    with pytest.raises(ConfigurationError, match="QDRANT_URL: required"):
        qdrant_url(value)
