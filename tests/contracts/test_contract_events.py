"""Every contract event through the real runtime, with each store: status, code, published schema, the seed's rules."""

import base64
import json
import sys
import tomllib
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, get_args

import pytest
from jsonschema import Draft202012Validator

from alike import alike
from conftest import EVENTS
from contracts import rules
from contracts.circumstances import CIRCUMSTANCES, FAIR, THROTTLES
from contracts.rules import Stored
from contracts.surroundings import KEY, Surroundings
from handler.config import profiles
from handler.contracts import registry
from published import published_schema

FOLDER = EVENTS / "contracts"
QUESTION = "What is a digital twin?"
ORIGIN = "http://localhost:3000"
RETRY_AFTER = 2
"""Seconds in Retry-After if the service gave no time."""

STORES = ("qdrant_server", "qdrant_edge")
EXPECTED: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    (Path(__file__).parent / "expected.toml").read_text(encoding="utf-8")
)
CASES = [(profile, name) for profile, cases in EXPECTED.items() for name in cases]

TWICE = ("text-under-two-names", "count-under-two-names")
EXCLUDED_IN_WORDS = dict.fromkeys(profiles.names(), TWICE) | {
    "vector-search": (*TWICE, "text-null", "vector-null", "vector-and-text", "neither-vector-nor-text")
}
"""Events with fields that exclude each other, which the document says in words: generators make nothing of `not`."""

BEYOND_A_SCHEMA = ("text-half-a-surrogate", "threshold-not-a-number", "score-threshold-not-a-number")
"""Refused for what JSON itself should not hold, which a schema has no words for."""


def test_events_and_expectations_match() -> None:
    assert sorted(CASES) == sorted((path.parent.name, path.stem) for path in FOLDER.glob("*/*.json"))


def test_every_profile_has_events() -> None:
    assert set(profiles.names()) == set(EXPECTED)


@pytest.mark.parametrize("profile", EXPECTED)
def test_every_code_of_a_contract_is_given_by_an_event(profile: str) -> None:
    published = json.dumps(published_schema(profiles.load(profile), "Error"))
    codes = get_args(sys.modules[registry.find(profiles.load(profile)).parse.__module__].Code)
    assert {case["code"] for case in EXPECTED[profile].values() if "code" in case} == set(codes)
    assert f'"enum": {json.dumps(list(codes))}' in published


@pytest.mark.parametrize(("profile", "name"), CASES, ids=["/".join(case) for case in CASES])
def test_event(surroundings: Surroundings, stored: Stored, profile: str, name: str) -> None:
    expected = EXPECTED[profile][name]
    event = _load(profile, name)
    circumstance = CIRCUMSTANCES[expected.get("circumstance", FAIR)]
    answers = []
    for store in expected.get("stores", STORES):
        response = surroundings.ask(event, profiles.load(profile), store, circumstance)
        if expected.get("form") == "text/plain":
            in_json = surroundings.ask(_accepting_json(event), profiles.load(profile), store, circumstance)
            _check_plain_text(response, in_json)
            response = in_json
        _check_response(response, expected)
        answer = json.loads(response["body"], parse_constant=_not_json)
        _check_body(answer, event, profile, expected, stored)
        answers.append(answer)
    for other in answers[1:]:
        # An error in the setup says what to do about it, which is not the same for a server and an index.
        alike(answers[0], other, words=expected.get("status") != 500)


@pytest.mark.parametrize("profile", EXPECTED)
def test_published_schema_and_function_refuse_the_same_requests(profile: str) -> None:
    loaded = profiles.load(profile)
    schema = Draft202012Validator(published_schema(loaded, "Request"))
    for name, expected in EXPECTED[profile].items():
        event = _load(profile, name)
        fields = {} if "queryStringParameters" in event else dict(_fields(event) or {})
        for first, *others in (
            loaded.query.text.names,
            loaded.query.count.names,
        ):  # other names are in words
            for other in others:
                if other in fields and first not in fields:
                    fields[first] = fields.pop(other)
        if fields and name not in BEYOND_A_SCHEMA:
            refused = expected.get("status") == 400
            assert schema.is_valid(fields) != refused or (refused and name in EXCLUDED_IN_WORDS[profile]), name


