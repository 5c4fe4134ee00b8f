"""Fetches from one origin: obeys robots.txt, limits its rate, follows redirects inside the origin, stops at limits."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Self
from urllib.parse import urldefrag, urljoin, urlsplit

import httpx
from protego import Protego

from passage.sites.model import SiteError
from passage.sites.web.limits import FetchLimits

AGENT = "Passage"
"""Our user agent's name in robots.txt."""

MAX_PAGE_BYTES = 10 * 1024 * 1024
PAGE_SECONDS = 60.0
MAX_REDIRECTS = 5
MAX_WAIT_SECONDS = 60.0
"""The longest wait for a server's `Retry-After`."""

_TRY_AGAIN = frozenset({429, 500, 502, 503, 504})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class FetchError(Exception):
    """One URL could not be fetched; the message says why in a few words.

    Args:
        gone: the server reports that the page does not exist; it did not fail.
    """

    def __init__(self, why: str, *, gone: bool = False) -> None:
        super().__init__(why)
        self.gone = gone


class LeftOut(Exception):
    """One URL must not be fetched, or leads out of the site; the message says why in a few words."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """The response for a URL.

    Attributes:
        url: the URL after redirects.
        unchanged: the server reports that the stored copy is current; there is no content.
        headers: in lower case.
    """

    url: str
    content: bytes
    headers: Mapping[str, str]
    unchanged: bool = False


def origin(url: str) -> tuple[str, str, int]:
    """Scheme, host and port of a URL; of a text that is no URL or names no possible host, those of no site."""
    try:
        parts = urlsplit(url)
        usual = 443 if parts.scheme == "https" else 80
        (parts.hostname or "").encode("idna")  # as the socket does
        return parts.scheme, (parts.hostname or "").lower(), parts.port or usual
    except ValueError:
        return "", "", 0


@dataclass(slots=True)
class Fetcher:
    """Fetches pages of one site. Use it as a context manager.

    Args:
        site: any URL of the site. Nothing outside its origin is fetched.
    """

    site: str
    limits: FetchLimits
    client: httpx.Client = field(init=False)
    robots: Protego = field(init=False)
    started: float = field(init=False, default=0.0)
    last: float = field(init=False, default=0.0)
    pages: int = field(init=False, default=0)
    received: int = field(init=False, default=0)

    def __enter__(self) -> Self:
        headers = {"user-agent": f"{AGENT} (documentation indexer)", "accept-encoding": "gzip, deflate"}
        self.client = httpx.Client(headers=headers, timeout=httpx.Timeout(30.0, connect=10.0), follow_redirects=False)
        self.started = time.monotonic()
        self.robots = Protego.parse("")
        try:
            self.robots = self._read_robots()
        except BaseException:
            self.client.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    @property
    def sitemaps(self) -> list[str]:
        """The sitemaps that robots.txt names."""
        return list(self.robots.sitemaps)

    def get(self, url: str, held: Mapping[str, str] | None = None) -> HttpAnswer:
        """Fetch a URL, through redirects within the origin.

        Args:
            held: conditional headers for the stored copy.

        Raises:
            FetchError: it could not be fetched.
            LeftOut: robots.txt forbids it, or it redirects out of the origin.
            SiteError: a limit is reached.
        """
        for _ in range(MAX_REDIRECTS + 1):
            if origin(url) != origin(self.site):
                raise LeftOut("on another origin")
            if not self.robots.can_fetch(url, AGENT):
                raise LeftOut("forbidden by robots.txt")
            answer, status = self._twice(url, held or {})
            if status not in _REDIRECTS:
                return _check(answer, status)
            target = answer.headers.get("location", "")
            try:
                url = urldefrag(urljoin(url, target)).url
            except ValueError as error:
                raise LeftOut("redirects to no URL") from error
            held = None
        raise FetchError("redirects in a circle")

    def _twice(self, url: str, held: Mapping[str, str]) -> tuple[HttpAnswer, int]:
        """One request; a second one after a temporary failure."""
        try:
            answer, status = self._once(url, held)
        except httpx.TransportError:
            answer, status = None, 503
        except (httpx.RequestError, httpx.InvalidURL) as error:  # a second request fails in the same way
            raise _fetch_error(error) from error
        if status not in _TRY_AGAIN:
            assert answer is not None  # noqa: S101 - only a failure has none
            return answer, status
        self._wait(_retry_after(answer.headers if answer else {}))
        try:
            return self._once(url, held)
        except (httpx.RequestError, httpx.InvalidURL) as error:
            raise _fetch_error(error) from error

    def _once(self, url: str, held: Mapping[str, str]) -> tuple[HttpAnswer, int]:
        self._check_limits()
        self._keep_pace()
        begun = time.monotonic()
        content = bytearray()
        with self.client.stream("GET", url, headers=dict(held)) as response:
            for part in response.iter_bytes():
                content += part
                self.received += len(part)
                self._check_limits()
                if len(content) > MAX_PAGE_BYTES:
                    raise FetchError(f"has more than {MAX_PAGE_BYTES:,} bytes")
                if time.monotonic() - begun > PAGE_SECONDS:
                    raise FetchError(f"takes more than {PAGE_SECONDS:g} s")
            headers = {name.lower(): value for name, value in response.headers.items()}
            return HttpAnswer(url, bytes(content), headers, response.status_code == 304), response.status_code

    def count_page(self) -> None:
        """Count a page before it is fetched.

        Raises:
            SiteError: the limit of pages is reached.
        """
        self.pages += 1
        self._check_limits()

    def _check_limits(self) -> None:
        for reached, option in (
            (self.pages > self.limits.pages, f"--max-pages {self.limits.pages}"),
            (self.received > self.limits.bytes, f"--max-bytes {self.limits.bytes}"),
            (time.monotonic() - self.started > self.limits.minutes * 60, f"--max-minutes {self.limits.minutes:g}"),
        ):
            if reached:
                raise SiteError(
                    f"{self.site} is larger than {option} allows: nothing was indexed. Give a higher limit, or the URL "
                    "of a part of the site."
                )

    def _keep_pace(self) -> None:
        pause = max(1.0 / self.limits.rate, float(self.robots.crawl_delay(AGENT) or 0.0))
        self._wait(self.last + pause - time.monotonic())
        self.last = time.monotonic()

    def _wait(self, seconds: float) -> None:
        left = self.started + self.limits.minutes * 60 - time.monotonic()
        if seconds > 0:
            time.sleep(min(seconds, max(left, 0.0)))

    def _read_robots(self) -> Protego:
        """RFC 9309: a missing file allows everything; a failing server forbids everything."""
        url = urljoin(self.site, "/robots.txt")
        try:
            answer = self.get(url)
        except LeftOut:
            return self.robots
        except FetchError as error:
            if error.gone:
                return self.robots
            raise SiteError(f"{url} {error}: no page is fetched without this file. Try again later.") from error
        return Protego.parse(answer.content.decode("utf-8", "replace"))


def _fetch_error(error: Exception) -> FetchError:
    return FetchError(f"cannot be fetched: {' '.join(str(error).split()) or type(error).__name__}")


def _check(answer: HttpAnswer, status: int) -> HttpAnswer:
    if status not in (200, 304):
        raise FetchError(f"answers {status}", gone=400 <= status < 500 and status != 429)
    return answer


def _retry_after(headers: Mapping[str, str]) -> float:
    """The seconds that a server asks to wait; 1 where it names none."""
    value = headers.get("retry-after", "").strip()
    if value.isdecimal():
        return min(float(value), MAX_WAIT_SECONDS)
    try:
        wanted = parsedate_to_datetime(value).timestamp() - time.time()
    except (TypeError, ValueError, OverflowError):
        return 1.0
    return min(max(wanted, 1.0), MAX_WAIT_SECONDS)
