"""The options of a request, and the last steps of a question with options, with fakes at the ports."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qdrant_edge import RangeDateTime

from handler.adapters.qdrant.neighborhoods import around
from handler.config import profiles
from handler.contracts import options, registry
from handler.contracts.base import OPTIONS
from handler.core.conditions import Range
from handler.core.deadline import Deadline
from handler.core.errors import (
    CollectionNotFound,
    DeadlineExceeded,
    InvalidRequest,
    PassageError,
    UpstreamUnavailable,
)
from handler.core.model import Noise, Passage, Retrieval, RetrievalRequest, Search, SearchResult, Selection, Timings
from handler.core.option_steps import NO_WORDS, NOT_FOUND, apply_options

PROFILE = profiles.load("chunks")


def test_option_names_are_those_that_trigger_the_import() -> None:
    assert options.Options.model_fields.keys() == OPTIONS


@pytest.mark.parametrize("name", registry.NAMES)
def test_no_option_has_another_meaning_in_a_contract(name: str) -> None:
    fields = registry.load(name).request_model.model_fields
    same = {"filters", "score_threshold"} if name == "vector_search" else set()
    assert OPTIONS & fields.keys() == same


def applied(profile: profiles.Profile = PROFILE, **fields: Any) -> RetrievalRequest:
    sent = {"query_text": "twin", **fields}
    contract = registry.find(profile)
    return options.apply_options(contract.parse(sent, profile), sent, contract, profile, debug=False)


def test_shorthand_adds_to_the_filters() -> None:
    request = applied(language="en", filters={"position": {"gte": 2}})
    assert request.search.filters.keys() == {"language", "position"}


def test_threshold_has_two_names_and_takes_one() -> None:
    assert applied(score_threshold=0.4) == applied(threshold=0.4, offset=None)
    with pytest.raises(InvalidRequest, match="'threshold' and 'score_threshold' mean the same"):
        applied(score_threshold=0.4, threshold=0.4)


@pytest.mark.parametrize(
    ("change", "fields", "says"),
    [
        ({"filters": {}}, {"language": "en"}, "'language' is not a field of this profile"),
        ({"filters": {}}, {"filters": {"url": "a"}}, "It declares: none"),
        (
            {"payload": {**PROFILE.payload.model_dump(), "index": (), "variants": False}},
            {"neighbors": 1},
            "position",
        ),
    ],
)
def test_option_that_the_profile_lacks_is_refused(change: dict[str, Any], fields: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidRequest, match=says):
        applied(profiles.Profile.model_validate(PROFILE.model_dump() | change), **fields)


# In whole seconds: Python reads an offset of less than one as none.
ZONES = st.integers(-23 * 3600, 23 * 3600).map(lambda seconds: timezone(timedelta(seconds=seconds)))


@given(st.datetimes(timezones=st.none() | ZONES))
def test_any_time_is_a_bound_that_a_store_reads_or_is_refused(moment: datetime) -> None:
    """A zone may have seconds, which Qdrant does not read, or leave the years that a time can have."""
    profile = profiles.load("ranked")
    contract = registry.find(profile)
    sent = {"text": "twin", "filters": {"timestamp": {"gte": moment.isoformat()}}}
    try:
        request = options.apply_options(contract.parse({"text": "twin"}, profile), sent, contract, profile, debug=False)
    except InvalidRequest:
        assert moment.year in (1, 9999)
        return
    condition = request.search.filters["timestamp"]
    assert isinstance(condition, Range)
    assert isinstance(condition.gte, str)
    RangeDateTime(gte=condition.gte)
    assert datetime.fromisoformat(condition.gte) == (moment if moment.tzinfo else moment.replace(tzinfo=UTC))


def answer(selection: Selection, *passages: Passage) -> Retrieval:
    request = RetrievalRequest("twin", Search(top_k=2), selection=selection)
    return Retrieval(request, passages, 0, Timings(1, 1, 2), "c", "m", datetime.now(UTC))


def passage(number: int, score: float = 0.5, **fields: Any) -> Passage:
    return Passage(id=number, score=score, text=f"text {number}", url="https://x.example/a", **fields)


@dataclass
class Around:
    """A store that finds neighbors, or fails."""

    found: Any = ()

    def holders(self, words: Any, most: int) -> Any:
        if isinstance(self.found, Exception):
            raise self.found
        return {"e1042": frozenset({2}), "error": frozenset(range(40)), "xyzzy": frozenset()}

    def neighbors(self, wanted: Any) -> Any:
        if isinstance(self.found, Exception):
            raise self.found
        return SearchResult(tuple(self.found))


def one(given: Retrieval | PassageError, found: Any = ()) -> Any:
    store: Any = Around(found)
    (done,) = apply_options([given], store, "score", Deadline.after(1))
    return done


def fits(question: str, cosines: list[float], found: Any = ()) -> tuple[list[str | None], tuple[str, ...]]:
    """The fits of passages 1, 2, … with these cosines, and the answer's warnings."""
    passages = [passage(number, cosine) for number, cosine in enumerate(cosines, start=1)]
    given = answer(Selection(), *passages)
    request = replace(given.request, text=question, search=Search(top_k=9), fit=True)
    done = one(replace(given, request=request, noise=Noise(0.2, 0.3)), found)
    return [each.fit for each in done.passages], done.warnings


