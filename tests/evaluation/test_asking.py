"""Asking one question: requests by what the API offers, repeated requests, and answers in every contract."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from conftest import ROOT
from passage.api import ApiReply, Request, Unreachable
from passage.evaluation import replies
from passage.evaluation.asking import Asker, request
from passage.evaluation.run import SavedAnswer
from passage.evaluation.service import RemoteProfile, SetupError, find_profile
from passage.evaluation.suite import SuiteQuestion
from passage.indexing.pacing import Pace

DOCUMENT = json.loads((ROOT / "docs" / "openapi.json").read_text(encoding="utf-8"))
SERVED = RemoteProfile("query-response", "query_response", "c", "m", text="text", count="k", most=100, fields={})
QUESTION = SuiteQuestion("q1", "What is it?")
RESULT = {"chunk_text": "T", "url": "https://s.example/a#x", "chunk_id": "7_0", "relevance_score": 0.5}
GOOD = {"query": "q", "k": 1, "results": [RESULT], "total_results": 1, "timestamp": "2026-01-15T10:30:00Z"}


class Scripted:
    """An API that gives one reply after the other; an exception is raised."""

    def __init__(self, *given: ApiReply | Exception) -> None:
        self._replies = list(given)
        self.sent: list[tuple[str, str, Any]] = []

    def ask(self, request: Request) -> ApiReply:
        self.sent.append((request.method, request.path, json.loads(request.body or b"null")))
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply


def reply(status: int, body: object = "", **headers: str) -> ApiReply:
    text = body if isinstance(body, str) else json.dumps(body)
    return ApiReply(status, {name.replace("_", "-"): value for name, value in headers.items()}, text, 5.0)


@pytest.fixture
def waited() -> list[float]:
    return []


def pace(per_minute: int | None, waited: list[float]) -> Pace:
    """A pace whose waits take no time."""

    def sleep(seconds: float) -> bool:
        waited.append(seconds)
        return False

    return Pace(per_minute, clock=lambda: sum(waited), sleep=sleep)


@pytest.fixture
def ask(waited: list[float]) -> Callable[..., SavedAnswer]:
    """Asks scripted replies."""

    def run(
        *given: ApiReply | Exception, served: RemoteProfile = SERVED, question: SuiteQuestion = QUESTION
    ) -> SavedAnswer:
        return Asker(Scripted(*given), pace(None, waited), passages=50).ask(served, question)

    return run


def test_answer_has_its_passages(ask: Callable[..., SavedAnswer]) -> None:
    answer = ask(reply(200, GOOD))
    assert answer.error is None
    (hit,) = answer.results
    assert (hit.id, hit.chunk_id, hit.page, hit.score, answer.milliseconds) == (
        *("7", "7_0", "https://s.example/a"),
        *(0.5, 5.0),
    )


def test_rate_limit_waits_as_long_as_retry_after(ask: Callable[..., SavedAnswer], waited: list[float]) -> None:
    answer = ask(reply(429, {"error": "slow down"}, retry_after="7"), reply(200, GOOD))
    assert (answer.error, waited) == (None, [7.0])


def test_rate_limit_after_five_attempts_is_an_error(ask: Callable[..., SavedAnswer], waited: list[float]) -> None:
    answer = ask(*[reply(429, {"error": "slow down", "code": "X"})] * 5)
    assert (answer.error_kind, answer.error, answer.results) == ("rate_limit", "HTTP 429: slow down.", ())
    assert waited == [10.0, 20.0, 40.0, 60.0]


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (reply(503, {"error": {"code": "X", "message": "down"}}), "service"),
        (reply(504, {"message": "Endpoint request timed out"}), "timeout"),
        (Unreachable("nobody there"), "service"),
    ],
    ids=["503", "504", "unreachable"],
)
def test_failed_service_is_asked_three_times(
    ask: Callable[..., SavedAnswer], waited: list[float], given: ApiReply | Exception, kind: str
) -> None:
    assert ask(given, given, reply(200, GOOD)).error is None
    assert ask(given, given, given).error_kind == kind
    assert len(waited) == 4


def test_question_is_asked_in_its_language() -> None:
    assert request(SERVED, replace(QUESTION, language="de"), 50)["language"] == "de"
    assert "language" not in request(SERVED, QUESTION, 50)


def test_refused_request_is_not_repeated(ask: Callable[..., SavedAnswer]) -> None:
    answer = ask(reply(400, {"error": "'text' is too long", "code": "INVALID_INPUT"}))
    assert (answer.error_kind, answer.error) == ("request", "HTTP 400: 'text' is too long.")


def test_rate_holds_a_question_back_until_the_minute_is_over(waited: list[float]) -> None:
    asker = Asker(Scripted(*[reply(200, GOOD)] * 3), pace(2, waited), passages=50)
    for _ in range(3):
        asker.ask(SERVED, QUESTION)
    assert waited == [60.0]


@pytest.mark.parametrize("body", ["<html>", {}, {"results": [{}]}, {"results": 7}, []])
def test_answer_of_another_form_is_a_contract_error(ask: Callable[..., SavedAnswer], body: object) -> None:
    assert ask(reply(200, body)).error_kind == "contract"


@pytest.mark.parametrize(
    ("top_k", "most", "sent"), [(None, 100, 50), (None, 8, 8), (3, 100, 50), (60, 80, 60), (30, 20, 20), (60, None, 60)]
)
def test_question_asks_for_its_top_k_up_to_the_limit(top_k: int | None, most: int | None, sent: int) -> None:
    fields = request(replace(SERVED, most=most), replace(QUESTION, top_k=top_k), 50)
    assert fields == {"text": "What is it?", "k": sent}


def test_options_are_sent_where_the_api_offers_them() -> None:
    offering = replace(SERVED, fields={"order": {}, "debug": {}, "k": {}})
    fields = {"text": "What is it?", "k": 50, "order": "relevance"}
    assert request(offering, QUESTION, 50) == fields
    assert request(offering, QUESTION, 50, explain=True) == {**fields, "debug": True}


def examples() -> Sequence[tuple[str, str, Any]]:
    """Each profile with its contract and the answer that the OpenAPI document shows."""
    found = []
    for path, operations in DOCUMENT["paths"].items():
        if path.startswith("/profiles/") and path.endswith("/query"):
            profile = path.split("/")[2]
            content = operations["post"]["responses"]["200"]["content"]["application/json"]
            found.append((profile, profile.replace("-", "_"), content["example"]))
    return found


@pytest.mark.parametrize(("profile", "contract", "example"), examples(), ids=lambda value: str(value)[:20])
def test_documented_answer_of_each_contract_is_read(profile: str, contract: str, example: Any) -> None:
    (hit,), search_ms = replies.read(contract, profile, example)
    assert hit.page == "https://example.com/docs/digital-twin"
    assert (hit.rank, hit.score) == (1, 0.72)
    assert "123456789" in (hit.id, hit.chunk_id)
    assert hit.text.startswith("A digital twin is")
    assert search_ms == (12.5 if contract in ("vector_search", "ranked") else None)


def listed(*names: str) -> dict[str, Any]:
    about = {"contract": "query_response", "collection": "c", "embedding_model": "m"}
    return {"default": names[0], "profiles": [{"name": name, **about} for name in names]}


def test_profile_is_read_from_the_openapi_document() -> None:
    found = find_profile(Scripted(reply(200, listed("query-response")), reply(200, DOCUMENT)), None)
    assert (found.profile, found.contract, found.text, found.count, found.most) == (
        *("query-response", "query_response"),
        *("text", "k", 100),
    )
    clamping = find_profile(Scripted(reply(200, listed("context")), reply(200, DOCUMENT)), "context")
    assert (clamping.most, clamping.rejects_counts) == (None, False)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([Unreachable("https://x cannot be reached")], "--target: https://x cannot be reached."),
        ([reply(403, {"message": "Forbidden"})], "HTTP 403: Forbidden. Set PASSAGE_API_KEY or --api-key-file"),
        ([reply(404, {"message": "Not Found"})], "Is it the URL of a Passage API, with its stage"),
        ([reply(200, "<html>")], "--target: GET /profiles gives HTTP 200: <html>."),
        ([reply(200, {"a": 1})], "are not those of Passage"),
        (
            [reply(200, listed("other"))],
            "--profile: the target has no profile 'query-response', or no index for it. It has other.",
        ),
        ([reply(200, listed("query-response")), reply(200, {"paths": {}})], "are not those of Passage"),
    ],
)
def test_target_that_is_no_passage_is_named(given: list[ApiReply | Exception], message: str) -> None:
    with pytest.raises(SetupError) as raised:
        find_profile(Scripted(*given), "query-response")
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        ({"error": "Bad", "code": "A", "timestamp": "t"}, "A", "Bad"),
        ({"error": {"code": "A", "message": "Bad"}}, "A", "Bad"),
        ({"code": "A", "message": "Bad", "details": ""}, "A", "Bad"),
        ({"message": "Forbidden"}, "", "Forbidden"),
        ({"Message": "Forbidden"}, "", "Forbidden"),
        ({"error": None, "message": "Bad", "code": 5}, "", "Bad"),
        ({"error": {"message": 5}}, "", '{"error": {"message": 5}}'),
        ("<html>\n  <b>Bad</b>", "", "<html> <b>Bad</b>"),
        ({"results": []}, "", '{"results": []}'),
        ([], "", "[]"),
        ("", "", "no body"),
    ],
)
def test_code_and_message_of_any_contracts_error(body: object, code: str, message: str) -> None:
    assert reply(400, body).code == code
    assert reply(400, body).fault == f"HTTP 400: {message}."
