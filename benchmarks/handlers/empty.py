"""The floor: a function that does nothing, for what Lambda's own runtime takes."""

from typing import Any


def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return {"statusCode": 200, "body": "{}"}