@pytest.mark.parametrize(
    ("question", "cosines", "expected"),
    [
        ("the of", [0.7, 0.5, 0.35, 0.27], ["strong", "good", "weak", "none"]),  # by the cosines alone
        ("the of", [0.1, 0.5, 0.1], ["good", "good", "none"]),  # no worse than the passage below it
        ("E1042", [0.0, 0.0, 0.0], ["good", "good", "none"]),  # the second passage has the only rare word
        ("E1042 xyzzy", [0.0, 0.0, 0.0], ["weak", "weak", "none"]),  # half of the rare words
        ("", [0.7], ["strong"]),  # sent as a vector
    ],
)
def test_fit_follows_from_cosine_and_rare_words(question: str, cosines: list[float], expected: list[str]) -> None:
    assert fits(question, cosines) == (expected, ())


def test_failed_look_up_of_words_leaves_the_cosine() -> None:
    failure = UpstreamUnavailable("down", upstream="store", retry_after=100)
    assert fits("E1042", [0.7, 0.0], failure) == (["strong", "none"], (NO_WORDS,))


def test_failed_search_for_neighbors_is_a_warning() -> None:
    given = answer(Selection(neighbors=1), passage(1, index=0))
    done = one(given, UpstreamUnavailable("down", upstream="store", retry_after=100))
    assert done.warnings == (NOT_FOUND,)
    assert done.passages == given.passages
    assert done.timings.neighbors_ms is not None


def test_neighbors_from_a_missing_collection_are_an_error() -> None:
    failure = CollectionNotFound("no such collection", upstream="store")
    assert one(answer(Selection(neighbors=1), passage(1, index=0)), failure) is failure


def test_answers_beyond_the_deadline_fail_and_the_rest_stay() -> None:
    """A large batch once ran until Lambda stopped the function, and nothing was answered."""
    store: Any = Around()
    given = [answer(Selection(diversity=0.5)), CollectionNotFound("none", upstream="store")]
    late, failed = apply_options(given, store, "score", Deadline.after(0))
    assert isinstance(late, DeadlineExceeded)
    assert failed is given[1]


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 12), st.integers(1, 3)), max_size=20))
def test_neighborhoods_hold_each_position_once_page_by_page(wanted: list[tuple[str, int, int]]) -> None:
    def at(page: str, index: int) -> Passage:
        address = f"https://x.example/{page}"
        return Passage(1, 0.5, "x", address, index=index, payload={"url": address, "position": index})

    near = around([(at(page, index), reach) for page, index, reach in wanted], PROFILE)
    stored = [
        (url, position)
        for pages, runs in (place["must"] for place in near["should"])
        for url in pages["should"][0]["match"]["any"]
        for run in runs["should"]
        for position in range(run["range"]["gte"], run["range"]["lte"] + 1)
    ]
    expected = {
        (f"https://x.example/{page}", position)
        for page, at, reach in wanted
        for position in range(max(0, at - reach), at + reach + 1)
    }
    assert sorted(stored) == sorted(expected)
