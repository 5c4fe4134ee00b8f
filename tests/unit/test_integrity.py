"""Seed 000's five data integrity guarantees, with any payload and any question."""

from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from handler.adapters.qdrant.edge import QdrantEdgeStore
from handler.adapters.qdrant.payload import Hit
from handler.config import profiles
from handler.contracts import registry
from handler.core.deadline import Deadline
from handler.core.model import RetrievalRequest, Search
from passage.indexing.edge_index import EdgeIndex
from passage.indexing.target import NewPoint, WantedIndex
from unit.asking import FixedEmbedder, answered
from unit.pipelines import pipeline, retrieve
from unit.strategies import at_most, bounded, hits, words

PROFILE = profiles.load("query-response")
CONTRACT = registry.find(PROFILE)


def _stored(held: list[Hit], chunk_id: str) -> list[Any]:
    """Every text within the payloads of the point that a chunk id names."""
    point = chunk_id.rsplit("_", 1)[0]
    return [value for hit in held if str(hit.id) == point for value in _values(hit.payload) if isinstance(value, str)]


def _values(value: Any) -> list[Any]:
    return [item for inner in value.values() for item in _values(inner)] if isinstance(value, dict) else [value]


@given(held=hits(PROFILE, max_size=20), top_k=st.integers(1, 100))
@bounded
def test_five_integrity_guarantees_hold_for_any_payload(held: list[Hit], top_k: int) -> None:
    body = answered(PROFILE.name, [*held, *held], k=top_k)
    results = body["results"]
    for result in results:
        assert {result["chunk_text"], result["url"]} <= set(_stored(held, result["chunk_id"])), "text and URL as stored"
    identities = [result["chunk_id"] for result in results]
    assert len(set(identities)) == len(identities), "a chunk id occurs once"
    scores = [result["relevance_score"] for result in results]
    assert scores == sorted(scores, reverse=True)
    assert body["total_results"] == len(results) <= top_k


def _padded(values: list[float]) -> list[float]:
    """A vector of the profile's dimension whose first numbers are `values`."""
    return [*values, *[0.0] * (PROFILE.collection.dimension - len(values))]


@given(
    held=st.dictionaries(
        st.integers(0, 2**53 - 1),
        st.tuples(
            st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=4).filter(any).map(_padded),
            words.filter(lambda text: "\0" not in text),
            st.integers(0, 5),
        ),
        min_size=1,
        max_size=8,
    ),
    top_k=st.integers(1, 10),
)
@settings(
    max_examples=at_most(15),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large],
    deadline=None,
)
def test_five_integrity_guarantees_hold_with_the_real_engine(held: Any, top_k: int, tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path, PROFILE)
    stored = [
        NewPoint(
            identity,
            vector,
            {"text_content": text, "source_url": f"https://example.com/{identity}", "chunk_index": number},
        )
        for identity, (vector, text, number) in held.items()
    ]
    index.replace(WantedIndex(PROFILE, "digest", len(stored), "emulator"), stored)
    store = QdrantEdgeStore(root=tmp_path, profile=PROFILE)
    request = RetrievalRequest(text="question", search=Search(top_k=top_k))
    retrieval = retrieve(
        pipeline(FixedEmbedder(PROFILE), store, dimension=PROFILE.collection.dimension), request, Deadline.after(60)
    )
    body = CONTRACT.render(retrieval).model_dump(mode="json")
    assert body["total_results"] == len(body["results"]) == min(top_k, len(held))
    for result in body["results"]:
        identity = int(result["chunk_id"].split("_")[0])
        assert result["chunk_text"] == held[identity][1]
        assert result["url"] == f"https://example.com/{identity}"
        assert result["chunk_id"] == f"{identity}_{held[identity][2]}"
    scores = [result["relevance_score"] for result in body["results"]]
    assert scores == sorted(scores, reverse=True)
