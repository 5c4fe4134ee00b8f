"""Ways to reach an API: over HTTP, in this process, or by invoking the Lambda function."""

import base64
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlencode

import httpx

from passage.local.environment import LocalContext
from passage.local.http_event import http_api_event
from passage.service_url import client_options

SECONDS = 35.0
"""Longer than any API in front waits (29 s for a REST API, 30 s for an HTTP API), so that its own error is seen."""


class Unreachable(Exception):
    """No answer came. The message says why."""


@dataclass(frozen=True)
class ApiReply:
    """An HTTP answer.

    Attributes:
        headers: by lower-case name.
        milliseconds: from the request to the whole answer.
    """

    status: int
    headers: Mapping[str, str]
    text: str
    milliseconds: float

    def json(self) -> Any:
        """The body; None where it is not JSON."""
        try:
            return json.loads(self.text)
        except ValueError:
            return None

    @property
    def fault(self) -> str:
        """The status and the message of an error, as a sentence in one line."""
        said = _message(self.json()) or self.text[:200]
        return f"HTTP {self.status}: {' '.join(said.split()).removesuffix('.') or 'no body'}."

    @property
    def code(self) -> str:
        """The code of an error in any contract's form; empty where the body is no contract's error."""
        body = self.json()
        if not isinstance(body, Mapping) or not _message(body):
            return ""
        error = body.get("error")
        code = error.get("code") if isinstance(error, Mapping) else body.get("code")
        return code if isinstance(code, str) else ""


def _message(body: Any) -> str:
    """The text of an error in any contract's form, or in a gateway's."""
    if not isinstance(body, Mapping):
        return ""
    error = body.get("error") or body
    message = (error.get("message") or error.get("Message")) if isinstance(error, Mapping) else error
    return message if isinstance(message, str) else ""


@dataclass(frozen=True, slots=True)
class Request:
    """An HTTP request to an API. `path` begins with a slash."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None


class Api(Protocol):
    """Sends one request."""

    def ask(self, request: Request) -> ApiReply:
        """Raises Unreachable."""


@dataclass(frozen=True)
class HttpApi:
    """An `Api` at a URL, and its key, if it has one.

    Attributes:
        request: sends one request. That of an `httpx.Client` keeps the connection for the next one.
    """

    url: str
    key: str | None = None
    request: Callable[..., httpx.Response] = httpx.request

    def ask(self, request: Request) -> ApiReply:
        headers = {**({"x-api-key": self.key} if self.key else {}), **request.headers}
        url = f"{self.url.rstrip('/')}{request.path}"
        started = time.perf_counter()
        try:
            answer = self.request(
                request.method,
                url,
                params=request.query or None,
                headers=headers,
                content=request.body,
                timeout=SECONDS,
            )
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Unreachable(f"{self.url} cannot be reached ({type(error).__name__}: {error})") from error
        took = (time.perf_counter() - started) * 1000
        return ApiReply(
            answer.status_code, {name.lower(): value for name, value in answer.headers.items()}, answer.text, took
        )

    def without_key(self) -> "HttpApi":
        return HttpApi(self.url, request=self.request)


@contextmanager
def over_http(url: str, key: str | None) -> Iterator[HttpApi]:
    """The API at a URL, which may end in `/query`, over one connection.

    A proxy that the environment names cannot reach this machine, so it is not asked for a URL on it.
    """
    url = url.rstrip("/").removesuffix("/query")
    with httpx.Client(**client_options(url)) as client:
        yield HttpApi(url, key, client.request)


@dataclass(frozen=True)
class FunctionApi:
    """The function itself as an `Api`, given the event that an HTTP API would send.

    Attributes:
        invoke: takes an event, returns the function's result. Raises Unreachable.
    """

    invoke: Callable[[Mapping[str, Any]], Any]

    def ask(self, request: Request) -> ApiReply:
        event = http_api_event(
            request.method,
            request.path,
            query=urlencode(request.query),
            headers=request.headers,
            body=request.body,
        )
        started = time.perf_counter()
        result = self.invoke(event)
        took = (time.perf_counter() - started) * 1000
        if not isinstance(result, Mapping) or "statusCode" not in result:
            raise Unreachable(f"the function's result is not an HTTP response: {str(result)[:200]}")
        content = result.get("body") or ""
        text = base64.b64decode(content).decode(errors="replace") if result.get("isBase64Encoded") else content
        named = {name.lower(): str(value) for name, value in (result.get("headers") or {}).items()}
        return ApiReply(result["statusCode"], named, text, took)


def in_process(handler: Callable[[Any, Any], Any]) -> FunctionApi:
    """The function in this process."""
    return FunctionApi(lambda event: handler(dict(event), LocalContext()))


def by_invocation(client: Any, function: str) -> FunctionApi:
    """The deployed function, for a stack without an API.

    Args:
        client: boto3's, for Lambda.
        function: its name or ARN, which may end in an alias.
    """
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - `client` has loaded it

    def invoke(event: Mapping[str, Any]) -> Any:
        try:
            answer = client.invoke(FunctionName=function, Payload=json.dumps(event).encode())
            result = json.loads(answer["Payload"].read() or b"null")
        except (BotoCoreError, ClientError) as error:
            raise Unreachable(f"the function '{function}' could not be invoked: {error}") from error
        if "FunctionError" in answer:
            raise Unreachable(f"the function failed: {str(result)[:300]}")
        return result

    return FunctionApi(invoke)
