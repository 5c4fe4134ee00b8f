"""Calls one Qdrant server: retries temporary failures and reports the others in one line that helps."""

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
from qdrant_client import QdrantClient, models
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from handler.adapters.errors import fault_by_answer, fault_by_error, is_page, is_unreadable_page
from handler.adapters.transport import AS_IT_IS
from handler.config.settings import Settings
from passage.indexing.batching import batched
from passage.indexing.target import TargetError
from passage.service_url import client_options, is_loopback

T = TypeVar("T")

VARIABLE = "QDRANT_URL"
ANOTHER = f"is not what answered: check {VARIABLE}, and any proxy or firewall on the way"
TIMEOUT_SECONDS = 120
SCROLLED = 256
"""Points in one answer of `ServerConnection.scroll`: with their vectors some megabytes."""
SEARCHES = 20
"""Searches in one request of `ServerConnection.best_cosines`."""
ATTEMPTS = 7
FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0
"""Seconds. All attempts together wait about a minute, in which a node restarts."""

OLDEST = (1, 16)
"""Since 1.16 a collection keeps metadata, which distinguishes an interrupted run from a finished one."""

PREFIXES = (1, 19)
"""Since 1.19 a keyword index can serve a match by prefix, and strict mode wants that one."""

SCORING = (1, 20)
"""Since 1.20 a text index can rank by BM25. Earlier servers ignore `scoring` silently."""


