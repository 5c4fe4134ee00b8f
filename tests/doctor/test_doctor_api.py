"""The checks of an API: each fault gives one finding that says what to do."""

import json
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from passage.api import ApiReply, FunctionApi, HttpApi, Request, Unreachable, by_invocation
from passage.doctor.api_checks import FOREIGN_ORIGIN, checks
from passage.doctor.findings import CheckOptions, Finding, lines, none_failed

SITE = "https://docs.example.com"
COLLECTION = {"name": "c", "points_count": 3, "vector_size": 4}
READY = {"profile": "p", "collection": COLLECTION}
PROFILES = {"default": "p", "profiles": [{"name": "p"}, {"name": "q"}]}


class FakeApi:
    """Answers as a healthy deployment; `answers` changes the answer of a path."""

    def __init__(self, **answers: tuple[int, object]) -> None:
        self.answers: dict[str, tuple[int, object]] = {
            "/health": (200, {"status": "ok"}),
            "/ready": (200, READY),
            "/profiles": (200, PROFILES),
            "/profiles/p/collection": (200, {"problems": []}),
            "/profiles/q/collection": (404, {}),
            "/query": (200, {"results": [{}]}),
            **{f"/{path.replace('_', '/')}": answer for path, answer in answers.items()},
        }
        self.origins: tuple[str, ...] = (SITE,)
        self.milliseconds = 5.0

    def ask(self, request: Request) -> ApiReply:
        origin = request.headers.get("Origin", "")
        allowed = {"access-control-allow-origin": origin} if origin in self.origins else {}
        status, body = (204, "") if request.method == "OPTIONS" else self.answers[request.path]
        text = body if isinstance(body, str) else json.dumps(body)
        return ApiReply(status, allowed, text, self.milliseconds)


def _found(api: FakeApi, **asked: Any) -> dict[str, Finding]:
    """The worst finding of each check."""
    worst: dict[str, Finding] = {}
    order = ("ok", "skipped", "warning", "failed")
    for finding in checks(api, CheckOptions(**{"question": "How?", "origin": SITE, **asked})):
        known = worst.get(finding.check)
        if known is None or order.index(finding.state) > order.index(known.state):
            worst[finding.check] = finding
    return worst


def test_healthy_api_passes() -> None:
    found = _found(FakeApi())
    assert {name: each.state for name, each in found.items()} == dict.fromkeys(
        ("reachable", "CORS", "ready", "collection", "profiles", "question"), "ok"
    )


@pytest.mark.parametrize(
    ("answers", "check", "state", "words"),
    [
        ({"health": (403, {"message": "Forbidden"})}, "reachable", "failed", "PASSAGE_API_KEY"),
        ({"health": (404, "<html>")}, "reachable", "failed", "base path"),
        ({"ready": (500, {"error": "set QDRANT_URL", "code": "X"})}, "ready", "failed", "set QDRANT_URL"),
        ({"ready": (503, {"error": {"code": "X", "message": "Qdrant is down"}})}, "ready", "failed", "Qdrant is down"),
        (
            {"ready": (200, {"collection": {**COLLECTION, "notes": ["no text index"]}})},
            "ready",
            "warning",
            "no text index",
        ),
        ({"profiles_p_collection": (200, {"problems": ["wrong size"]})}, "collection", "failed", "wrong size"),
        ({"profiles_q_collection": (200, {"problems": ["wrong size"]})}, "collection", "warning", "wrong size"),
        ({"query": (200, {"results": []})}, "question", "warning", "found nothing"),
        ({"query": (200, {"results": [{}], "warnings": ["cut"]})}, "question", "warning", "cut"),
        ({"query": (200, {"results": [{"chunk_text": '{"text": "a"}'}]})}, "question", "warning", "is a JSON object"),
        ({"query": (429, {"message": "Too Many Requests"})}, "question", "failed", "ThrottleRate"),
        ({"query": (502, "")}, "question", "failed", "log"),
    ],
)
def test_fault_is_found_with_advice(answers: dict[str, tuple[int, object]], check: str, state: str, words: str) -> None:
    finding = _found(FakeApi(**answers))[check]
    assert finding.state == state
    assert words in f"{finding.found} {finding.advice}"
    assert finding.advice


def test_unknown_profile_lists_the_known_ones() -> None:
    assert _found(FakeApi(), profile="r")["profiles"].advice == "Choose one of: p, q."


def test_no_question_is_asked_where_ready_fails() -> None:
    found = _found(FakeApi(ready=(500, {"error": "x"})))
    assert found["question"].state == "skipped"
    assert "collection" not in found


def test_slow_answer_is_a_warning() -> None:
    api = FakeApi()
    api.milliseconds = 2_500
    assert "2.5 s" in _found(api)["question"].found


@pytest.mark.parametrize(
    ("origin", "state"),
    [
        (None, "skipped"),
        (SITE, "ok"),
        ("https://other.example", "failed"),
        ("https://a.example/docs", "failed"),
        ("http://[", "failed"),
    ],
)
def test_cors_as_a_browser_sees_it(origin: str | None, state: str) -> None:
    assert _found(FakeApi(), origin=origin)["CORS"].state == state


def test_api_open_to_every_site_is_a_warning() -> None:
    api = FakeApi()
    api.origins = (SITE, FOREIGN_ORIGIN)
    assert _found(api)["CORS"].state == "warning"


def test_nothing_more_is_checked_where_nothing_answers() -> None:
    found = list(checks(HttpApi("http://127.0.0.1:9"), CheckOptions("How?")))
    assert [(each.check, each.state) for each in found] == [("reachable", "failed")]
    assert not none_failed(found)


@pytest.mark.parametrize(("status", "state"), [(401, "ok"), (403, "ok"), (200, "warning"), (429, None), (503, None)])
def test_key_is_needed_or_not_only_where_the_answer_says_so(status: int, state: str | None) -> None:
    def request(method: str, url: str, *, headers: Mapping[str, str], **_: Any) -> httpx.Response:
        known = url.endswith("/health") or "x-api-key" in headers
        return httpx.Response(200 if known else status, json={})

    found = {each.check: each.state for each in checks(HttpApi("https://x.example", "key", request), CheckOptions("?"))}
    assert found.get("key") == state


@pytest.mark.parametrize("body", [{}, {"collection": None}, {"collection": {}, "profiles": None}, {"profiles": [1]}])
def test_another_service_at_the_address_is_told(body: object) -> None:
    api = HttpApi("https://x.example", None, lambda *_, **__: httpx.Response(200, json=body))
    found = list(checks(api, CheckOptions("?")))
    assert [each.found.endswith("is not Passage's.") for each in found if each.state == "failed"] == [True]


def test_failed_invocation_is_unreachable() -> None:
    class Lambda:
        def invoke(self, **_: object) -> dict[str, Any]:
            from io import BytesIO

            return {"FunctionError": "Unhandled", "Payload": BytesIO(b'{"errorMessage": "no module"}')}

    with pytest.raises(Unreachable, match="no module"):
        by_invocation(Lambda(), "arn").ask(Request("GET", "/health"))


def test_result_that_is_no_response_is_unreachable() -> None:
    with pytest.raises(Unreachable, match="not an HTTP response"):
        FunctionApi(lambda _: {"hello": 1}).ask(Request("GET", "/health"))


def test_a_finding_prints_its_advice_below() -> None:
    assert lines(Finding("failed", "CORS", "No.", "Add it.")) == ["FAIL  CORS: No.", "      -> Add it."]
