"""Lets pages of this machine read the answers of `passage serve`, whatever their port: a developer's site has any."""

from typing import Any

from handler.bootstrap.container import Container
from passage.local.serve import Handler
from passage.service_url import is_loopback

ALLOWED = "Access-Control-Allow-Origin"


def with_loopback_origins(handler: Handler, services: Container) -> Handler:
    """The handler; it answers an origin of this machine as the first of ALLOWED_ORIGINS, unless there is none.

    Args:
        services: the handler's.
    """

    def answer(event: dict[str, Any], context: Any) -> dict[str, Any]:
        origin = event["headers"].get("origin")
        if origin is None or not is_loopback(origin):
            return handler(event, context)
        allowed = next(iter(services.http_settings.allowed_origins), origin)
        sent = {**event["headers"], "origin": origin if allowed == "*" else allowed}
        result = handler({**event, "headers": sent}, context)
        if ALLOWED in (result.get("headers") or {}):
            result["headers"][ALLOWED] = origin
        return result

    return answer
