"""Adds to a rendered answer what its options ask for: each result's title, headings, neighbors and fit, and `debug`."""

from collections.abc import Mapping
from typing import Any

from handler.config.profiles import Profile
from handler.contracts.base import Answer, Contract, Expandable
from handler.contracts.fields import json_id, json_safe
from handler.core.model import Passage, PointId, Retrieval

MOST_SHOWN = 100
"""The most passages that `debug` lists: a response has a limit."""


def add_option_fields(body: Answer, contract: Contract, profile: Profile, retrieval: Retrieval) -> Answer:
    """The answer with its extra fields."""
    results: list[Expandable] = getattr(body, contract.results)
    changes: dict[str, Any] = {
        contract.results: [
            result.model_copy(update=_result_fields(passage, titles=retrieval.request.titles))
            for result, passage in zip(results, retrieval.passages, strict=False)
        ]
    }
    # An answer that had to be shortened has no room for it.
    if retrieval.request.search.explain and not retrieval.left_out:
        changes["debug"] = explain(profile, retrieval)
    return body.model_copy(update=changes)


def _result_fields(passage: Passage, *, titles: bool) -> dict[str, Any]:
    return {
        **({"title": passage.title or "", "headings": list(passage.headings)} if titles else {}),
        **({} if passage.expanded is None else {"text_with_neighbors": passage.expanded}),
        **({} if passage.fit is None else {"fit": passage.fit}),
    }


def explain(profile: Profile, retrieval: Retrieval) -> dict[str, Any]:
    """How an answer came about: its settings, its times, and each passage's rank and score in every stage."""
    timings = retrieval.timings
    times = {
        "embedding": timings.embedding_ms,
        "search": timings.search_ms,
        "rerank": timings.rerank_ms,
        "neighbors": timings.neighbors_ms,
        "total": timings.total_ms,
    }
    return {
        "profile": profile.name,
        "collection": retrieval.collection,
        "model": retrieval.model,
        "mode": retrieval.request.search.by or ("hybrid" if "fused" in retrieval.stages else "dense"),
        **({} if retrieval.balance is None else {"balance": retrieval.balance}),
        "embedding_cached": retrieval.embedding_cached,
        "times_ms": {name: round(spent, 3) for name, spent in times.items() if spent is not None},
        "found": {name: len(stage) for name, stage in retrieval.stages.items()},
        "passages": _passages(retrieval)[:MOST_SHOWN],
    }


def _passages(retrieval: Retrieval) -> list[dict[str, Any]]:
    """Every passage that a stage found: those of the answer first, then the other candidates, then the rest."""
    stages = retrieval.stages
    places: dict[PointId, dict[str, dict[str, float]]] = {passage.id: {} for passage in retrieval.passages}
    places |= {passage.id: {} for passage in retrieval.candidates if passage.id not in places}
    for name, stage in stages.items():
        for rank, (point, scores) in enumerate(stage, start=1):
            shown = {part: round(score, 6) for part, score in scores.items()}
            places.setdefault(point, {})[name] = {"rank": rank, **shown}
    urls = {passage.id: passage.url for passage in retrieval.candidates}
    chosen = {passage.id for passage in retrieval.passages}
    return [
        {
            "id": json_id(point),
            **({"url": json_safe(urls[point])} if point in urls else {}),
            **({} if point in chosen else {"dropped": retrieval.dropped.get(point) or _why(ranks, retrieval)}),
            "stages": ranks,
        }
        for point, ranks in places.items()
    ]


def _why(ranks: Mapping[str, Any], retrieval: Retrieval) -> str:
    """Why a passage that a stage of the search found was never a candidate."""
    request = retrieval.request
    least = retrieval.noise.p90 if request.above_noise and retrieval.noise else request.search.score_threshold
    if least and "dense" in ranks and ranks["dense"]["score"] < least:
        return "below the minimum score"
    return "not among the candidates, the same text of its section again, or it cannot be shown"
