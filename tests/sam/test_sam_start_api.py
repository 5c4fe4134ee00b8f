"""`sam local start-api`: every route, and what an API in front could spoil of each contract's questions."""

import base64
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from alike import alike
from conftest import EVENTS, ROOT
from handler.config import profiles
from handler.entrypoints.http.routes import ROUTES as ALL_ROUTES
from tools.runtime import Runtime

ORIGIN = "http://localhost:3000"
QUESTION = "What is a digital twin?"
ROUTES = [(route.method, route.path) for route in ALL_ROUTES if route.summary]
FEEDBACK = {"url": "https://physical-ai.example/", "helpful": True}
EXPECTED = tomllib.loads((ROOT / "tests" / "contracts" / "expected.toml").read_text(encoding="utf-8"))
HTTP_MATTERS = ("success", "get", "body", "plain-text", "text-in-other-scripts", "text-half")
"""Events in which there is something that an API in front could spoil: query strings, odd bodies, other media types."""
FAIR = [
    EVENTS / "contracts" / profile / f"{name}.json"
    for profile, cases in EXPECTED.items()
    for name, case in cases.items()
    if "circumstance" not in case and name.startswith(HTTP_MATTERS)
]
"""The events under which the services work; the containers of SAM know no bad weather."""


@pytest.fixture(scope="session")
def client(api: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=api, headers={"Origin": ORIGIN}, timeout=60) as client:
        yield client


@pytest.fixture(scope="session")
def chunk(client: httpx.Client) -> str:
    """The id of a point of the default profile's collection."""
    found = client.post("/query", json={"text": QUESTION, "k": 1}).raise_for_status()
    return str(found.json()["results"][0]["chunk_id"].rsplit("_", 1)[0])


def _cors(response: httpx.Response) -> tuple[str | None, str | None]:
    return response.headers.get("Access-Control-Allow-Origin"), response.headers.get("Vary")


@pytest.mark.parametrize(("method", "path"), ROUTES, ids=[f"{method} {path}" for method, path in ROUTES])
def test_route(client: httpx.Client, chunk: str, method: str, path: str) -> None:
    for profile in profiles.names() if path.endswith(("/query", "/collection")) else ["query-response"]:
        url = path.format(profile=profile, id=chunk)
        text = profiles.load(profile if "{profile}" in path else "query-response").query.text.names[0]
        asked = {text: QUESTION} if path.endswith("/query") else FEEDBACK if path == "/feedback" else {}
        response = client.get(url, params=asked) if method == "GET" else client.request(method, url, json=asked)
        assert response.status_code == (204 if path == "/feedback" else 200), response.text
        assert _cors(response) == (ORIGIN, "Origin")
        if path == "/feedback":
            continue
        assert response.headers["Content-Type"].startswith("text/html" if path == "/docs" else "application/json")
        if path.endswith("/query"):
            assert response.json().get("results") or response.json()["chunks"]


def test_preflight_is_the_functions_own(client: httpx.Client) -> None:
    response = client.options("/query", headers={"Access-Control-Request-Method": "POST"})
    assert response.status_code == 204
    assert _cors(response) == (ORIGIN, "Origin")


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/nothing/here", 404), ("DELETE", "/query", 405)])
def test_unknown_path_is_answered_by_the_function(client: httpx.Client, method: str, path: str, status: int) -> None:
    response = client.request(method, path)
    assert response.status_code == status
    assert response.json()["code"] == "INVALID_INPUT"
    assert _cors(response) == (ORIGIN, "Origin")


@pytest.mark.parametrize("question", FAIR, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_contract(client: httpx.Client, source: Runtime, question: Path) -> None:
    event = json.loads(question.read_text(encoding="utf-8"))
    response = _send(client, event)
    expected = source.invoke(event)
    assert response.status_code == expected["statusCode"], response.text
    for name in ("Content-Type", "Access-Control-Allow-Origin", "Vary", "X-Passage-Results-Left-Out"):
        assert response.headers.get(name) == expected["headers"].get(name)
    alike(response.text, expected["body"])


def _send(client: httpx.Client, event: dict[str, Any]) -> httpx.Response:
    """The request that an API turns into `event`."""
    body = event.get("body", "")
    return client.request(
        event["requestContext"]["http"]["method"],
        f"{event['rawPath']}?{event['rawQueryString']}",
        headers={name: value for name, value in event["headers"].items() if name not in ("host", "content-length")},
        content=base64.b64decode(body) if event["isBase64Encoded"] else body.encode(),
    )
