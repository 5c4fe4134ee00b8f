"""The client."""

import time
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Generic, Self, Unpack, cast, overload

import httpx

from passage_client import protocol
from passage_client.contracts import Answer, Contract, Question
from passage_client.errors import PassageError
from passage_client.types import (
    AskFields,
    Chunk,
    CollectionInfo,
    ProfileList,
    QueryResponseAnswer,
    QueryResponseQuestion,
)


class Passage(Generic[Question, Answer]):
    """A client of one Passage API. It keeps its connections until `close`, and may be used by several threads.

    Args:
        endpoint: the API's URL, with its stage or base path. Without it, the variable PASSAGE_URL.
        contract: the contract of the profile, for types alone. Without it, `query_response`.
        profile: the profile to ask. Without it, the API's default one.
        key: sent as X-Api-Key. Without it, the variable PASSAGE_KEY.
        timeout: seconds for one call, its retries included. A server that sends a byte now and then can exceed it.
        retries: how often a 429, 502, 503, 504 or a broken connection is tried again, after the seconds that the API's
            Retry-After names; a 500 once.
        headers: further headers of each request.
        http: the httpx client to use, for a proxy or another transport. It is not closed.
    """

    @overload
    def __init__(
        self: "Passage[QueryResponseQuestion, QueryResponseAnswer]",
        endpoint: str | None = None,
        *,
        profile: str | None = None,
        key: str | None = None,
        timeout: float = 30.0,
        retries: int = 2,
        headers: Mapping[str, str] | None = None,
        http: httpx.Client | None = None,
    ) -> None: ...

    @overload
    def __init__(
        self,
        endpoint: str | None = None,
        *,
        contract: Contract[Question, Answer],
        profile: str | None = None,
        key: str | None = None,
        timeout: float = 30.0,
        retries: int = 2,
        headers: Mapping[str, str] | None = None,
        http: httpx.Client | None = None,
    ) -> None: ...

    def __init__(  # noqa: PLR0913 - a client's options
        self,
        endpoint: str | None = None,
        *,
        contract: Contract[Any, Any] | None = None,  # noqa: ARG002 - for types alone
        profile: str | None = None,
        key: str | None = None,
        timeout: float = 30.0,
        retries: int = 2,
        headers: Mapping[str, str] | None = None,
        http: httpx.Client | None = None,
    ) -> None:
        self._settings = protocol.Settings.of(
            endpoint, profile=profile, key=key, timeout=timeout, retries=retries, headers=headers
        )
        self._owned = http is None
        self._http = http or httpx.Client()
        self._default: str | None = profile

    def ask(
        self,
        question: str | Question,
        *,
        profile: str | None = None,
        timeout: float | None = None,
        **fields: Unpack[AskFields],
    ) -> Answer:
        """The passages for a question, with their titles and headings unless `titles` is false.

        Args:
            question: its text, or the contract's whole question.
            profile: another profile than the client's.
            timeout: seconds for this call.
            fields: the contract's further fields, such as `k`.

        Raises:
            PassageError: see `passage_client.errors`.
            TypeError: no contract has such a field.
        """
        return cast("Answer", self._call(protocol.ask(self._settings, question, profile, fields), timeout))

    def pages(
        self,
        question: str | Question,
        *,
        profile: str | None = None,
        timeout: float | None = None,
        **fields: Unpack[AskFields],
    ) -> Iterator[Answer]:
        """One answer after another, until no passages are left or after about 200. See `ask`."""
        offset = fields.get("offset", 0)
        while offset <= protocol.LAST_OFFSET:
            fields["offset"] = offset
            found = self.ask(question, profile=profile, timeout=timeout, **fields)
            count = protocol.results(found)
            if not count:
                return
            yield found
            offset += count

    def chunk(self, chunk_id: str | int, *, profile: str | None = None, with_vectors: bool = False) -> Chunk:
        """One stored chunk, by its point id or by the chunk id of an answer. Raises PassageError."""
        call = protocol.chunk(profile or self._profile(), chunk_id, with_vectors=with_vectors)
        return cast("Chunk", self._call(call))

    def collection(self, *, profile: str | None = None) -> CollectionInfo:
        """The collection's metadata and its mismatches with the profile. Raises PassageError."""
        return cast("CollectionInfo", self._call(protocol.collection(profile or self._profile())))

    def profiles(self) -> ProfileList:
        """All profiles, and the name of the default one. Raises PassageError."""
        return cast("ProfileList", self._call(protocol.PROFILES))

    def feedback(  # noqa: PLR0913 - the fields of a request
        self,
        url: str,
        *,
        helpful: bool,
        profile: str | None = None,
        chunk_id: str | int | None = None,
        query_id: str | None = None,
        question: str | None = None,
        comment: str | None = None,
    ) -> None:
        """A reader's thumbs up or down for the passage at `url`. Raises PassageError.

        Question and comment are logged only where the deployment logs question text.
        """
        fields = {"url": url, "helpful": helpful, "profile": profile, "chunk_id": chunk_id, "query_id": query_id}
        self._call(protocol.feedback(self._settings, {**fields, "question": question, "comment": comment}))

    def close(self) -> None:
        """Close the connections."""
        if self._owned:
            self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _profile(self) -> str:
        if self._default is None:
            self._default = self.profiles()["default"]
        return self._default

    def _call(self, call: protocol.Call, timeout: float | None = None) -> Any:
        given = self._settings.timeout if timeout is None else timeout
        ends = time.monotonic() + given
        for attempt in range(self._settings.retries + 1):
            left = ends - time.monotonic()
            try:
                return protocol.answer(self._http.request(**call.request(self._settings), timeout=max(left, 0.001)))
            except protocol.UNANSWERED as error:
                failed = protocol.unanswered(error, given)
            except PassageError as error:
                failed = error
            time.sleep(protocol.wait(failed, attempt, self._settings, ends - time.monotonic()))
        raise AssertionError("the last attempt returns or raises")
