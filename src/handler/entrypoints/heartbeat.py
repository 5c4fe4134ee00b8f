"""The heartbeat: a question of the deployment's own, asked every few minutes through the whole pipeline.

It is counted in the metric `Heartbeat`, and in `AnsweredByWords` where its embedding failed. The others hold readers'
questions alone.
"""

from collections.abc import Mapping
from typing import Any

from handler import telemetry
from handler.bootstrap.container import Container
from handler.core.embedding import EmbeddingCache
from handler.core.errors import ConfigurationError, to_known
from handler.core.model import Retrieval
from handler.entrypoints.detect import HEARTBEAT_KEY
from handler.service.answering import deadline
from handler.service.failures import text_forms


def handle(event: Mapping[str, Any], context: Any, services: Container) -> dict[str, Any]:
    """Ask the default profile the event's question, and count whether an answer with a passage came back.

    A failure is returned and logged, not raised: Lambda would count it as a crash.
    """
    text = str(event[HEARTBEAT_KEY])
    try:
        retrieval = _ask(text, context, services)
    except Exception as error:  # noqa: BLE001 - any error is a failed heartbeat
        known = to_known(error)
        with telemetry.hiding(text_forms(text)):
            telemetry.log_heartbeat_failure(known)
        return {"status": "failed", "code": known.code, "message": str(known)}
    count = len(retrieval.passages)
    if retrieval.embedding_failure is not None:
        telemetry.log_answer_by_words(services.settings.default_profile, retrieval.embedding_failure)
    telemetry.log_heartbeat(
        {
            "result_count": count,
            "reranked": retrieval.timings.rerank_ms is not None and retrieval.rerank_failure is None,
            "total_ms": round(retrieval.timings.total_ms, 1),
        }
    )
    return {"status": "ok", "result_count": count}


def _ask(text: str, context: Any, services: Container) -> Retrieval:
    """The default profile's answer. Its embedding is neither taken from the cache nor put there.

    Raises:
        PassageError: as `Retriever.retrieve`.
        ConfigurationError: no passage was found.
    """
    served = services.served(None)
    request = served.contract.parse({served.profile.query.text.names[0]: text}, served.profile)
    embedder = served.retriever.embedder._replace(cache=EmbeddingCache(0))
    (outcome,) = served.retriever._replace(embedder=embedder).retrieve([request], deadline(services.settings, context))
    if isinstance(outcome, Exception):
        raise outcome
    served.contract.render(outcome)
    if not outcome.passages:
        raise ConfigurationError(
            f"The heartbeat's question found no passage in the collection '{served.profile.collection.name}': it is "
            "empty, or has other payload keys than the profile names.",
            upstream="store",
        )
    return outcome
