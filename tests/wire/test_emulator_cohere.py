"""What the Cohere emulator must share with the real service, asked by the real SDK."""

from collections.abc import Iterator
from typing import Any

import cohere
import httpx
import pytest
from cohere import V2ChatResponse
from cohere.core.api_error import ApiError
from pydantic import BaseModel

from passage.emulators.cohere.embed import MODELS
from tools.doubles import EmulatorServer, cohere_emulator

V3 = "embed-english-v3.0"
TEXT = "How do I install it?"
ASKED: dict[str, Any] = {"model": V3, "input_type": "search_query", "texts": [TEXT]}
RERANK: dict[str, Any] = {"model": "rerank-v4.0-fast", "query": "how to install the tool"}
CHAT: dict[str, Any] = {
    "model": "command-r-08-2024",
    "messages": [{"role": "user", "content": "How do I install the tool?"}],
}
DOCUMENTS = ["bananas are yellow", "install the tool with pip", "the tool can be configured"]


@pytest.fixture(scope="module")
def server() -> Iterator[EmulatorServer]:
    with cohere_emulator(api_key="right") as running:
        yield running


@pytest.fixture(scope="module")
def http(server: EmulatorServer) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, headers={"Authorization": "Bearer right"}) as client:
        yield client


@pytest.fixture(scope="module")
def client(server: EmulatorServer, http: httpx.Client) -> cohere.ClientV2:
    return cohere.ClientV2("right", base_url=server.url, max_retries=0, timeout=5, httpx_client=http)


def test_answer_has_the_shape_of_version_2(http: httpx.Client) -> None:
    body = http.post("/v2/embed", json=ASKED).json()
    assert set(body) == {"id", "embeddings", "texts", "meta", "response_type"}
    assert (body["response_type"], list(body["embeddings"])) == ("embeddings_by_type", ["float"])
    assert body["meta"]["api_version"] == {"version": "2"}
    assert body["meta"]["billed_units"]["input_tokens"] > 0


@pytest.mark.parametrize("model", MODELS)
def test_each_model_has_its_dimensions(client: cohere.ClientV2, model: str) -> None:
    sizes = MODELS[model].dimensions
    for asked in (None, *(sizes if len(sizes) > 1 else ())):
        options: dict[str, Any] = {} if asked is None else {"output_dimension": asked}
        reply = client.embed(model=model, input_type="search_document", texts=["a", ""], **options)
        assert reply.embeddings.float_ is not None
        assert [len(vector) for vector in reply.embeddings.float_] == [asked or sizes[0]] * 2


def test_text_beyond_the_context_is_cut_silently(client: cohere.ClientV2) -> None:
    long, longer = "word " * 600, "word " * 600 + "banana"
    reply = client.embed(model=V3, input_type="search_document", texts=[long, longer])
    assert reply.embeddings.float_ is not None
    assert reply.embeddings.float_[0] == reply.embeddings.float_[1]
    with pytest.raises(cohere.BadRequestError):
        client.embed(model=V3, input_type="search_document", texts=[longer], truncate="NONE")


def test_rerank_orders_by_relevance(client: cohere.ClientV2) -> None:
    results = client.rerank(**RERANK, documents=DOCUMENTS).results
    scores = [result.relevance_score for result in results]
    assert results[0].index == 1
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    assert [result.index for result in client.rerank(**RERANK, documents=DOCUMENTS, top_n=1).results] == [1]


def unknown(part: object) -> list[str]:
    """Fields of an answer that the SDK's types do not have."""
    if isinstance(part, list):
        return [name for one in part for name in unknown(one)]
    if not isinstance(part, BaseModel):
        return []
    return [*(part.model_extra or {}), *(name for one in part.__dict__.values() for name in unknown(one))]


