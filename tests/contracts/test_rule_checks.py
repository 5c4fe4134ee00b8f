"""Tests the rules: a valid answer that is changed anywhere fails them."""

import json
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any

import pytest

from contracts import rules_chunks, rules_context, rules_query_response, rules_ranked, rules_vector_search
from contracts.circumstances import CIRCUMSTANCES, FAIR
from contracts.shape import Stored
from contracts.surroundings import Surroundings
from handler.config import profiles

Path = tuple[str | int, ...]

ASKED: Mapping[str, tuple[Any, Mapping[str, Any]]] = {
    "query-response": (rules_query_response, {"text": "How do robots walk?", "k": 3}),
    "vector-search": (
        rules_vector_search,
        {"query_text": "How do robots walk?", "top_k": 2, "with_vectors": True, "order": "score"},
    ),
    "context": (rules_context, {"text": "How do robots walk?", "max_chars": 2000}),
    "ranked": (rules_ranked, {"text": "How do robots walk?", "query_id": "q_1", "top_k": 3}),
    "chunks": (rules_chunks, {"query_text": "How do robots walk?", "threshold": 0.1}),
}


OTHERS: tuple[Any, ...] = (None, True, "", [], {}, -1, 1.5)


@pytest.fixture(scope="session", params=ASKED)
def case(
    request: pytest.FixtureRequest, surroundings: Surroundings, stored: Stored, load_event: Any
) -> tuple[Any, Mapping[str, Any], Any, Stored]:
    """A contract's rules, a question, its answer, and what the store holds."""
    name = request.param
    rules, asked = ASKED[name]
    event = {**load_event(f"contracts/{name}/success"), "body": json.dumps(asked)}
    response = surroundings.ask(event, profiles.load(name), "qdrant_server", CIRCUMSTANCES[FAIR])
    return rules, asked, json.loads(response["body"]), stored


def _refused(case: tuple[Any, Mapping[str, Any], Any, Stored], answer: Any) -> bool:
    rules, asked, _, stored = case
    try:
        rules.check_answer(asked, answer, stored)
    except (AssertionError, KeyError, ValueError, TypeError):
        return True
    return False


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """The path of every value in an answer; in a list of numbers, only the first."""
    items: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value[:1] if value and isinstance(value[0], float) else value)
    for key, item in items:
        yield (*path, key)
        yield from _paths(item, (*path, key))


def _at(answer: Any, path: Path) -> Any:
    for key in path:
        answer = answer[key]
    return answer


def test_answer_itself_passes(case: Any) -> None:
    assert not _refused(case, case[2])


def test_answer_without_any_one_field_is_refused(case: Any) -> None:
    for path in _paths(case[2]):
        answer = deepcopy(case[2])
        del _at(answer, path[:-1])[path[-1]]
        assert _refused(case, answer), path


def test_answer_with_a_value_of_another_type_is_refused(case: Any) -> None:
    for path in _paths(case[2]):
        for value in OTHERS:
            duration = str(path[-1]).endswith("_time_ms") and isinstance(value, float)
            if duration or _at(case[2], path) == value:
                continue
            answer = deepcopy(case[2])
            _at(answer, path[:-1])[path[-1]] = value
            assert _refused(case, answer), (path, value)


def test_no_object_may_have_a_field_more(case: Any) -> None:
    for path in [(), *_paths(case[2])]:
        answer = deepcopy(case[2])
        if isinstance(_at(answer, path), dict):
            _at(answer, path)["more"] = 1
            assert _refused(case, answer), path


def test_results_may_not_change_places(case: Any) -> None:
    answer = deepcopy(case[2])
    answer["chunks" if "chunks" in answer else "results"].reverse()
    assert _refused(case, answer)


def test_no_text_may_be_changed(case: Any) -> None:
    for path in _paths(case[2]):
        answer = deepcopy(case[2])
        value = _at(answer, path)
        if isinstance(value, str):
            _at(answer, path[:-1])[path[-1]] = value + "."
            assert _refused(case, answer), path
