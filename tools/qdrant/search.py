"""Searches: `points/query`, its batch form and the older `points/search`."""

from __future__ import annotations  # the bindings' type names exist in their stubs only

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import qdrant_edge as edge

from tools.qdrant.collections import Collection
from tools.qdrant.errors import format_error, invalid, unsupported
from tools.qdrant.filters import parse_filter
from tools.qdrant.indexes import SCORING
from tools.qdrant.shapes import Json, limit_of, point_json, whole_number, with_payload, with_vector
from tools.qdrant.vectors import has_infinity

_SCORING_KEYS = ("query", "using", "prefetch", "filter", "params", "score_threshold", "limit")
_KEYS = (*_SCORING_KEYS, "offset", "with_payload", "with_vector", "timeout", "shard_key", "lookup_from")
_SERVER_DIVERSITY = 0.5


def query(collection: Collection, body: Json) -> dict[str, object]:
    """The answer to one query, best first."""
    _refuse_others(body, _KEYS)
    vectors, infinite = with_vector(body), has_infinity(body.get("query"))
    with collection.engine() as shard:
        request = edge.QueryRequest(
            query=None if infinite else _scoring(collection, body),
            prefetches=_prefetches(collection, body),
            limit=limit_of(body),
            offset=whole_number(body, "offset", 0),
            filter=parse_filter(body.get("filter"), collection.version),
            score_threshold=_threshold(body),
            params=_params(body),
            with_payload=with_payload(body, False),
            with_vector=vectors,
        )
        points = shard.query(request)
    if infinite:  # the server scores every point null
        return {"points": [{**_scored(point, vectors), "score": None} for point in points]}
    return {"points": [_scored(point, vectors) for point in points if math.isfinite(point.score)]}


def query_batch(collection: Collection, body: Json) -> list[dict[str, object]]:
    """The answers to several queries, in the same order."""
    searches = body.get("searches")
    if not isinstance(searches, list) or not all(isinstance(one, dict) for one in searches):
        raise format_error("missing field `searches`")
    return [query(collection, one) for one in searches]


def search(collection: Collection, body: Json) -> object:
    """The answer to one search of the older `points/search`."""
    rest = {key: value for key, value in body.items() if key != "vector"}
    given = body.get("vector")
    if given is None:
        raise format_error("missing field `vector`")
    named = given if isinstance(given, dict) else {"vector": given}
    return query(collection, rest | {"query": named.get("vector"), "using": named.get("name")})["points"]


def _refuse_others(body: object, known: tuple[str, ...]) -> None:
    if not isinstance(body, Mapping):
        raise format_error(f"expected a map with {', '.join(known)}")
    for key, value in body.items():
        if value is not None and key not in known:
            raise unsupported(f"{key} in a query", known)


def _prefetches(collection: Collection, body: Json) -> list[edge.Prefetch]:
    given = body.get("prefetch") or []
    stages = given if isinstance(given, list) else [given]
    prefetches = []
    for stage in stages:
        _refuse_others(stage, _SCORING_KEYS)
        prefetches.append(
            edge.Prefetch(
                query=_scoring(collection, stage),
                prefetches=_prefetches(collection, stage),
                limit=limit_of(stage),
                filter=parse_filter(stage.get("filter"), collection.version),
                score_threshold=_threshold(stage),
                params=_params(stage),
            )
        )
    return prefetches


def _scoring(collection: Collection, body: Json) -> edge.ScoringQueryType | None:
    given = body.get("query")
    if given is None:
        return None
    if not isinstance(given, dict) or "indices" in given:
        given = {"nearest": given}
    kinds = [key for key, value in given.items() if value is not None and key != "mmr"]
    if kinds == ["recommend"] and not any((given["recommend"] or {}).values()):
        raise invalid("recommend: it needs an example")
    if kinds == ["text"] and collection.version < SCORING:
        raise format_error("Expected some form of vector, id, or a type of query")
    if len(kinds) != 1 or kinds[0] not in _QUERIES:
        raise unsupported(f"a query by {', '.join(kinds) or 'nothing'}", _QUERIES)
    scoring: edge.ScoringQueryType = _QUERIES[kinds[0]](collection, body, given)
    return scoring


def _nearest(collection: Collection, body: Json, given: Json) -> edge.ScoringQueryType:
    name = body.get("using") or ""
    vector, mmr = collection.space.check(name, given["nearest"]), given.get("mmr")
    if mmr is None:
        return edge.Query.Nearest(vector, using=name or None)
    _refuse_others(mmr, ("diversity", "candidates_limit"))
    diversity = _SERVER_DIVERSITY if mmr.get("diversity") is None else mmr["diversity"]
    candidates = whole_number(mmr, "candidates_limit", limit_of(body))
    # The engine's lambda weighs relevance, the server's diversity its opposite.
    return edge.Mmr(vector, lambda_=1.0 - diversity, candidates_limit=candidates, using=name or None)


def _text(_collection: Collection, body: Json, given: Json) -> Any:
    """A text query ranks by BM25 over the text index of the field in `using` (Qdrant 1.20)."""
    text, params = given["text"], None
    if isinstance(text, dict):
        _refuse_others(text, ("query", "scoring"))
        bm25 = (text.get("scoring") or {}).get("bm25")
        params = None if bm25 is None else edge.Bm25Params(bm25.get("k"), bm25.get("b"))
        text = text.get("query")
    if not isinstance(text, str) or not isinstance(body.get("using"), str):
        raise format_error("a text query needs its text and, in `using`, the name of a payload field")
    return edge.TextQuery(body["using"], text, params)


_QUERIES: Mapping[str, Callable[[Collection, Json, Json], Any]] = {
    "nearest": _nearest,
    "text": _text,
}


def _threshold(body: Json) -> float | None:
    """The comparison is strict, in the engine as on the server: only higher scores are returned."""
    threshold = body.get("score_threshold")
    if threshold is not None and (isinstance(threshold, bool) or not isinstance(threshold, (int, float))):
        raise format_error("invalid type for score_threshold, expected f32")
    return threshold


def _params(body: Json) -> edge.SearchParams | None:
    """The two parameters that can change results here; the rest tunes storage that a small shard does not have."""
    params = body.get("params")
    if not isinstance(params, dict):
        return None
    return edge.SearchParams(hnsw_ef=params.get("hnsw_ef"), exact=bool(params.get("exact")))


def _scored(point: edge.ScoredPoint, vectors: bool | list[str]) -> dict[str, object]:
    score = float(str(np.float32(point.score)))  # the server prints 32-bit floats
    return point_json(point, vectors) | {"score": score, "version": point.version}
