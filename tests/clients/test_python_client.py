"""The Python client, sync and async, against prepared answers and against the API."""

import asyncio
import inspect
import sys
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

import passage_client
from clients.scripted import Reply, Script
from conftest import ROOT
from passage_client import AsyncPassage, NoAnswer, Passage, PassageError, TimedOut, protocol
from programs import run

ERROR = {"error": "Wait.", "code": "SERVICE_UNAVAILABLE", "timestamp": "2026-01-01T00:00:00Z"}
PAGE = "https://docs.example/twins/"

Call = Callable[..., Any]
"""Makes a client and calls one of its methods: `call(url, method, *arguments, options=…, **named)`."""


def _sync(url: str, method: str, *arguments: Any, options: dict[str, Any] | None = None, **named: Any) -> Any:
    with Passage(url, **(options or {})) as passage:
        return getattr(passage, method)(*arguments, **named)


def _asynchronous(url: str, method: str, *arguments: Any, options: dict[str, Any] | None = None, **named: Any) -> Any:
    async def run() -> Any:
        async with AsyncPassage(url, **(options or {})) as passage:
            return await getattr(passage, method)(*arguments, **named)

    return anyio.run(run)


@pytest.fixture(params=[_sync, _asynchronous], ids=["sync", "async"])
def call(request: pytest.FixtureRequest) -> Call:
    chosen: Call = request.param
    return chosen


def raised(call: Call, url: str, **options: Any) -> PassageError:
    with pytest.raises(PassageError) as caught:
        call(url, "ask", "What?", options=options)
    return caught.value


def test_text_is_sent_as_question_beside_the_fields(call: Call, script: Script) -> None:
    call(script.url, "ask", "What?", k=3, options={"key": "k1", "headers": {"X-Site": "docs"}})
    (request,) = script.requests
    assert (request.method, request.path, request.body) == (
        "POST",
        "/live/query",
        {"titles": True, "question": "What?", "k": 3},
    )
    assert request.headers["x-api-key"] == "k1"
    assert request.headers["x-site"] == "docs"
    assert request.headers["user-agent"].startswith("passage-client/")


def test_profile_is_part_of_the_path_and_encoded(call: Call, script: Script) -> None:
    mine = {"profile": "a b"}
    call(f"{script.url}//", "ask", {"text": "What?"}, options=mine)
    call(script.url, "ask", "What?", profile="ranked", options=mine)
    call(script.url, "chunk", "1/2_0", with_vectors=True, options=mine)
    call(script.url, "collection", options=mine)
    assert [request.path for request in script.requests] == [
        "/live/profiles/a%20b/query",
        "/live/profiles/ranked/query",
        "/live/profiles/a%20b/chunks/1%2F2_0?with_vectors=true",
        "/live/profiles/a%20b/collection",
    ]


def test_chunks_without_a_profile_are_the_default_ones(call: Call, script: Script) -> None:
    script.play(Reply(body={"default": "context", "profiles": []}), Reply())
    call(script.url, "chunk", 7)
    assert [request.path for request in script.requests] == ["/live/profiles", "/live/profiles/context/chunks/7"]


def test_feedback_names_the_profile_and_returns_none(call: Call, script: Script) -> None:
    script.play(Reply(204, ""))
    assert call(script.url, "feedback", PAGE, helpful=False, options={"profile": "ranked"}) is None
    assert script.requests[0].body == {"profile": "ranked", "url": PAGE, "helpful": False}


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_throttled_call_is_tried_again_after_retry_after(status: int, call: Call, script: Script) -> None:
    script.play(Reply(status, ERROR, {"Retry-After": "0.05"}), Reply(body={"k": 1}))
    assert call(script.url, "ask", "What?") == {"k": 1}
    assert len(script.requests) == 2


