"""What an HTTP request says: the fields of its body or its query string, and which kind of answer it accepts."""

import base64
import binascii
import json
from collections.abc import Mapping
from typing import Any

from handler.config.profiles import Profile
from handler.core.errors import InvalidRequest


def body(event: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a JSON body.

    Raises:
        InvalidRequest: there is none, or it is not base64, UTF-8, JSON or an object.
    """
    raw = event.get("body") or ""
    if event.get("isBase64Encoded"):
        try:
            raw = base64.b64decode(raw, validate=True).decode("utf-8")
        except (binascii.Error, ValueError):
            raise InvalidRequest("The body is not text: it takes a JSON object encoded in UTF-8.") from None
    if not raw.strip():
        raise InvalidRequest('The body is empty: it takes a JSON object, as in {"text": "What is a digital twin?"}.')
    try:
        fields = json.loads(raw)
    except (ValueError, RecursionError):
        raise InvalidRequest("The body is not valid JSON: it takes a JSON object.") from None
    if not isinstance(fields, dict):
        raise InvalidRequest("The body is JSON, but not an object: it takes one with the question in a field.")
    return fields


def query_string(event: Mapping[str, Any], profile: Profile) -> dict[str, Any]:
    """The fields of a query string. Text stays text; all else is read as JSON would be, so that `k=5` is a number."""
    as_text = {*profile.query.text.names, "query_id", "collection_name"}
    return {name: value if name in as_text else _literal(value) for name, value in parameters(event).items()}


def parameters(event: Mapping[str, Any]) -> Mapping[str, str]:
    """The query string's parameters, decoded."""
    return event.get("queryStringParameters") or {}


def _literal(value: str) -> Any:
    try:
        read = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return value if read is None else read  # a URL leaves out what it does not give; `k=null` is a mistake


def prefers_plain_text(accept: str) -> bool:
    """Whether an Accept header puts plain text above JSON (RFC 9110, 12.5.1); without one, JSON it is."""
    weights: dict[str, float] = {}
    for part in accept.lower().split(","):
        kind, *options = (item.strip() for item in part.split(";"))
        weights[kind] = next((_weight(option) for option in options if option.startswith("q=")), 1.0)
    json_weight = max(weights.get(kind, 0.0) for kind in ("application/json", "application/*", "*/*"))
    return weights.get("text/plain", weights.get("text/*", 0.0)) > json_weight


def _weight(option: str) -> float:
    try:
        return float(option.removeprefix("q="))
    except ValueError:
        return 0.0
