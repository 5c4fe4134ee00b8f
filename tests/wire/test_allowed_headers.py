"""ALLOWED_HEADERS: the request headers that a page may send besides Powertools' own, such as tracing headers."""

import pytest

from handler.config.settings import HttpSettings
from handler.core.errors import ConfigurationError
from wire.function import ORIGIN, Start

TRACING = "traceparent, sentry-trace,baggage"


def allowed(start: Start, setting: str | None) -> set[str]:
    event = {
        "version": "2.0",
        "rawPath": "/query",
        "headers": {"origin": ORIGIN, "access-control-request-headers": "content-type,sentry-trace,traceparent"},
        "requestContext": {"http": {"method": "OPTIONS"}},
    }
    answer = start(ALLOWED_HEADERS=setting).send(event)
    assert answer.status == 204
    return set(answer.headers["access-control-allow-headers"].split(","))


def test_setting_extends_the_allowed_headers(start: Start) -> None:
    usual = allowed(start, None)
    assert {"Content-Type", "Authorization"} <= usual
    assert allowed(start, TRACING) == usual | {"traceparent", "sentry-trace", "baggage"}


@pytest.mark.parametrize("value", ["a header", "*", "a:b", "ü", '"a"'])
def test_name_that_no_header_has_is_refused(value: str) -> None:
    with pytest.raises(ConfigurationError, match="ALLOWED_HEADERS"):
        HttpSettings.from_env({"ALLOWED_HEADERS": value})