def test_last_error_is_raised_with_its_seconds(call: Call, script: Script) -> None:
    script.play(Reply(429, ERROR, {"Retry-After": "0"}))
    error = raised(call, script.url, retries=1)
    assert (type(error), error.status, error.code, error.retry_after, str(error), error.body) == (
        passage_client.RateLimited,
        *(429, "SERVICE_UNAVAILABLE", 0, "Wait.", ERROR),
    )
    assert len(script.requests) == 2


def test_server_error_is_tried_again_once(call: Call, script: Script) -> None:
    script.play(Reply(500, ERROR, {"Retry-After": "0"}))
    raised(call, script.url)
    assert len(script.requests) == 2


def test_broken_connection_is_tried_again(call: Call) -> None:
    sent: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        if len(sent) == 1:
            raise httpx.RemoteProtocolError("Server disconnected.")
        return httpx.Response(200, json={"k": 1})

    kind = httpx.Client if call is _sync else httpx.AsyncClient
    http = kind(transport=httpx.MockTransport(answer))
    assert call("http://docs.example", "ask", "What?", options={"http": http}) == {"k": 1}


def test_unknown_field_is_a_type_error(call: Call, script: Script) -> None:
    with pytest.raises(TypeError, match="no field 'limit'"):
        call(script.url, "ask", "What?", limit=3)
    assert script.requests == []


def test_answer_has_attributes_headers_and_request_id(call: Call, script: Script) -> None:
    ids = {"X-Amzn-RequestId": "r1"}
    script.play(Reply(body={"results": [{"url": PAGE}]}, headers=ids), Reply(400, ERROR, ids))
    answer = call(script.url, "ask", "What?")
    assert answer.results[0].url == answer["results"][0]["url"] == PAGE
    assert (answer.warnings, answer.request_id, answer.headers["x-amzn-requestid"]) == (None, "r1", "r1")
    with pytest.raises(AttributeError, match="no field 'total'"):
        _ = answer.total
    error = raised(call, script.url)
    assert (error.request_id, error.headers["x-amzn-requestid"]) == ("r1", "r1")


def test_url_and_key_come_from_the_environment(call: Any, script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TypeError, match="PASSAGE_URL"):
        call(None, "ask", "What?")
    monkeypatch.setenv("PASSAGE_URL", script.url)
    monkeypatch.setenv("PASSAGE_KEY", "k2")
    call(None, "ask", "What?")
    assert script.requests[0].headers["x-api-key"] == "k2"


def test_pages_follow_until_none_is_left(api_url: str) -> None:
    with Passage(api_url) as passage:
        answers = list(passage.pages("What is a digital twin?", k=80))
        found = [result.chunk_id for answer in answers for result in answer.results]
        assert found[:80] == [
            result.chunk_id for result in passage.ask("What is a digital twin?", k=80, offset=0).results
        ]

    async def run() -> list[Any]:
        async with AsyncPassage(api_url) as passage:
            return [answer async for answer in passage.pages("What is a digital twin?", k=80)]

    assert [answer.results for answer in anyio.run(run)] == [answer.results for answer in answers]
    assert len(set(found)) == len(found) > 80


def test_wait_beyond_the_timeout_is_not_begun(call: Call, script: Script) -> None:
    script.play(Reply(503, ERROR, {"Retry-After": "600"}))
    error = raised(call, script.url, timeout=5)
    assert (type(error), error.retry_after, len(script.requests)) == (passage_client.Unavailable, 600, 1)


@pytest.mark.parametrize("value", ["soon", "-1", "nan", "inf", "²", "Oct 9999 07:28:00 _ +99999999999 inf +9999 _"])
def test_unreadable_retry_after_is_none(value: str) -> None:
    assert protocol._seconds(value) is None


def test_retry_after_as_a_date_is_read(call: Call, script: Script) -> None:
    date = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    script.play(Reply(503, ERROR, {"Retry-After": date}))
    assert raised(call, script.url).retry_after == pytest.approx(3600, abs=60)


