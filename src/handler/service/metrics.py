"""Log line and metrics of an answered question."""

from typing import Any

from handler import telemetry
from handler.core.model import Retrieval
from handler.service.services import Served


def record(served: Served, retrieval: Retrieval) -> None:
    """Log and count one answered question."""
    profile = served.profile.name
    if retrieval.request.search.by == "titles":
        telemetry.log_titles(profile, retrieval.timings.total_ms)
        return
    if retrieval.embedding_failure is not None:
        telemetry.log_answer_by_words(profile, retrieval.embedding_failure)
    top_score = max((passage.score for passage in retrieval.passages), default=None)
    metrics = _metrics(retrieval, top_score)
    if retrieval.rerank_failure is not None:
        metrics["RerankFailed"] = 1
        telemetry.log_rerank_failure(profile, retrieval.rerank_failure)
    if served.contract.notices is not None:
        for notice in served.contract.notices(retrieval):
            telemetry.log_notice(profile, notice.message, notice.figures)
            if notice.metric:
                metrics[notice.metric] = (metrics.get(notice.metric) or 0) + 1
    present = {name: float(value) for name, value in metrics.items() if value is not None}
    telemetry.log_retrieval(profile, _line(served, retrieval, top_score), present)


def _line(served: Served, retrieval: Retrieval, top_score: float | None) -> dict[str, Any]:
    """The fields of the log line. Those that do not apply to the question are absent."""
    timings = retrieval.timings
    line: dict[str, Any] = {
        "top_k": retrieval.request.search.top_k,
        "result_count": len(retrieval.passages),
        "skipped": retrieval.skipped,
        "top_score": None if top_score is None else round(top_score, 4),
        "embedding_ms": round(timings.embedding_ms, 1),
        "search_ms": round(timings.search_ms, 1),
        "total_ms": round(timings.total_ms, 1),
    }
    if retrieval.request.search.by is not None:
        line["search"] = retrieval.request.search.by
    if retrieval.embedding_cached is not None:
        line["embedding_cached"] = retrieval.embedding_cached
    if timings.rerank_ms is not None:
        line["rerank_ms"] = round(timings.rerank_ms, 1)
    if served.settings.log_query_text:
        line["query_text"] = retrieval.request.text
    return line


def _metrics(retrieval: Retrieval, top_score: float | None) -> dict[str, float | None]:
    """The metrics by name. A skipped step says nothing about its service, so its metric is None."""
    timings, cached = retrieval.timings, retrieval.embedding_cached
    return {
        "EmbeddingLatency": timings.embedding_ms if cached is False else None,
        "EmbeddingCacheHit": cached,  # its average is the cache's hit rate
        "SearchLatency": timings.search_ms,
        "RerankLatency": timings.rerank_ms,
        "TotalLatency": timings.total_ms,
        "ResultCount": len(retrieval.passages),
        "TopScore": top_score,
        "SkippedPoints": retrieval.skipped or None,
    }
