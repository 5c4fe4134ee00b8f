"""The largest response of each event source, and the size of a response as it is sent."""

import json
from typing import Any

LAMBDA_RESPONSE_BYTES = 6_291_556
"""The most bytes of a synchronous response. Lambda drops a larger one, although the function succeeded."""

ALB_RESPONSE_BYTES = 1_048_576
"""The most bytes that a load balancer accepts from a function (Elastic Load Balancing, Lambda functions as targets)."""

ENVELOPE_BYTES = 4_096
"""Room for headers and the rest of an HTTP response around its body."""

WIDEST = 12
"""The most bytes of a character in a response: two escapes, for one outside Unicode's basic plane."""


def sent_bytes(value: Any, *, utf8: bool) -> int:
    """Bytes of a value in a response.

    Args:
        utf8: whether Lambda's runtime writes UTF-8; otherwise it writes ASCII with escapes.
    """
    text = json.dumps(value, ensure_ascii=not utf8)
    return len(text.encode("utf-8", "surrogatepass")) if utf8 else len(text)


def text_fits(text: str, most: int, *, utf8: bool) -> bool:
    """Whether a text takes at most `most` bytes in a response. A short text always fits and is not measured."""
    return len(text) * WIDEST <= most or sent_bytes(text, utf8=utf8) <= most