@pytest.mark.parametrize(
    ("status", "name"),
    {
        400: "InvalidRequest",
        401: "Forbidden",
        403: "Forbidden",
        404: "NotFound",
        405: "InvalidRequest",
        408: "TimedOut",
        413: "InvalidRequest",
        429: "RateLimited",
        500: "ServerError",
        502: "Unavailable",
        503: "Unavailable",
        504: "TimedOut",
    }.items(),
)
def test_each_status_has_its_class(status: int, name: str, call: Call, script: Script) -> None:
    script.play(Reply(status, {"error": {"code": "X", "message": "Nested."}}))
    error = raised(call, script.url, retries=0)
    assert (type(error), error.code, str(error)) == (getattr(passage_client, name), "X", "Nested.")
    assert len(script.requests) == 1


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (Reply(403, {"message": "Forbidden"}), "Forbidden"),
        (Reply(502, "<html>Bad Gateway</html>"), "The API answered 502."),
        (Reply(400, ["list"]), "The API answered 400."),
        (Reply(200, "<!doctype html>"), "The answer is not JSON: the URL is not the API's."),
    ],
    ids=["gateway", "html", "list", "page"],
)
def test_other_servers_answer_is_an_error(reply: Reply, message: str, call: Call, script: Script) -> None:
    script.play(reply)
    error = raised(call, script.url, retries=0)
    assert (str(error), error.code) == (message, None)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1", "docs.example", "http://[", "http://docs.example\n", ""])
def test_address_without_a_server_is_no_answer(call: Call, url: str) -> None:
    assert isinstance(raised(call, url, retries=0), NoAnswer)


def test_no_answer_within_the_timeout_is_timed_out(call: Call, script: Script) -> None:
    script.play(Reply(hold=True))
    assert isinstance(raised(call, script.url, timeout=0.1), TimedOut)


def test_cancelled_task_ends_the_wait_for_a_retry(script: Script) -> None:
    script.play(Reply(429, ERROR, {"Retry-After": "20"}))

    async def run() -> None:
        async with AsyncPassage(script.url) as passage:
            task = asyncio.create_task(passage.ask("What?"))
            while not script.requests:
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(run())
    assert len(script.requests) == 1


def test_own_httpx_client_stays_open(script: Script) -> None:
    with httpx.Client() as http:
        with Passage(script.url, http=http) as passage:
            passage.ask("What?")
        assert not http.is_closed


def test_every_profile_is_asked_and_its_first_chunk_read(call: Call, api_url: str) -> None:
    found = call(api_url, "profiles")["profiles"]
    for profile in found:
        options = {"profile": profile["name"]}
        answer = call(api_url, "ask", "What is a digital twin?", k=3, options=options)
        (first, *_) = answer.get("results") or answer["chunks"]
        chunk_id = first["chunk_id"] if "chunk_id" in first else first["id"]
        assert call(api_url, "chunk", chunk_id, options=options)["payload"]
        assert call(api_url, "collection", options=options)["points_count"] > 0
        call(api_url, "feedback", PAGE, helpful=True, chunk_id=chunk_id, options=options)


def test_apis_own_errors_have_their_classes(call: Call, api_url: str) -> None:
    with pytest.raises(passage_client.InvalidRequest, match="blank"):
        call(api_url, "ask", " ")
    with pytest.raises(passage_client.NotFound):
        call(api_url, "chunk", "999999999999")


def test_both_clients_have_the_same_methods() -> None:
    def methods(kind: type) -> dict[str, list[inspect.Parameter]]:
        public = {name: value for name, value in vars(kind).items() if name[0] != "_"}
        return {name: list(inspect.signature(value).parameters.values()) for name, value in public.items()}

    assert methods(Passage) == methods(AsyncPassage)


def test_wheel_holds_the_package_and_its_types(tmp_path: Path) -> None:
    folder = ROOT / "clients" / "python"
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path, cwd=folder)
    (wheel,) = tmp_path.glob("passage_client-*-py3-none-any.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    modules = {f"passage_client/{path.name}" for path in (folder / "src" / "passage_client").glob("*.py")}
    assert modules | {"passage_client/py.typed"} <= names
