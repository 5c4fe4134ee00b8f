"""One question answered, whatever its source; and the one place where a failure becomes a contract's error."""

import json
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from time import perf_counter
from typing import Any, Protocol

from pydantic import BaseModel

from handler import contracts, telemetry
from handler.config.profiles import Profile
from handler.config.settings import HttpSettings
from handler.contracts.base import Asked, Contract
from handler.core.deadline import Deadline
from handler.core.embedding_cache import normalised
from handler.core.errors import (
    ConfigurationError,
    DeadlineExceeded,
    InternalError,
    PassageError,
    UpstreamError,
)
from handler.core.model import CollectionInfo, Retrieval, RetrievalRequest
from handler.core.ports import ReplySink
from handler.core.retrieve import Retriever

ENVELOPE_BYTES = 4_096
"""What headers and the rest of a response around the body may take of the bytes it may have."""


class Services(Protocol):
    """What `bootstrap` provides. Nothing is built before it is asked for, so a bad request costs no SDK import."""

    def __hash__(self) -> int: ...

    def http(self) -> HttpSettings:
        """Raises ConfigurationError, as the others do."""
        ...

    def profile(self, name: str | None) -> Profile:
        """The profile of that name, or the default one. Raises NotFound."""
        ...

    def broken_profiles(self) -> list[ConfigurationError]:
        """What is wrong with profiles other than the default one, whose faults every question is answered with."""
        ...

    def serving(self, profile: Profile, collection: str | None) -> Profile:
        """The profile for another collection of the deployment's. Raises CollectionNotServed."""
        ...

    def retriever(self, profile: Profile) -> Retriever: ...

    def ready(self, profile: Profile, deadline: Deadline) -> CollectionInfo:
        """The profile's collection, reachable and shaped as the profile expects. Raises as `PassageStore.describe`."""
        ...

    def deadline(self, context: Any, limit: float | None) -> Deadline:
        """The request's deadline: what Lambda has left, the caller's own `limit` in seconds, or the setting."""
        ...

    def log_query_text(self) -> bool: ...

    def reply_sinks(self) -> Sequence[ReplySink]:
        """Where replies to messages go. Raises ConfigurationError when no destination is set."""
        ...

    def load(self) -> None:
        """Import what the default profile's questions need."""
        ...

    def warm(self) -> None:
        """Build what the default profile's first question needs, without a request to anyone."""
        ...

    def unload(self) -> None:
        """Forget what was built; it is built anew when it is next asked for."""
        ...


@dataclass(frozen=True)
class Answered:
    """An answer, and what its contract made of it. `left_out` counts passages it did without to be small enough."""

    profile: Profile
    contract: Contract
    retrieval: Retrieval
    body: BaseModel
    left_out: int = 0

    def json(self) -> str:
        return as_json(self.body)

    def fitting(self, most: int) -> "Answered":
        """This answer, short enough for the body of a response of `most` bytes."""
        return self.shortened(lambda answered: _sent_bytes(answered.json(), most) <= most - ENVELOPE_BYTES)

    def shortened(self, fits: Callable[["Answered"], bool]) -> "Answered":
        """This answer with as many of its passages as `fits` lets it have; the last ones are left out, and counted."""
        total = len(self.retrieval.passages)
        if total == 0 or fits(self):
            return self
        kept = bisect_left(range(1, total), True, key=lambda count: not fits(self._first(count)))
        telemetry.notice(self.profile.name, "answer too large to be sent whole", {"left_out": total - kept})
        return self._first(kept)

    def _first(self, count: int) -> "Answered":
        passages = self.retrieval.passages
        shorter = replace(self.retrieval, passages=passages[:count])
        body, left_out = self.contract.answer(shorter), len(passages) - count
        return replace(self, retrieval=shorter, body=body, left_out=left_out)


@dataclass(frozen=True)
class Failure:
    """An error, and the body that the contract of `profile` gives it."""

    error: PassageError
    body: BaseModel
    profile: str


def _sent_bytes(body: str, most: int) -> int:
    """Bytes of a body within the response's JSON, as Lambda's runtime writes it; not counted where it cannot matter."""
    return len(body) if len(body) * 6 < most - ENVELOPE_BYTES else len(json.dumps(body))


def as_json(body: BaseModel) -> str:
    """A contract's body as it is sent: the fields that are set, and no others."""
    return body.model_dump_json(exclude_unset=True)


def as_object(body: BaseModel) -> dict[str, Any]:
    """The same for a caller who gets an object rather than text."""
    return body.model_dump(mode="json", exclude_unset=True)


@dataclass(frozen=True)
class Prepared:
    """A question that was read and found right, and what will answer it: `served` is the profile for its collection."""

    profile: Profile
    served: Profile
    contract: Contract
    request: RetrievalRequest


def prepare(fields: Mapping[str, Any], profile: Profile, services: Services) -> Prepared:
    """Read a question by its profile's contract. No service is asked.

    Raises:
        PassageError: the question is not right, or the profile is not.
    """
    contract = contracts.find(profile.contract)
    request = contract.parse(fields, profile)
    return Prepared(profile, services.serving(profile, request.collection), contract, request)


