"""Every contract's guarantees hold for reranked answers, and for those whose reranking failed."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from handler.adapters.qdrant.payload import Hit, read
from handler.config import profiles
from handler.config.profiles import Profile
from handler.core.errors import ConfigurationError, DeadlineExceeded, UpstreamThrottled
from handler.core.model import Passage
from handler.core.rerank import Reranking
from handler.core.retrieve import Retriever
from handler.entrypoints.detect import Source
from handler.entrypoints.http import handler as http
from passage.local.http_event import http_api_event
from unit.asking import Answer, FakedContainer, ask, assert_published, every_profile
from unit.strategies import bounded, passages

SCORES = {
    "query-response": ("results", "relevance_score"),
    "vector-search": ("results", "score"),
    "context": ("chunks", "score"),
    "ranked": ("results", "similarity_score"),
    "chunks": ("results", "similarity_score"),
}
"""Where a profile's answer has its results, and a result its score."""

relevances = st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.5, 1.0]), min_size=40, max_size=40)
failures = st.sampled_from(
    [
        UpstreamThrottled("busy", upstream="reranking", retry_after=1000),
        DeadlineExceeded("late", upstream="reranking"),
        ConfigurationError("wrong"),
        ValueError("unexpected"),
    ]
)


@dataclass
class FixedReranker:
    """Returns the given relevances in the texts' order, or fails."""

    relevances: Sequence[float]
    failure: Exception | None
    model: str = "rerank"

    def rerank(self, _: str, texts: Sequence[str]) -> list[float]:
        if self.failure is not None:
            raise self.failure
        return list(self.relevances[: len(texts)])

    def warm(self) -> None: ...


class RerankingContainer(FakedContainer):
    """The same with a reranker."""

    reranker: FixedReranker

    def retriever(self, profile: Profile) -> Retriever:
        return super().retriever(profile)._replace(reranking=Reranking(self.reranker, candidates=30))


CONTAINER = RerankingContainer()


def asked(name: str, held: list[Hit], scores: Sequence[float], count: int, failure: Exception | None = None) -> Answer:
    """The answer to a question, reranked by `scores` or not."""
    limits = profiles.load(name).query
    body = f'{{"{limits.text.names[0]}": "question", "{limits.count.names[0]}": {count}}}'
    CONTAINER.reranker = FixedReranker(scores, failure)
    CONTAINER.hold(held)
    event = http_api_event("POST", f"/profiles/{name}/query", body=body.encode())
    response = http.handle(event, None, CONTAINER, Source.HTTP_API)
    answer = Answer(
        response["statusCode"], response["headers"]["Content-Type"], response["body"], (), tuple(CONTAINER.searches)
    )
    assert answer.status == 200, answer.text
    assert_published(name, answer)
    return answer


def results(name: str, answer: Answer) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = answer.json[SCORES[name][0]]
    return found


def scores_of(name: str, answer: Answer) -> list[float]:
    return [result[SCORES[name][1]] for result in results(name, answer)]


def texts_of(name: str, answer: Answer) -> list[str]:
    """The results' texts; where an answer has the payload instead, the text in it."""
    field = {"query-response": "chunk_text", "context": "text", "ranked": "chunk_text", "chunks": "content"}
    text = profiles.load(name).payload.text[0]
    return [
        result["payload"][text] if name == "vector-search" else result[field[name]] for result in results(name, answer)
    ]


def in_order(name: str, held: list[Hit]) -> list[Passage]:
    """The store's points as passages, best similarity first."""
    found = read(held, profiles.load(name).payload).passages
    return sorted(found, key=lambda passage: passage.score, reverse=True)


@every_profile
@given(data=st.data(), scores=relevances, count=st.integers(3, 8))
@bounded
def test_reranked_answer_has_exactly_the_most_relevant(
    name: str, data: st.DataObject, scores: list[float], count: int
) -> None:
    held = data.draw(passages(profiles.load(name), min_size=2))
    answer = asked(name, held, scores, count)
    candidates = in_order(name, held)
    # By relevance; of equals the one that is more similar comes first.
    expected = sorted(range(len(candidates)), key=lambda position: (-scores[position], position))[:count]
    assert texts_of(name, answer) == [candidates[position].text for position in expected]
    assert scores_of(name, answer) == [scores[position] for position in expected]
    assert "warnings" not in answer.json


@every_profile
@given(data=st.data(), failure=failures, count=st.integers(3, 8))
@bounded
def test_failed_reranking_gives_the_plain_answer_and_a_warning(
    name: str, data: st.DataObject, failure: Exception, count: int
) -> None:
    held = data.draw(passages(profiles.load(name), min_size=2))
    limits = profiles.load(name).query
    without = ask(name, {limits.text.names[0]: "question", limits.count.names[0]: count}, held)
    answer = asked(name, held, [], count, failure)
    assert texts_of(name, answer) == texts_of(name, without)
    assert scores_of(name, answer) == scores_of(name, without)
    assert answer.json.keys() == {*without.json.keys(), "warnings"}
    (warning,) = answer.json["warnings"]
    assert warning.startswith("The passages are in the order of the search: reranking failed (")


def test_plain_text_is_only_the_context() -> None:
    held = [
        Hit(number, 1 - number / 10, {"text": f"text {number}", "source_url": "https://a.example/"})
        for number in (0, 1)
    ]
    CONTAINER.hits, CONTAINER.reranker = held, FixedReranker([], ValueError("unexpected"))
    event = http_api_event(
        "POST", "/profiles/context/query", headers={"accept": "text/plain"}, body=b'{"text": "question"}'
    )
    body = http.handle(event, None, CONTAINER, Source.HTTP_API)["body"]
    assert body.startswith("[Result 1] Score: 1.00")
    assert "reranking" not in body
