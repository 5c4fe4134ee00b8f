"""Seed 000's data integrity guarantees, for whatever a collection holds and a caller asks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from devkit.indexing.edge_index import EdgeIndex, Point, manifest
from handler import contracts, profiles
from handler.adapters.payload import Hit, read
from handler.adapters.qdrant_edge import QdrantEdgeStore
from handler.core.deadline import Deadline
from handler.core.model import CollectionInfo, Found, RetrievalRequest, Search, Vector
from handler.core.model import Point as StoredPoint
from handler.core.retrieve import Retriever

PROFILE = profiles.load("query-response")
CONTRACT = contracts.find(PROFILE.contract)

texts = st.text(min_size=0, max_size=200)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda children: st.lists(children, max_size=3) | st.dictionaries(texts, children, max_size=3),
    max_leaves=5,
)
payloads = st.fixed_dictionaries(
    {},
    optional={
        "text_content": texts | anything,
        "content": texts | anything,
        "source_url": texts | anything,
        "url": texts | anything,
        "page_title": anything,
        "chunk_index": st.integers(0, 50) | anything,
        "metadata": anything,
    },
)
ids = st.integers(0, 2**64 - 1) | st.uuids().map(str)
points = st.lists(st.tuples(ids, st.floats(), st.none() | payloads), max_size=20)
questions = st.text(min_size=1, max_size=300).filter(lambda text: text.strip() and _encodes(text))


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _padded(values: list[float]) -> list[float]:
    """A vector of the profile's dimension whose first numbers are `values`."""
    return [*values, *[0.0] * (PROFILE.collection.dimension - len(values))]


@dataclass
class FixedEmbedder:
    model: str = PROFILE.embedding.model

    def embed(self, given: Sequence[str]) -> list[Vector]:
        return [[1.0] * PROFILE.collection.dimension]

    def warm(self) -> None: ...


@dataclass
class FixedStore:
    """Gives what it holds, in whatever order, as a store that keeps no promise would."""

    held: list[tuple[int | str, float, dict[str, Any] | None]]
    collection: str = PROFILE.collection.name

    def search(self, vector: Vector, search: Search) -> Found:
        return read([Hit(*hit) for hit in self.held], PROFILE.payload)

    def fetch(self, chunk: str, *, with_vectors: bool) -> StoredPoint | None:
        return None

    def describe(self) -> CollectionInfo:
        raise NotImplementedError

    def warm(self) -> None: ...


def answer(store: Any, text: str, top_k: int) -> dict[str, Any]:
    request = RetrievalRequest(text=text, search=Search(top_k=top_k))
    retrieval = Retriever(FixedEmbedder(), store).retrieve(request, Deadline.after(60))
    return CONTRACT.render(retrieval).model_dump(mode="json")


@given(held=points, text=questions, top_k=st.integers(1, 100))
def test_the_five_guarantees_hold_for_any_answer(held: list[Any], text: str, top_k: int) -> None:
    body = answer(FixedStore(held), text, top_k)
    results = body["results"]
    by_id: dict[str, list[dict[str, Any]]] = {}
    for identity, _, payload in held:
        by_id.setdefault(str(identity), []).append(payload or {})
    for result in results:
        stored = by_id[result["chunk_id"].rsplit("_", 1)[0]]
        values = [value for payload in stored for value in payload.values()]
        assert any(result["chunk_text"] is value or result["chunk_text"] == value for value in values)  # 1: text
        assert any(result["url"] == value for value in values)  # 2: URL
    assert len({result["chunk_id"] for result in results}) == len(results)  # 3: ids
    scores = [result["relevance_score"] for result in results]
    assert scores == sorted(scores, reverse=True)  # 4: order
    assert all(math.isfinite(score) and 0 <= score <= 1 for score in scores)
    assert body["total_results"] == len(results) <= top_k  # 5: count
    assert (body["query"], body["k"]) == (text, top_k)
    assert body["timestamp"].endswith("Z")
    assert datetime.fromisoformat(body["timestamp"]).utcoffset() is not None


@given(
    held=st.dictionaries(
        st.integers(0, 2**53 - 1),
        st.tuples(
            st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=4).filter(any).map(_padded),
            st.text(min_size=1, max_size=50).filter(lambda text: text.strip() and _encodes(text) and "\0" not in text),
            st.integers(0, 5),
        ),
        min_size=1,
        max_size=8,
    ),
    top_k=st.integers(1, 10),
)
@settings(
    max_examples=15,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large],
    deadline=None,
)
def test_the_five_guarantees_hold_for_what_the_real_engine_stores(held: Any, top_k: int, tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path, PROFILE)
    stored = [
        Point(
            identity,
            vector,
            {"text_content": text, "source_url": f"https://example.com/{identity}", "chunk_index": number},
        )
        for identity, (vector, text, number) in held.items()
    ]
    index.replace(stored, manifest(PROFILE, "digest", len(stored), "emulator"))
    body = answer(QdrantEdgeStore(root=tmp_path, profile=PROFILE), "question", top_k)
    assert len(body["results"]) == min(top_k, len(held))
    for result in body["results"]:
        identity = int(result["chunk_id"].split("_")[0])
        assert result["chunk_text"] == held[identity][1]
        assert result["url"] == f"https://example.com/{identity}"
        assert result["chunk_id"] == f"{identity}_{held[identity][2]}"
    scores = [result["relevance_score"] for result in body["results"]]
    assert scores == sorted(scores, reverse=True)
