"""One question answered, whatever its source; and the one place where a failure becomes a contract's error."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from pydantic import BaseModel

from handler import contracts, telemetry
from handler.core.deadline import Deadline
from handler.core.errors import InternalError, InvalidRequest, NotFound, PassageError
from handler.core.model import CollectionInfo, Retrieval
from handler.core.retrieve import Retriever
from handler.profiles import Profile
from handler.settings import HttpSettings


class Services(Protocol):
    """What `bootstrap` provides. Nothing is built before it is asked for, so a bad request costs no SDK import."""

    def __hash__(self) -> int: ...

    def http(self) -> HttpSettings:
        """Raises ConfigurationError, as the others do."""
        ...

    def profile(self, name: str | None) -> Profile:
        """The profile of that name, or the default one. Raises NotFound."""
        ...

    def retriever(self, profile: Profile) -> Retriever: ...

    def ready(self, profile: Profile, deadline: Deadline) -> CollectionInfo:
        """The profile's collection, reachable and shaped as the profile expects. Raises as `PassageStore.describe`."""
        ...

    def deadline(self, context: Any, limit: float | None) -> Deadline:
        """The request's deadline: what Lambda has left, the caller's own `limit` in seconds, or the setting."""
        ...

    def log_query_text(self) -> bool: ...

    def load(self) -> None:
        """Import what the default profile's questions need."""
        ...

    def warm(self) -> None:
        """Build what the default profile's first question needs, without a request to anyone."""
        ...

    def unload(self) -> None:
        """Forget what was built; it is built anew when it is next asked for."""
        ...


@dataclass(frozen=True, slots=True)
class Failure:
    """An error, and the body a contract gives it."""

    error: PassageError
    body: BaseModel


def answer(fields: Mapping[str, Any], profile: Profile, services: Services, deadline: Deadline) -> BaseModel:
    """A question's answer in the profile's contract.

    Raises:
        PassageError: whatever went wrong.
    """
    contract = contracts.find(profile.contract)
    request = contract.parse(fields, profile)
    retrieval = services.retriever(profile).retrieve(request, deadline)
    _record(profile, retrieval, log_text=services.log_query_text())
    return contract.render(retrieval)


def failure(error: Exception, services: Services, profile: Profile | None = None) -> Failure:
    """Log and count what went wrong, and give it the shape of the profile's contract (the default's without one)."""
    known = error if isinstance(error, PassageError) else InternalError()
    contract, name = contracts.REGISTRY[0], "unknown"
    try:
        profile = profile or services.profile(None)
        contract, name = contracts.find(profile.contract), profile.name
    except PassageError:
        pass  # the settings are what is wrong, and `error` says so already
    telemetry.failed(
        name,
        error,
        code=known.code,
        detail=known.detail,
        expected=isinstance(known, InvalidRequest | NotFound),
    )
    return Failure(error=known, body=contract.render_error(known, datetime.now(UTC)))


def _record(profile: Profile, retrieval: Retrieval, *, log_text: bool) -> None:
    timings, passages = retrieval.timings, retrieval.passages
    figures: dict[str, Any] = {
        "top_k": retrieval.request.top_k,
        "result_count": len(passages),
        "skipped": retrieval.skipped,
        "top_score": round(passages[0].score, 4) if passages else None,
        "embedding_ms": round(timings.embedding_ms, 1),
        "search_ms": round(timings.search_ms, 1),
        "total_ms": round(timings.total_ms, 1),
    }
    if log_text:
        figures["query_text"] = retrieval.request.text
    metrics = {
        "EmbeddingLatency": timings.embedding_ms,
        "SearchLatency": timings.search_ms,
        "TotalLatency": timings.total_ms,
        "ResultCount": float(len(passages)),
    }
    if passages:
        metrics["TopScore"] = passages[0].score
    if retrieval.skipped:
        metrics["SkippedPoints"] = float(retrieval.skipped)
    telemetry.retrieved(profile.name, figures, metrics)
