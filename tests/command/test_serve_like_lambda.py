"""`passage serve` passes requests on as a gateway does, and refuses what Lambda would not take, as JSON with CORS."""

import asyncio
import gzip
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import aiohttp
import httpx
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from hypothesis import given, settings
from hypothesis import strategies as st
from yarl import URL

from passage.local.serve import application, runner
from serving import served

ORIGIN = "http://localhost:3000"
BODY = json.dumps({"text": "What is a digital twin?", "k": 1})


@pytest.fixture(scope="module")
def url(textbook_index: Path) -> Iterator[str]:
    with served(
        {
            "STORE": "qdrant_edge",
            "EDGE_INDEX_PATH": str(textbook_index),
            "COHERE_API_KEY": "key",
            "COHERE_BASE_URL": "http://127.0.0.1:1",
        }
    ) as running:
        yield running


def post(url: str, body: bytes, **headers: str) -> httpx.Response:
    return httpx.post(f"{url}/query", content=body, headers={"origin": ORIGIN, **headers}, timeout=60)


@pytest.mark.parametrize("body", [BODY.encode(), gzip.compress(BODY.encode()), b""], ids=["plain", "gzip", "empty"])
def test_gzip_header_gets_json_with_cors(url: str, body: bytes) -> None:
    """Lambda gets the bytes as sent: plain JSON is read with any header, and compressed bytes are not text."""
    answer = post(url, body, **{"content-encoding": "gzip"})
    assert answer.status_code == (503 if body.startswith(b"{") else 400)
    assert answer.headers["access-control-allow-origin"] == ORIGIN
    assert "error" in answer.json()


@pytest.mark.parametrize("size", [6_291_456, 13_000_000])
def test_request_too_large_for_lambda_is_413_with_cors(url: str, size: int) -> None:
    answer = post(url, b"a" * size)
    assert (answer.status_code, answer.json()) == (413, {"message": "Request Too Long"})
    assert answer.headers["access-control-allow-origin"] == ORIGIN
    assert "access-control-allow-origin" not in post(url, b"a" * size, origin="https://evil.example").headers


@pytest.mark.parametrize(("size", "status"), [(8_500, 200), (11_000, 414), (60_000, 414)])
def test_long_get_is_answered_as_json(url: str, size: int, status: int) -> None:
    """aiohttp refuses a line over 8 KB as text; API Gateway takes 10 KB."""
    answer = httpx.get(f"{url}/health?x={'a' * size}", headers={"origin": ORIGIN})
    assert answer.status_code == status
    assert answer.json()
    assert answer.headers["access-control-allow-origin"] == ORIGIN


def test_request_just_below_the_limit_reaches_the_function(url: str) -> None:
    assert post(url, b"a" * 6_280_000).status_code == 400


@given(st.lists(st.text("ab %+&=;#é25", max_size=8), min_size=1, max_size=20))
@settings(deadline=None, max_examples=20)
def test_parameters_are_decoded_once(texts: list[str]) -> None:
    events: list[dict[str, Any]] = []

    def keep(event: dict[str, Any], _: object) -> dict[str, Any]:
        events.append(event)
        return {"statusCode": 200, "body": ""}

    async def ask() -> None:
        async with TestClient(TestServer(application(keep))) as client:
            for text in texts:
                await client.get(URL(f"/query?text={quote(text, safe='')}", encoded=True))

    asyncio.run(ask())
    assert [event["queryStringParameters"]["text"] for event in events] == texts
    assert [event["rawQueryString"] for event in events] == [f"text={quote(text, safe='')}" for text in texts]


WHOLE = b"POST /query HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"


@pytest.mark.parametrize("sent", [WHOLE, WHOLE[:-1]], ids=["waits for its answer", "sent half of its body"])
def test_client_that_goes_away_costs_no_call_and_no_line(sent: bytes, caplog: pytest.LogCaptureFixture) -> None:
    calls: list[str] = []
    started, released = threading.Event(), threading.Event()

    def slow(event: dict[str, Any], _: object) -> dict[str, Any]:
        calls.append(event["rawPath"])
        started.set()
        released.wait(30)
        return {"statusCode": 200, "body": "answer"}

    async def until(count: int, running: web.AppRunner) -> None:
        async with asyncio.timeout(30):
            while len(running.server.connections) != count:
                await asyncio.sleep(0.01)

    async def ask() -> str:
        running = runner(slow)
        await running.setup()
        try:
            await web.TCPSite(running, "127.0.0.1", 0).start()
            host, port = running.addresses[0][:2]
            async with aiohttp.ClientSession(f"http://{host}:{port}") as client:
                first = asyncio.create_task(client.get("/first"))
                await asyncio.to_thread(started.wait, 30)
                _, gone = await asyncio.open_connection(host, port)
                gone.write(sent)
                await until(2, running)
                gone.transport.abort()
                await until(1, running)
                released.set()
                await first
                return await (await client.get("/last")).text()
        finally:
            await running.cleanup()

    assert asyncio.run(ask()) == "answer"
    assert calls == ["/first", "/last"]
    assert caplog.records == []