def finish(prepared: Prepared, retrieval: Retrieval, services: Services) -> Answered:
    """An answer from what was retrieved, logged and counted."""
    contract = prepared.contract
    _record(prepared.served, retrieval, contract, log_text=services.log_query_text())
    return Answered(prepared.profile, contract, retrieval, contract.answer(retrieval))


def answer(fields: Mapping[str, Any], profile: Profile, services: Services, deadline: Deadline) -> Answered:
    """A question's answer in the profile's contract.

    Raises:
        PassageError: whatever went wrong.
    """
    prepared = prepare(fields, profile, services)
    return finish(prepared, services.retriever(prepared.served).retrieve(prepared.request, deadline), services)


def failure(
    error: Exception,
    services: Services,
    profile: Profile | None = None,
    fields: Mapping[str, Any] | None = None,
    started: float | None = None,
) -> Failure:
    """Log and count what went wrong, and give it the shape of the profile's contract (the default's without one).

    Args:
        fields: what the caller sent, as far as it could be read.
        started: when the request came in, on the performance counter's clock, in seconds.
    """
    known = error if isinstance(error, PassageError) else InternalError()
    if profile is None:
        # When even the default profile cannot be had, the settings are what is wrong, and `error` says so already.
        with suppress(Exception):
            profile = services.profile(None)
    contract = contracts.find(contracts.REGISTRY[0])
    if profile is not None:
        with suppress(PassageError):
            contract = contracts.find(profile.contract)
    name = profile.name if profile else "unknown"
    with telemetry.hiding(_questions(fields or {}, services)):
        telemetry.failed(
            name,
            error,
            code=known.code,
            detail=known.detail,
            known=known is error,
            blame=known.blame,
        )
    elapsed = 0.0 if started is None else (perf_counter() - started) * 1000
    asked = Asked(at=datetime.now(UTC), elapsed_ms=elapsed, fields=fields or {}, profile=profile)
    return Failure(error=known, body=contract.render_error(known, asked), profile=name)


def _questions(fields: Mapping[str, Any], services: Services) -> list[str]:
    """The texts of a request that the log must not have: an upstream may repeat them in its error."""
    with suppress(PassageError):
        if services.log_query_text():
            return []
    texts = [value for value in fields.values() if isinstance(value, str) and len(value) > 2]
    return [form for text in texts for form in _forms(text)]


def _forms(text: str) -> tuple[str, ...]:
    """A text as it was sent, and as it is sent on."""
    return tuple(dict.fromkeys((text, text.strip(), normalised(text))))


def _record(profile: Profile, retrieval: Retrieval, contract: Contract, *, log_text: bool) -> None:
    figures, metrics = _figures(retrieval), _metrics(retrieval)
    if log_text:
        figures["query_text"] = retrieval.request.text
    if retrieval.rerank_failure is not None:
        _not_reranked(profile, retrieval.request, retrieval.rerank_failure, log_text=log_text)
    for notice in contract.notices(retrieval):
        telemetry.notice(profile.name, notice.message, notice.figures)
        if notice.metric:
            metrics[notice.metric] = metrics.get(notice.metric, 0.0) + 1
    telemetry.retrieved(profile.name, figures, metrics)


def _figures(retrieval: Retrieval) -> dict[str, Any]:
    """What an answer's line in the log says."""
    timings, passages = retrieval.timings, retrieval.passages
    steps = {"embedding_cached": retrieval.embedding_cached, "rerank_ms": _rounded(timings.rerank_ms)}
    return {
        "top_k": retrieval.request.search.top_k,
        "result_count": len(passages),
        "skipped": retrieval.skipped,
        "top_score": round(passages[0].score, 4) if passages else None,
        "embedding_ms": _rounded(timings.embedding_ms),
        "search_ms": _rounded(timings.search_ms),
        "total_ms": _rounded(timings.total_ms),
        **{name: value for name, value in steps.items() if value is not None},
    }


def _rounded(milliseconds: float | None) -> float | None:
    return None if milliseconds is None else round(milliseconds, 1)


def _metrics(retrieval: Retrieval) -> dict[str, float]:
    """What is counted of an answer. A step that was not taken took no time that says anything of its service."""
    timings, passages, cached = retrieval.timings, retrieval.passages, retrieval.embedding_cached
    metrics = {
        "EmbeddingLatency": None if cached else timings.embedding_ms,
        "EmbeddingCacheHit": cached,  # its average is the share of questions that cost no call
        "SearchLatency": timings.search_ms,
        "RerankLatency": timings.rerank_ms,
        "RerankFailed": None if retrieval.rerank_failure is None else 1,
        "TotalLatency": timings.total_ms,
        "ResultCount": len(passages),
        "TopScore": passages[0].score if passages else None,
        "SkippedPoints": retrieval.skipped or None,
    }
    return {name: float(value) for name, value in metrics.items() if value is not None}


def _not_reranked(profile: Profile, request: RetrievalRequest, error: Exception, *, log_text: bool) -> None:
    """Log why an answer has the store's order: the caller sees only that it has."""
    known = error if isinstance(error, PassageError) else InternalError()
    text = request.text
    with telemetry.hiding([] if log_text or len(text.strip()) < 3 else _forms(text)):
        telemetry.not_reranked(
            profile.name,
            error,
            code=known.code,
            detail=known.detail,
            known=known is error,
            passing=isinstance(known, UpstreamError | DeadlineExceeded),
        )
