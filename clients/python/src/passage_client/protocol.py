"""What both clients share: requests, answers and waits, without a network."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib import metadata
from typing import Any
from urllib.parse import quote

import httpx

from passage_client.errors import NoAnswer, PassageError, TimedOut, kind

RETRIED = (429, 503)

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
        endpoint: str,
        *,
        profile: str | None,
        key: str | None,
        timeout: float,
        retries: int,
        headers: Mapping[str, str] | None,
    ) -> "Settings":
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
            return response.json() if response.content else None
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
    if error.status not in RETRIED or attempt >= settings.retries or seconds > left:
        raise error
    return seconds


def unanswered(error: Exception, timeout: float) -> PassageError:
    """The error for a request without an answer.

    Args:
        error: httpx's, or a TimeoutError.
        timeout: seconds that the call was given.
    """
    if isinstance(error, TimeoutError | httpx.TimeoutException):
        return TimedOut(f"No answer came within {timeout:g} seconds.")
    return NoAnswer(f"No answer came: {error or type(error).__name__}")


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
    )


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
