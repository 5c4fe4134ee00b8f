"""Passages that are dropped from an answer: `warnings` gives number and reason, in every contract."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.adapters.qdrant.payload import Hit
from handler.config import profiles
from handler.config.settings import RuntimeSettings
from handler.core.texts import INVISIBLE
from handler.entrypoints import direct
from handler.entrypoints.detect import Source
from handler.entrypoints.http import handler as http
from handler.entrypoints.limits import ALB_RESPONSE_BYTES, LAMBDA_RESPONSE_BYTES, sent_bytes
from unit.asking import CONTAINER, answered, ask, assert_published, every_profile

SHOWS_WEB_ADDRESSES_ONLY = ("chunks", "ranked")

invisible = st.text(st.sampled_from(" \t\n\u00a0\u200b\u200d\u2060\ufeff\u00ad\u3164\ufe0f\U000e0041"))


def hit(number: int, name: str, text: str = "A twin.", url: str = "") -> Hit:
    keys = profiles.load(name).payload
    return Hit(number, 0.9 - number / 1000, {keys.text[0]: text, keys.url[0]: url or f"https://example.com/{number}"})


def results(body: dict[str, Any]) -> list[Any]:
    found: list[Any] = body["chunks"] if "chunks" in body else body["results"]
    return found


def fields(name: str) -> dict[str, Any]:
    return {profiles.load(name).query.text.names[0]: "What is a twin?"}


@every_profile
def test_complete_answer_has_no_warnings(name: str) -> None:
    assert "warnings" not in answered(name, [hit(1, name)])
    assert "warnings" not in answered(name, [])


@every_profile
def test_invalid_payloads_are_counted_with_the_keys_tried(name: str) -> None:
    body = answered(name, [Hit(1, 0.9, {"words": "A twin."}), Hit(2, 0.8, None)])
    assert results(body) == []
    (warning,) = body["warnings"]
    assert warning.startswith("2 of 2 points found were left out")
    for key in (*profiles.load(name).payload.text, "body", *profiles.load(name).payload.url, "permalink", "meta"):
        assert key in warning


@every_profile
def test_one_invalid_payload_among_good_ones_is_counted(name: str) -> None:
    body = answered(name, [hit(1, name), Hit(2, 0.8, {}), hit(3, name)])
    assert len(results(body)) == 2
    assert body["warnings"][0].startswith("1 of 3 points found were left out")


@pytest.mark.parametrize("name", SHOWS_WEB_ADDRESSES_ONLY)
def test_passage_without_a_web_address_is_counted(name: str) -> None:
    body = answered(name, [hit(1, name), hit(2, name, url="docs/intro.md")])
    assert len(results(body)) == 1
    assert body["warnings"] == ["1 of 2 passages found were left out: their URL is not an http or https address."]


@every_profile
def test_oversized_first_passage_gives_a_warning(name: str) -> None:
    answer = ask(name, fields(name), [hit(1, name, "a" * 6_300_000), hit(2, name)])
    assert answer.status == 200
    assert_published(name, answer)
    assert results(answer.json) == []
    (warning,) = answer.json["warnings"]
    assert warning == "All 2 passages found were left out: the first one alone is too large for a response."


@every_profile
def test_direct_invocation_says_what_did_not_fit(name: str) -> None:
    CONTAINER.hold([hit(number, name, "a" * 1_400_000) for number in range(1, 6)])
    body = direct.handle({**fields(name), "profile": name}, None, CONTAINER)
    kept = len(results(body))
    assert 0 < kept < 5
    assert f"The last {5 - kept} of 5 passages were left out" in body["warnings"][0]
    assert len(json.dumps(body)) <= LAMBDA_RESPONSE_BYTES


@pytest.mark.parametrize(
    "hits", [[Hit(1, 0.9, {})], [hit(1, "ranked", "a" * 6_300_000)], [hit(1, "ranked", url="intro.md")]]
)
def test_ranked_with_skipped_matches_is_not_no_results(hits: list[Hit]) -> None:
    body = answered("ranked", hits)
    assert (body["status"], body["error"]["code"]) == ("error", "NO_RESULTS")
    assert "Passages match" in body["error"]["message"]
    assert body["warnings"]
    assert answered("ranked", [])["error"]["message"] == "Nothing matches the question."


@every_profile
@given(text=invisible)
def test_question_without_a_visible_character_is_refused(name: str, text: str) -> None:
    assert not text.strip(INVISIBLE)
    answer = ask(name, {profiles.load(name).query.text.names[0]: text})
    assert answer.status == 400
    assert not answer.embedded
    assert_published(name, answer)


@given(before=invisible, after=invisible, visible=st.characters(categories=["L", "N", "P", "S"]))
def test_one_visible_character_makes_a_text(before: str, after: str, visible: str) -> None:
    assert (not (before + visible + after).strip(INVISIBLE)) == (visible in "\u115f\u1160\u17b4\u17b5\u3164\uffa0")


@pytest.mark.parametrize("letter", ["a", "机", "🤖", '"', "\u0001"])
def test_size_matches_the_runtimes_output(letter: str) -> None:
    """awslambdaric's Encoder: `ensure_ascii=False` on Python 3.12 and later, escapes elsewhere."""
    value = {"body": letter * 10}
    assert sent_bytes(value, utf8=True) == len(json.dumps(value, ensure_ascii=False).encode())
    assert sent_bytes(value, utf8=False) == len(json.dumps(value, ensure_ascii=True).encode())


@pytest.mark.parametrize("utf8", [True, False])
def test_answer_too_large_for_a_load_balancer_is_shortened(utf8: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """606 KB in UTF-8 fit into a load balancer's 1 MB; as escapes they do not."""
    runtime = RuntimeSettings(AWS_EXECUTION_ENV="AWS_Lambda_python3.13" if utf8 else "")
    monkeypatch.setitem(CONTAINER.__dict__, "runtime", runtime)
    CONTAINER.hold([hit(number, "vector-search", "机" * 2_000) for number in range(100)])
    event: dict[str, Any] = {"httpMethod": "POST", "path": "/profiles/vector-search/query", "headers": {}}
    event |= {"body": '{"query_text": "twin", "top_k": 100}', "requestContext": {"elb": {}}}
    response = http.handle(event, None, CONTAINER, Source.ALB)
    body = json.loads(response["body"])
    assert (body["total_results"] == 100) == ("warnings" not in body) == utf8
    assert sent_bytes(response, utf8=utf8) <= ALB_RESPONSE_BYTES
