"""What both clients share: requests, answers and waits, without a network."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib import metadata
from typing import Any
from urllib.parse import quote

import httpx

from passage_client.errors import NoAnswer, PassageError, TimedOut, kind
from passage_client.records import Record
from passage_client.types import AskFields

RETRIED = (429, 502, 503, 504)
RETRIED_ONCE = 500

BROKEN = (httpx.NetworkError, httpx.RemoteProtocolError)
"""httpx's errors of a connection that another attempt may not have."""

REQUEST_IDS = ("apigw-requestid", "x-amzn-requestid", "x-amz-apigw-id")

LAST_OFFSET = 199
"""How far the API pages."""

UNANSWERED = (httpx.HTTPError, httpx.InvalidURL)
"""httpx's errors where no answer came; the second is not a subclass of the first."""


@dataclass(frozen=True)
class Settings:
    """A client's options; `Passage` explains them."""

    url: str
    profile: str | None
    timeout: float
    retries: int
    headers: Mapping[str, str]

    @classmethod
    def of(
        cls,
        endpoint: str | None,
        *,
        profile: str | None,
        key: str | None,
        timeout: float,
        retries: int,
        headers: Mapping[str, str] | None,
    ) -> "Settings":
        endpoint = os.environ.get("PASSAGE_URL") if endpoint is None else endpoint
        if endpoint is None:
            raise TypeError("The client needs the API's URL: give it, or set PASSAGE_URL.")
        key = os.environ.get("PASSAGE_KEY") if key is None else key
        own = {"User-Agent": f"passage-client/{_version()}", **({"X-Api-Key": key} if key else {})}
        return cls(endpoint.rstrip("/"), profile, timeout, retries, {**own, **(headers or {})})


@dataclass(frozen=True)
class Call:
    """One request: a POST with a body, else a GET."""

    path: str
    body: Mapping[str, Any] | None = None
    params: Mapping[str, str] = field(default_factory=dict)

    def request(self, settings: Settings) -> dict[str, Any]:
        """The arguments of httpx's `request`."""
        body = {} if self.body is None else {"json": self.body}
        method = "GET" if self.body is None else "POST"
        url = f"{settings.url}{self.path}"
        return {"method": method, "url": url, "headers": settings.headers, "params": self.params, **body}


def ask(settings: Settings, question: str | Mapping[str, Any], profile: str | None, fields: Mapping[str, Any]) -> Call:
    unknown = [name for name in fields if name not in AskFields.__annotations__]
    if unknown:
        known = ", ".join(sorted(AskFields.__annotations__))
        raise TypeError(f"ask() has no field '{unknown[0]}'. It has {known}. A profile's own are sent in a dict.")
    asked = {"question": question} if isinstance(question, str) else question
    name = profile or settings.profile
    return Call(
        "/query" if name is None else f"/profiles/{quote(name, safe='')}/query", {"titles": True, **asked, **fields}
    )


def chunk(profile: str, chunk_id: str | int, *, with_vectors: bool) -> Call:
    path = f"/profiles/{quote(profile, safe='')}/chunks/{quote(str(chunk_id), safe='')}"
    return Call(path, params={"with_vectors": "true"} if with_vectors else {})


def collection(profile: str) -> Call:
    return Call(f"/profiles/{quote(profile, safe='')}/collection")


PROFILES = Call("/profiles")


def feedback(settings: Settings, fields: Mapping[str, Any]) -> Call:
    given = {**fields, "profile": fields.get("profile") or settings.profile}
    return Call("/feedback", {name: value for name, value in given.items() if value is not None})


def answer(response: httpx.Response) -> Any:
    """A response's JSON; None for an empty one.

    Raises:
        PassageError: the status is not 2xx, or the body is not JSON.
    """
    if response.is_success:
        try:
            found = response.json(object_hook=Record) if response.content else None
            if isinstance(found, Record):
                found.headers, found.request_id = response.headers, _request_id(response)
            return found
        except ValueError:
            raise NoAnswer("The answer is not JSON: the URL is not the API's.", status=response.status_code) from None
    raise _failure(response)


def wait(error: PassageError, attempt: int, settings: Settings, left: float) -> float:
    """Seconds to wait before the next attempt.

    Args:
        attempt: how many attempts failed before this one.
        left: seconds until the timeout.

    Raises:
        PassageError: `error`, if another attempt cannot help or would come too late.
    """
    seconds: float = 2**attempt / 2 if error.retry_after is None else error.retry_after
    again = error.status in RETRIED or isinstance(error.__cause__, BROKEN)
    if not (again or (error.status == RETRIED_ONCE and attempt == 0)) or attempt >= settings.retries or seconds > left:
        raise error
    return seconds


def results(found: Mapping[str, Any]) -> int:
    """How many results an answer has, under any contract."""
    return len(found.get("results") or found.get("chunks") or ())


def unanswered(error: Exception, timeout: float) -> PassageError:
    """The error for a request without an answer.

    Args:
        error: httpx's, or a TimeoutError.
        timeout: seconds that the call was given.
    """
    failed: PassageError
    if isinstance(error, TimeoutError | httpx.TimeoutException):
        failed = TimedOut(f"No answer came within {timeout:g} seconds.")
    else:
        failed = NoAnswer(f"No answer came: {error or type(error).__name__}")
    failed.__cause__ = error
    return failed


def _failure(response: httpx.Response) -> PassageError:
    try:
        body = response.json()
    except ValueError:  # a gateway's own page
        body = None
    whole = body if isinstance(body, dict) else {}
    detail = whole["error"] if isinstance(whole.get("error"), dict) else whole
    message = detail.get("message") or detail.get("error") or f"The API answered {response.status_code}."
    return kind(response.status_code)(
        str(message),
        status=response.status_code,
        code=detail.get("code"),
        retry_after=_seconds(response.headers.get("Retry-After", "")),
        body=body,
        headers=response.headers,
        request_id=_request_id(response),
    )


def _request_id(response: httpx.Response) -> str | None:
    return next((response.headers[name] for name in REQUEST_IDS if name in response.headers), None)


def _seconds(value: str) -> float | None:
    """A Retry-After header's seconds; None when it is missing, in the past or unreadable."""
    try:
        seconds = float(value)
    except ValueError:
        try:
            at = parsedate_to_datetime(value)
        except (ValueError, OverflowError):
            return None
        seconds = ((at if at.tzinfo else at.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds()
    return seconds if 0 <= seconds < float("inf") else None


def _version() -> str:
    try:
        return metadata.version("passage-client")
    except metadata.PackageNotFoundError:
        return "0"
