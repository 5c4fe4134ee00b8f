"""AWS services through boto3, which is part of Lambda's runtime. Imported only when one is used."""

import re
from collections.abc import Iterator
from typing import Any

import boto3
import httpx
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError, IncompleteReadError
from botocore.parsers import ResponseParserError

from handler.adapters.transport import ANSWER_BYTES, limit_body, shared

CONFIG = Config(retries={"total_max_attempts": 1, "mode": "standard"})
"""No retries in boto3: the core retries, within the request's deadline."""

LONGEST_WAIT = 60.0
"""Seconds a wait may take without a deadline, as in `passage index`."""

STREAM_BYTES = 10 * 1024**3
"""The most bytes of an answer that is read in parts: more than the largest `/tmp`."""

UNREADABLE = (ResponseParserError, ValueError, TypeError, AttributeError, LookupError, RecursionError)
"""What botocore's parsers, and the code that reads their result, raise for an answer of another form."""

FAILURES = (ClientError, BotoCoreError, httpx.HTTPError, *UNREADABLE)
"""The exceptions of a call."""

BUSY = re.compile(
    r"Throttl|TooManyRequests|RequestLimitExceeded|ThroughputExceeded|ServiceQuotaExceeded|OverLimit|SlowDown|"
    r"ModelNotReady"
)
"""Part of each error code with which an AWS service throttles."""


def client(
    service: str, *, region: str | None = None, longest_wait: float = LONGEST_WAIT, most_bytes: int = ANSWER_BYTES
) -> Any:
    """A client with a separate session, so that discarding it also discards the credentials it found.

    botocore signs requests and reads answers, but the function's transport sends them: botocore's timeouts are fixed
    per client, while the transport ends every wait with the running deadline.

    Args:
        most_bytes: the most bytes of a successful answer. A longer one is an httpx.DecodingError.
    """
    made = boto3.session.Session(region_name=region).client(service, config=CONFIG)
    timeout = httpx.Timeout(longest_wait).as_dict()
    made.meta.events.register("before-send", lambda request, **_: _send(request, timeout, most_bytes))
    return made


def code(error: ClientError) -> str:
    """The error's code, as the service names it."""
    return str(error.response.get("Error", {}).get("Code", ""))


def status(error: ClientError) -> int:
    """The response's HTTP status; 0 without one."""
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def is_throttling(error: ClientError) -> bool:
    """Whether the service throttles."""
    return status(error) == 429 or BUSY.search(code(error)) is not None


def is_temporary(error: Exception) -> bool:
    """Whether another try may help: the service is busy, failing or unreachable, or something else answered for it."""
    if isinstance(error, ClientError):
        return is_throttling(error) or status(error) >= 500
    return not isinstance(error, httpx.TooManyRedirects) and isinstance(
        error, (httpx.HTTPError, HTTPClientError, IncompleteReadError, *UNREADABLE)
    )


def _send(request: AWSPreparedRequest, timeout: dict[str, float | None], most_bytes: int) -> AWSResponse:
    headers = {name: value.decode() if isinstance(value, bytes) else value for name, value in request.headers.items()}
    asked = httpx.Request(
        request.method, request.url, headers=headers, content=request.body or b"", extensions={"timeout": timeout}
    )
    answer = shared().handle_request(asked)
    answer = limit_body(answer, most_bytes if answer.is_success else ANSWER_BYTES)
    if answer.is_redirect and "x-amz-bucket-region" not in answer.headers:
        # botocore would ask S3 for the bucket's region, be redirected again, and ask until Python's stack ends.
        answer.close()
        location = answer.headers.get("location", "no address")
        raise httpx.TooManyRedirects(f"HTTP {answer.status_code}, to {location}", request=asked)
    return AWSResponse(request.url, answer.status_code, dict(answer.headers), _Body(answer))


class _Body:
    """A response body with the methods that botocore calls. It is read as it comes, so it may exceed the memory."""

    def __init__(self, answer: httpx.Response) -> None:
        self._parts = answer.iter_raw()
        self.close = answer.close

    def stream(self, *_: object, **__: object) -> Iterator[bytes]:
        return self._parts

    def read(self, most: int | None = None) -> bytes:
        """The next part, of any size, and empty at the end; without `most` all of the rest."""
        return b"".join(self._parts) if most is None else next(self._parts, b"")
