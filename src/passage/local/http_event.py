"""An HTTP request as an API Gateway event (HTTP API, payload format 2.0)."""

import base64
import time
import uuid
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl


def http_api_event(
    method: str, path: str, *, query: str = "", headers: Mapping[str, str] | None = None, body: bytes | None = None
) -> dict[str, Any]:
    """The event for one request to the `$default` stage.

    Args:
        path: as the client sent it, percent-encoding decoded.
        body: None without one; bytes that are not UTF-8 are passed in base64, as the gateway does.
    """
    named = {name.lower(): value for name, value in (headers or {}).items()}
    text, encoded = _text(body)
    now = time.time()
    parameters: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        parameters[name] = f"{parameters[name]},{value}" if name in parameters else value
    event: dict[str, Any] = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "headers": named,
        "requestContext": {
            "accountId": "000000000000",
            "apiId": "local",
            "domainName": named.get("host", "127.0.0.1"),
            "domainPrefix": "local",
            "http": {
                "method": method,
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": "127.0.0.1",
                "userAgent": named.get("user-agent", ""),
            },
            "requestId": str(uuid.uuid4()),
            "routeKey": "$default",
            "stage": "$default",
            "time": time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(now)),
            "timeEpoch": int(now * 1000),
        },
        "isBase64Encoded": encoded,
    }
    if parameters:
        event["queryStringParameters"] = parameters
    if text is not None:
        event["body"] = text
    return event


def _text(body: bytes | None) -> tuple[str | None, bool]:
    if not body:
        return None, False
    try:
        return body.decode(), False
    except UnicodeDecodeError:
        return base64.b64encode(body).decode(), True