def test_chat_answers_in_the_types_of_the_sdk(client: cohere.ClientV2, http: httpx.Client) -> None:
    tool = "**Install** the tool with pip. It needs Python. Then run it once."
    given = [
        {"id": "1", "data": {"title": "Fruit", "snippet": "Bananas are yellow, and ripe."}},
        {"data": {"text": tool}},
    ]
    answer = client.chat(**CHAT, documents=given, max_tokens=400, temperature=0)
    assert unknown(answer) == []
    assert (answer.finish_reason, answer.message.role) == ("COMPLETE", "assistant")
    (content,), citations = answer.message.content or [], answer.message.citations or []
    assert "Install the tool with pip." in content.text
    assert [content.text[one.start : one.end] for one in citations] == [one.text for one in citations]
    assert {source.id for one in citations for source in one.sources or []} <= {"1", "doc:1"}
    assert any((one.sources or [])[0].document == {"text": tool, "id": "doc:1"} for one in citations)
    raw = http.post("/v2/chat", json=CHAT | {"documents": given}).json()
    V2ChatResponse.model_validate(raw, strict=True)
    assert raw["usage"]["billed_units"]["input_tokens"] > raw["usage"]["billed_units"]["output_tokens"] > 0
    for options in ({"citation_options": {"mode": "OFF"}}, {"documents": []}):
        answer = client.chat(**CHAT, **{"documents": given, **options})
        assert (answer.message.citations, bool(answer.message.content)) == (None, True)


@pytest.mark.parametrize(
    ("path", "change", "status", "message"),
    [
        ("embed", {"model": "embed-english-v9.0"}, 404, "model 'embed-english-v9.0' not found"),
        ("embed", {"model": "embed-multilingual-v2.0"}, 404, "model 'embed-multilingual-v2.0' not found"),
        ("embed", {"texts": ["x"] * 97}, 400, "total number of texts must be at most 96 - received 97"),
        ("embed", {"texts": []}, 400, "at least one text"),
        ("embed", {"input_type": None}, 400, "valid input_type must be provided"),
        ("embed", {"output_dimension": 512}, 400, "output_dimension is not supported"),
        ("embed", {"model": "embed-v4.0", "output_dimension": 300}, 400, "256, 512, 1024, 1536"),
        ("embed", {"embedding_types": ["float64"]}, 400, "float64"),
        ("embed", {"texts": 7}, 400, "texts"),
        ("rerank", {"model": "rerank-v9"}, 404, "model 'rerank-v9' not found"),
        ("rerank", {"documents": []}, 400, "documents"),
        ("rerank", {"top_n": 0}, 400, "top_n"),
        ("chat", {"model": "embed-v4.0"}, 404, "model 'embed-v4.0' not found"),
        ("chat", {"messages": []}, 400, "messages"),
        ("chat", {"messages": [{"role": "bot", "content": "x"}]}, 400, "role"),
        ("chat", {"messages": [{"role": "assistant", "content": "x"}]}, 400, "last message"),
        ("chat", {"documents": [{"text": "x"}]}, 400, "data"),
        ("chat", {"stream": True}, 400, "stream"),
        ("none", {}, 404, "not found"),
    ],
)
def test_refusal_has_its_status_and_message(
    path: str, change: dict[str, Any], status: int, message: str, http: httpx.Client
) -> None:
    body = {"embed": ASKED, "chat": CHAT}.get(path, RERANK | {"documents": DOCUMENTS}) | change
    reply = http.post(f"/v2/{path}", json=body)
    assert (reply.status_code, set(reply.json())) == (status, {"id", "message"})
    assert message in reply.json()["message"]


def test_wrong_key_is_401(server: EmulatorServer, http: httpx.Client) -> None:
    with pytest.raises(ApiError) as caught:
        cohere.ClientV2("wrong", base_url=server.url, max_retries=0, httpx_client=http).embed(**ASKED)
    assert (caught.value.status_code, caught.value.body["message"]) == (401, "invalid api token")


def test_faults_and_requests_over_http(server: EmulatorServer, http: httpx.Client) -> None:
    """The control routes of docs/how-to.md."""
    assert http.post("/_emulator/faults", json={"kind": "status", "status": 429, "retry_after": 2}).is_success
    reply = http.post("/v2/embed", json=ASKED)
    assert (reply.status_code, reply.headers["retry-after"]) == (429, "2")
    assert "right" not in http.get("/_emulator/requests").text
    refused = http.post("/_emulator/faults", json={"kind": "burn"})
    assert refused.status_code == 400
    assert "status, drop, slow, malformed" in refused.json()["error"]
    assert http.delete("/_emulator/faults").is_success
    assert http.post("/v2/embed", json=ASKED).is_success