class ServerConnection:
    """One server. Its methods raise TargetError where the server refuses a request or cannot be reached.

    Args:
        url: with an explicit port.
        note: is called with messages for people.

    Raises:
        TargetError: the certificates to trust cannot be loaded.
    """

    def __init__(
        self,
        url: str,
        api_key: str | None,
        *,
        sleep: Callable[[float], None] = time.sleep,
        note: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.url = url
        parts = urlsplit(url)
        self._sleep = sleep
        self._note = note
        self._has_key = bool(api_key)
        if api_key and parts.scheme == "http" and not is_loopback(url):
            note(f"Warning: {VARIABLE} is http: the key in QDRANT_API_KEY is sent unencrypted. Set an https address.")
        try:
            options = client_options(url)
        except OSError as error:
            raise TargetError(
                f"The certificates to trust cannot be loaded ({error}): check SSL_CERT_FILE and SSL_CERT_DIR."
            ) from error
        self.client = QdrantClient(
            url=f"{parts.scheme}://{parts.netloc}",
            prefix=parts.path or None,
            timeout=TIMEOUT_SECONDS,
            check_compatibility=False,  # it would start a thread that makes a request
            # As an argument of its own, the key would make the client warn about http in its own words.
            headers={**AS_IT_IS, **({"api-key": api_key} if api_key else {})},
            **options,
        )
        self.client.http.client.add_middleware(_compress_pages)

    @classmethod
    def from_env(cls, environ: Mapping[str, str], note: Callable[[str], None] = lambda _: None) -> "ServerConnection":
        """The server of QDRANT_URL and QDRANT_API_KEY, checked as the function checks them.

        Raises:
            ConfigurationError: a variable is missing or wrong.
            TargetError: only the function can read the key's place.
        """
        if environ.get("QDRANT_API_KEY_SECRET", "").strip():
            raise TargetError("QDRANT_API_KEY is needed here; QDRANT_API_KEY_SECRET is for the function alone.")
        settings = Settings.from_env({name: environ.get(name, "") for name in ("QDRANT_URL", "QDRANT_API_KEY")})
        key = settings.qdrant_api_key
        return cls(settings.qdrant_url or "", key.get_secret_value() if key else None, note=note)

    def close(self) -> None:
        self.client.close()

    def version(self) -> tuple[int, int]:
        """The server's major and minor version.

        Raises:
            TargetError: it is too old, or is not a Qdrant server.
        """
        said = self.call(lambda client: client.info().version)
        try:
            major, minor = (int(part) for part in said.split(".")[:2])
        except ValueError as error:
            raise TargetError(f"QDRANT_URL: the server gives its version as '{said}', not as numbers.") from error
        if (major, minor) < OLDEST:
            oldest = ".".join(map(str, OLDEST))
            raise TargetError(f"QDRANT_URL: the server is Qdrant {said}; `passage index` needs {oldest} or newer.")
        return major, minor

    def call(self, request: Callable[[QdrantClient], T]) -> T:
        """The answer to a request. Retries may send a request twice, so every request must be safe to repeat.

        Raises:
            TargetError: it was refused, or every attempt failed.
        """
        failure: Exception | None = None
        how = ""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return request(self.client)
            except QdrantException as error:  # the client's own class for a 429 with a Retry-After header
                wait, how, failure = getattr(error, "retry_after_s", None), f"is limiting requests: {error}", error
            except UnexpectedResponse as error:
                status = error.status_code or 0
                page = ANOTHER if is_page(status, error.content) else None
                self._check_address(fault_by_answer(status, error.content, VARIABLE) or page, error)
                if status != 429 and status < 500:
                    raise self._refusal(error) from error
                wait, how, failure = None, f"failed to answer (HTTP {error.status_code}: {_line(error)})", error
            # The last three, and the first with one of them: an answer that the client could not parse.
            except (ResponseHandlingException, httpx.HTTPError, AssertionError, ValueError, RecursionError) as error:
                cause = getattr(error, "source", error)
                page = ANOTHER if is_unreadable_page(cause) else None
                self._check_address(fault_by_error(cause, VARIABLE) or page, error)
                unheard = isinstance(cause, httpx.TransportError)
                what = "could not be reached" if unheard else "gave an answer that could not be read"
                wait, how, failure = None, f"{what}: {_line(cause)}", error
            if attempt < ATTEMPTS:
                seconds = _wait(attempt, wait)
                self._note(
                    f"The Qdrant server at {self.url} {how}. Attempt {attempt + 1} of {ATTEMPTS} in {seconds:.0f} s …"
                )
                self._sleep(seconds)
        raise self._failure(how) from failure

    def best_cosines(self, name: str, vector: str, vectors: Sequence[Sequence[float]]) -> list[float]:
        """The similarity of the nearest point to each vector.

        Args:
            name: the collection's name or alias.
            vector: the name of its vector; empty for the unnamed one.
        """
        cosines: list[float] = []
        for some in batched(vectors, SEARCHES):
            requests = [models.QueryRequest(query=list(one), using=vector or None, limit=1) for one in some]
            answers = self.call(lambda client, requests=requests: client.query_batch_points(name, requests))  # type: ignore[misc]
            cosines += [answer.points[0].score for answer in answers]
        return cosines

    def collection(self, name: str) -> models.CollectionInfo | None:
        """The description of a collection, by its name or alias; None where it does not exist."""
        try:
            return self.call(lambda client: client.get_collection(name))
        except ServerRefused as refused:
            if refused.status == HTTPStatus.NOT_FOUND:
                return None
            raise

    def collections(self) -> list[str]:
        """The names of all collections."""
        return [one.name for one in self.call(lambda client: client.get_collections().collections)]

    def count(self, collection: str) -> int:
        """The exact number of points."""
        return self.call(lambda client: client.count(collection, exact=True).count)

    def scroll(
        self, collection: str, *, payload: bool | models.PayloadSelector, vectors: bool | list[str]
    ) -> Iterator[list[models.Record]]:
        """Every point, in batches, with the given part of its payload and the given vectors."""
        offset: Any = None
        while True:
            records, offset = self.call(
                lambda client, offset=offset: client.scroll(  # type: ignore[misc]
                    collection, limit=SCROLLED, offset=offset, with_payload=payload, with_vectors=vectors
                )
            )
            yield records
            if offset is None:
                return

    def _check_address(self, wrong: str | None, error: Exception) -> None:
        if wrong is not None:
            raise TargetError(f"The Qdrant server {wrong} ({self.url}).") from error

    def _refusal(self, error: UnexpectedResponse) -> TargetError:
        if error.status_code in (401, 403):
            return TargetError(f"{self.url} {self._explain_key(_line(error))} (HTTP {error.status_code}).")
        return ServerRefused(
            f"{self.url} refused a request (HTTP {error.status_code}: {_line(error)}).", error.status_code
        )

    def _explain_key(self, said: str) -> str:
        """Why the server refused the key, in words that complete "The server …"."""
        if not self._has_key:
            return "needs a key: set QDRANT_API_KEY"
        if "ExpiredSignature" in said:
            return "refused the token in QDRANT_API_KEY: it has expired"
        if "Forbidden" in said:
            return f"does not let the key in QDRANT_API_KEY write; it may only read: set one that may manage ({said})"
        return "refused the key in QDRANT_API_KEY"

    def _failure(self, how: str) -> TargetError:
        return TargetError(f"The Qdrant server at {self.url} {how} ({ATTEMPTS} attempts). Run it again.")


class ServerRefused(TargetError):
    """The server refused the request itself. `status` is the HTTP status."""

    def __init__(self, message: str, status: int | None) -> None:
        super().__init__(message)
        self.status = status


def _compress_pages(request: httpx.Request, send: Callable[[httpx.Request], httpx.Response]) -> httpx.Response:
    """Asks for pages of whole collections compressed: they are large, and few."""
    if request.url.path.endswith("/points/scroll"):
        request.headers["Accept-Encoding"] = "gzip"
    return send(request)


def _wait(attempt: int, asked: float | None) -> float:
    seconds = asked if asked is not None else FIRST_WAIT * 2 ** (attempt - 1) * random.uniform(0.8, 1.2)  # noqa: S311 - spreads retries
    return min(LONGEST_WAIT, seconds)


def _line(error: Exception) -> str:
    """The server's or the client's message on one line, shortened."""
    message = error.content.decode("utf-8", "replace") if isinstance(error, UnexpectedResponse) else str(error)
    return " ".join((message or repr(error)).split())[:300]
