"""Parts of Bedrock requests that all models share, and Bedrock's error messages."""

from typing import Any

from passage.emulators.server import ApiError, parse_json


def malformed(what: str) -> ApiError:
    """Bedrock's error for a request that does not match the model's schema."""
    return ApiError(400, f"Malformed input request: {what}, please reformat your input and try again.")


def read_object(body: bytes) -> dict[str, Any]:
    """The JSON object in a request."""
    try:
        fields = parse_json(body)
    except ValueError as error:
        raise ApiError(400, "Malformed input request, please reformat your input and try again.") from error
    if not isinstance(fields, dict):
        raise malformed("expected type: object")
    return fields