@pytest.mark.parametrize("store", STORES)
def test_context_one_character_over_budget_loses_a_block(surroundings: Surroundings, store: str) -> None:
    whole = _ask(surroundings, "context", store, text=QUESTION)["context"]
    for budget, blocks in ((whole["total_chars"], 5), (whole["total_chars"] - 1, 4)):
        answer = _ask(surroundings, "context", store, text=QUESTION, max_chars=budget)
        assert (answer["count"], answer["context"]["chunk_count"], len(answer["chunks"])) == (blocks,) * 3


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize(
    ("profile", "threshold", "score"),
    [("vector-search", "score_threshold", "score"), ("chunks", "threshold", "similarity_score")],
)
def test_score_equal_to_the_threshold_is_found(
    surroundings: Surroundings, store: str, profile: str, threshold: str, score: str
) -> None:
    every = [result[score] for result in _ask(surroundings, profile, store, query_text=QUESTION)["results"]]
    least = sorted(every)[1]  # the threshold is on similarity, which need not be the order of the results
    answer = _ask(surroundings, profile, store, query_text=QUESTION, **{threshold: least})
    found = [result[score] for result in answer["results"]]
    assert all(one >= least for one in found)
    assert {one for one in every if one >= least} <= set(found)


def _ask(surroundings: Surroundings, profile: str, store: str, **fields: Any) -> Any:
    event = {**_load(profile, "success"), "body": json.dumps(fields)}
    response = surroundings.ask(event, profiles.load(profile), store, CIRCUMSTANCES[FAIR])
    assert response["statusCode"] == 200, response["body"]
    return json.loads(response["body"])


def _load(profile: str, name: str) -> Any:
    return json.loads((FOLDER / profile / f"{name}.json").read_text(encoding="utf-8"))


def _check_response(response: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    assert response["statusCode"] == expected.get("status", 200), response["body"]
    headers = response["headers"]
    assert headers["Content-Type"] == "application/json"
    assert headers["Access-Control-Allow-Origin"] == ORIGIN
    assert headers["Vary"] == "Origin"
    waits = {429: str(THROTTLES.retry_after), 503: str(RETRY_AFTER)}
    assert headers.get("Retry-After") == waits.get(response["statusCode"])
    for secret in (KEY, "127.0.0.1", "Traceback"):
        assert secret not in response["body"]


def _check_body(
    answer: Any, event: Mapping[str, Any], profile: str, expected: Mapping[str, Any], stored: Stored
) -> None:
    failed = "code" in expected
    schema = published_schema(profiles.load(profile), "Error" if failed else "Response")
    Draft202012Validator(_closed(schema)).validate(answer)
    if failed:
        assert rules.code_of(answer) == expected["code"]
        return
    assert answer.pop("warnings", []) == expected.get("warnings", [])
    rules.check_answer(profiles.load(profile), _fields(event), answer, stored)
    found = len(answer["chunks" if "chunks" in answer else "results"])
    assert found > 0 if expected["results"] == ">0" else found == expected["results"]


def _check_plain_text(response: Mapping[str, Any], in_json: Mapping[str, Any]) -> None:
    assert response["statusCode"] == 200
    assert response["headers"]["Content-Type"] == "text/plain; charset=utf-8"
    assert response["headers"]["Access-Control-Allow-Origin"] == ORIGIN
    assert response["body"] == json.loads(in_json["body"])["context"]["formatted_text"]


def _accepting_json(event: Mapping[str, Any]) -> dict[str, Any]:
    return {**event, "headers": {**event["headers"], "accept": "application/json"}}


def _fields(event: Mapping[str, Any]) -> dict[str, Any]:
    """An event's fields, as far as they can be read."""
    if event["requestContext"]["http"]["method"] == "GET":
        parameters = event.get("queryStringParameters", {})
        as_text = ("text", "query_text", "query_id", "collection_name")
        return {name: value if name in as_text else _literal(value) for name, value in parameters.items()}
    body = event.get("body", "")
    fields = _literal(base64.b64decode(body).decode() if event["isBase64Encoded"] else body)
    return fields if isinstance(fields, dict) else {}


def _literal(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return value


def _not_json(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def _closed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema, which then refuses undeclared fields."""
    closed = deepcopy(dict(schema))
    for part in _parts(closed):
        if "properties" in part:
            part.setdefault("additionalProperties", False)
    return closed


def _parts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _parts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _parts(item)
