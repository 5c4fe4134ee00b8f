"""The Cohere emulator, driven by the real SDK over real HTTP."""

import base64
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import cohere
import httpx
import numpy as np
import pytest
from cohere.core.api_error import ApiError

from passage.emulators import EmulatorServer, Fault, FaultPlan, cohere_emulator
from passage.emulators.cohere.models import EMBED_MODELS
from passage.emulators.control import parse_faults
from passage.emulators.embedding import embed

V3 = "embed-english-v3.0"
ASKED: dict[str, Any] = {"model": V3, "input_type": "search_query", "texts": ["How do I install it?"]}

http = httpx.Client()  # one for all: making a client takes longer than most of these requests


@pytest.fixture(scope="module", autouse=True)
def _close_http() -> Iterator[None]:
    yield
    http.close()


@pytest.fixture(scope="module")
def running() -> Iterator[EmulatorServer]:
    with cohere_emulator() as server:
        yield server


@pytest.fixture
def server(running: EmulatorServer) -> Iterator[EmulatorServer]:
    running.requests.clear()
    yield running
    running.faults.clear()
    running.latency_ms = 0


@pytest.fixture
def pool() -> Iterator[httpx.Client]:
    """Connections for a test's SDK clients, which have no close()."""
    with httpx.Client() as client:
        yield client


@pytest.fixture
def client(server: EmulatorServer, pool: httpx.Client) -> cohere.ClientV2:
    return cohere.ClientV2("any-key", base_url=server.url, max_retries=0, timeout=5, httpx_client=pool)


@pytest.fixture
def client_v1(server: EmulatorServer, pool: httpx.Client) -> cohere.Client:
    return cohere.Client("any-key", base_url=server.url, max_retries=0, timeout=5, httpx_client=pool)


def post(server: EmulatorServer, path: str, body: object, key: str = "any-key") -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return http.post(server.url + path, content=content, headers={"Authorization": f"Bearer {key}"})


# --- vectors


def test_float_and_base64_carry_the_same_32_bit_numbers(client: cohere.ClientV2) -> None:
    reply = client.embed(**ASKED, embedding_types=["float", "base64"])
    assert reply.embeddings.float_ is not None
    assert reply.embeddings.base64 is not None
    decoded = np.frombuffer(base64.b64decode(reply.embeddings.base64[0]), dtype="<f4")
    assert decoded.shape == (1024,)
    assert (decoded == np.asarray(reply.embeddings.float_[0], dtype=np.float32)).all()
    assert reply.embeddings.float_[0] == embed(ASKED["texts"], 1024)[0]


def test_the_response_has_the_shape_of_version_2(server: EmulatorServer) -> None:
    body = post(server, "/v2/embed", ASKED).json()
    assert set(body) == {"id", "embeddings", "texts", "meta", "response_type"}
    assert body["response_type"] == "embeddings_by_type"
    assert list(body["embeddings"]) == ["float"]
    assert body["texts"] == ASKED["texts"]
    assert body["meta"]["api_version"] == {"version": "2"}
    assert body["meta"]["billed_units"]["input_tokens"] > 0


@pytest.mark.parametrize("model", EMBED_MODELS)
def test_each_model_has_its_dimension(client: cohere.ClientV2, model: str) -> None:
    reply = client.embed(model=model, input_type="search_document", texts=["a", "b"])
    assert reply.embeddings.float_ is not None
    assert [len(vector) for vector in reply.embeddings.float_] == [EMBED_MODELS[model].dimensions[0]] * 2


@pytest.mark.parametrize("dimension", [256, 512, 1024, 1536])
def test_embed_v4_has_the_dimension_asked_for(client: cohere.ClientV2, dimension: int) -> None:
    reply = client.embed(model="embed-v4.0", input_type="search_query", texts=["a"], output_dimension=dimension)
    assert reply.embeddings.float_ is not None
    assert len(reply.embeddings.float_[0]) == dimension


@pytest.mark.parametrize("dimension", [8, 64, 256, 384, 768, 3072])
def test_vectors_are_unit_vectors_of_any_dimension(dimension: int) -> None:
    vectors = np.asarray(embed(["install the tool", "", "  \n", "日本語", "\ud800 half an emoji"], dimension))
    assert vectors.shape == (5, dimension)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)


def test_padding_keeps_cosines() -> None:
    texts = ["install the tool", "how to set it up"]
    narrow, wide = np.asarray(embed(texts, 256)), np.asarray(embed(texts, 1024))
    assert narrow[0] @ narrow[1] == pytest.approx(wide[0] @ wide[1], abs=1e-9)
    assert not wide[:, 256:].any()


def test_vector_does_not_depend_on_the_other_texts() -> None:
    alone = embed(["install the tool"], 1024)[0]
    assert embed(["x", "install the tool", "a much longer text " * 50], 1024)[1] == alone


def test_blank_texts_get_a_plausible_vector(client: cohere.ClientV2) -> None:
    reply = client.embed(model=V3, input_type="search_query", texts=["", "  \n\t"])
    assert reply.embeddings.float_ is not None
    assert reply.embeddings.float_[0] == reply.embeddings.float_[1]
    assert np.linalg.norm(reply.embeddings.float_[0]) == pytest.approx(1.0, abs=1e-6)


def test_lone_surrogates_are_replaced(server: EmulatorServer) -> None:
    reply = post(server, "/v2/embed", ASKED | {"texts": ["\ud800 x"]})
    assert reply.status_code == 200
    assert reply.json()["texts"] == ["\ufffd x"]


def test_text_beyond_the_context_is_cut_silently(client: cohere.ClientV2) -> None:
    long, longer = "word " * 600, "word " * 600 + "banana"
    reply = client.embed(model=V3, input_type="search_document", texts=[long, longer])
    assert reply.embeddings.float_ is not None
    assert reply.embeddings.float_[0] == reply.embeddings.float_[1]
    with pytest.raises(cohere.BadRequestError):
        client.embed(model=V3, input_type="search_document", texts=[longer], truncate="NONE")


def test_inputs_are_embedded_like_texts(client: cohere.ClientV2) -> None:
    inputs: Any = [{"content": [{"type": "text", "text": ASKED["texts"][0]}]}]
    reply = client.embed(model=V3, input_type="search_query", inputs=inputs)
    assert reply.embeddings.float_ == client.embed(**ASKED).embeddings.float_


@pytest.mark.parametrize(("kind", "length"), [("int8", 1024), ("uint8", 1024), ("binary", 128), ("ubinary", 128)])
def test_compressed_types(client: cohere.ClientV2, kind: str, length: int) -> None:
    reply = client.embed(**ASKED, embedding_types=[kind])
    assert len(getattr(reply.embeddings, kind)[0]) == length
    assert reply.embeddings.float_ is None


def test_version_1_answers_plainly_and_by_type(server: EmulatorServer, client_v1: cohere.Client) -> None:
    plain = client_v1.embed(**ASKED)
    assert plain.response_type == "embeddings_floats"
    assert plain.embeddings == embed(ASKED["texts"], 1024)
    typed = post(server, "/v1/embed", ASKED | {"embedding_types": ["float"]}).json()
    assert typed["response_type"] == "embeddings_by_type"
    assert typed["embeddings"] == {"float": plain.embeddings}


# --- rerank and the rest


def test_rerank_orders_by_relevance(client: cohere.ClientV2) -> None:
    documents = ["bananas are yellow", "install the tool with pip", "the tool can be configured"]
    results = client.rerank(model="rerank-v4.0-fast", query="how to install the tool", documents=documents).results
    assert results[0].index == 1
    assert sorted(result.index for result in results) == [0, 1, 2]
    scores = [result.relevance_score for result in results]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    best = client.rerank(model="rerank-v4.0-fast", query="how to install the tool", documents=documents, top_n=1)
    assert [result.index for result in best.results] == [1]


def test_rerank_version_1_returns_documents(client_v1: cohere.Client) -> None:
    documents: Any = [{"text": "bananas"}, "pip install"]
    reply = client_v1.rerank(model="rerank-english-v3.0", query="pip", documents=documents, return_documents=True)
    assert reply.results[0].document is not None
    assert reply.results[0].document.text == "pip install"


def test_models_and_key_check(server: EmulatorServer, client_v1: cohere.Client) -> None:
    names = {model.name for model in client_v1.models.list(endpoint="embed").models}
    assert names == set(EMBED_MODELS)
    assert post(server, "/v1/check-api-key", {}).json()["valid"] is True


# --- refusals


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"model": "embed-english-v9.0"}, cohere.NotFoundError, "model 'embed-english-v9.0' not found"),
        ({"texts": ["x"] * 97}, cohere.BadRequestError, "total number of texts must be at most 96 - received 97"),
        ({"texts": []}, cohere.BadRequestError, "at least one text"),
        ({"input_type": "nonsense"}, cohere.BadRequestError, "valid input_type must be provided"),
        ({"output_dimension": 512}, cohere.BadRequestError, "output_dimension is not supported"),
        ({"model": "embed-v4.0", "output_dimension": 300}, cohere.BadRequestError, "256, 512, 1024, 1536"),
        ({"embedding_types": ["float64"]}, cohere.BadRequestError, "float64"),
        ({"model": "embed-multilingual-v2.0"}, cohere.NotFoundError, "model 'embed-multilingual-v2.0' not found"),
        ({"truncate": "MIDDLE"}, cohere.BadRequestError, "truncate"),
    ],
)
def test_refusals(client: cohere.ClientV2, change: dict[str, Any], error: type[ApiError], message: str) -> None:
    with pytest.raises(error) as caught:
        client.embed(**(ASKED | change))
    assert set(caught.value.body) == {"id", "message"}
    assert message in caught.value.body["message"]


def test_missing_input_type_is_400(server: EmulatorServer) -> None:
    without = {name: value for name, value in ASKED.items() if name != "input_type"}
    assert post(server, "/v2/embed", without).status_code == 400


@pytest.mark.parametrize("body", [b"", b"{", b"null", b"[]", b'"text"', b"\xff", b'{"model": NaN}', b"[" * 100_000])
def test_bodies_that_are_not_an_object(server: EmulatorServer, body: bytes) -> None:
    reply = post(server, "/v2/embed", body)
    assert reply.status_code == 400
    assert reply.json()["message"].startswith("invalid request: ")


@pytest.mark.parametrize("field", ["model", "texts", "input_type", "embedding_types", "output_dimension", "inputs"])
@pytest.mark.parametrize("value", [7, {}, [1], [None], "", True, [[]]])
def test_no_field_of_a_wrong_type_is_an_internal_error(server: EmulatorServer, field: str, value: object) -> None:
    assert post(server, "/v2/embed", ASKED | {field: value}).status_code in {200, 400, 404}


@pytest.mark.parametrize("change", [{"documents": []}, {"documents": [1]}, {"top_n": 0}, {"query": ""}, {"model": 1}])
def test_rerank_refusals(server: EmulatorServer, change: dict[str, Any]) -> None:
    body = {"model": "rerank-v4.0-fast", "query": "q", "documents": ["d"]} | change
    assert post(server, "/v2/rerank", body).status_code == 400


def test_keys(pool: httpx.Client) -> None:
    with cohere_emulator(api_key="right") as server:
        assert post(server, "/v2/embed", ASKED, "right").status_code == 200
        assert http.post(server.url + "/v2/embed", json=ASKED).status_code == 401
        with pytest.raises(cohere.UnauthorizedError):
            cohere.ClientV2("wrong", base_url=server.url, max_retries=0, httpx_client=pool).embed(**ASKED)


def test_an_unknown_route_is_a_json_404(server: EmulatorServer) -> None:
    reply = post(server, "/v3/embed", ASKED)
    assert reply.status_code == 404
    assert set(reply.json()) == {"id", "message"}
    assert post(server, "/v1/models", {}).status_code == 405


# --- faults


def test_status_fault_with_retry_after(server: EmulatorServer, client: cohere.ClientV2) -> None:
    server.faults.add(Fault("status", status=429, retry_after=2))
    with pytest.raises(cohere.TooManyRequestsError) as caught:
        client.embed(**ASKED)
    assert caught.value.headers is not None
    assert caught.value.headers["retry-after"] == "2"
    client.embed(**ASKED)


def test_drop_before_the_answer(server: EmulatorServer, client: cohere.ClientV2) -> None:
    server.faults.add(Fault("drop"))
    with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
        client.embed(**ASKED)
    client.embed(**ASKED)


def test_drop_within_the_answer(server: EmulatorServer, client: cohere.ClientV2) -> None:
    server.faults.add(Fault("drop", at="response"))
    with pytest.raises(httpx.RemoteProtocolError, match="without sending complete message body"):
        client.embed(**ASKED)
    client.embed(**ASKED)


def test_slow_then_normal(server: EmulatorServer, pool: httpx.Client) -> None:
    impatient = cohere.ClientV2("any-key", base_url=server.url, max_retries=0, timeout=0.05, httpx_client=pool)
    server.faults.add(Fault("slow", delay_ms=200))
    with pytest.raises(httpx.ReadTimeout):
        impatient.embed(**ASKED)
    server.faults.add(Fault("slow", delay_ms=10))
    assert post(server, "/v2/embed", ASKED).status_code == 200


def test_latency_may_change_while_running(server: EmulatorServer, pool: httpx.Client) -> None:
    impatient = cohere.ClientV2("any-key", base_url=server.url, max_retries=0, timeout=0.05, httpx_client=pool)
    server.latency_ms = 200
    with pytest.raises(httpx.ReadTimeout):
        impatient.embed(**ASKED)
    assert http.get(server.url + "/_emulator/requests").status_code == 200


def test_malformed_bodies(server: EmulatorServer, client: cohere.ClientV2) -> None:
    server.faults.add(Fault("malformed"))
    with pytest.raises(ApiError) as caught:
        client.embed(**ASKED)
    assert caught.value.status_code == 200
    server.faults.add(Fault("malformed", body='{"id": "1", "embeddings": {"float": []}}'))
    assert client.embed(**ASKED).embeddings.float_ == []


def test_the_plan_counts_down_and_matches_paths() -> None:
    plan = FaultPlan()
    plan.add(Fault("drop", path="/v2/rerank"))
    plan.add(Fault("status", times=2))
    plan.add(Fault("slow", times=0))
    taken = [plan.take(path) for path in ["/v2/embed", "/v2/rerank", "/v2/rerank", "/v2/embed", "/v2/embed"]]
    assert [fault.kind if fault else None for fault in taken] == ["status", "drop", "status", "slow", "slow"]
    plan.clear()
    assert plan.take("/v2/embed") is None


@pytest.mark.parametrize("change", [{"kind": "burn"}, {"at": "lunch"}, {"status": 42}, {"times": -1}, {"delay_ms": -1}])
def test_a_fault_that_makes_no_sense_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(change))):
        Fault(**({"kind": "status"} | change))


# --- control routes, the record, several at once


def test_faults_over_http(server: EmulatorServer, client: cohere.ClientV2) -> None:
    control = server.url + "/_emulator/faults"
    assert http.post(control, json=[{"kind": "status", "status": 500, "times": 0}]).json() == {"added": 1}
    with pytest.raises(cohere.InternalServerError):
        client.embed(**ASKED)
    assert http.delete(control).status_code == 200
    client.embed(**ASKED)


@pytest.mark.parametrize(
    "bad", [b"{", b"7", b"{}", b'[{"kind":"x"}]', b'{"kind":"drop","when":1}', b'{"kind":"slow","delay_ms":"1"}']
)
def test_invalid_fault_over_http_names_the_allowed_values(server: EmulatorServer, bad: bytes) -> None:
    reply = http.post(server.url + "/_emulator/faults", content=bad)
    assert reply.status_code == 400
    assert reply.json()["error"]
    assert server.faults.take("/v2/embed") is None


def test_the_message_about_a_bad_fault_lists_the_kinds() -> None:
    with pytest.raises(ValueError, match="status, drop, slow, malformed"):
        parse_faults({"kind": "burn"})


def test_requests_are_recorded_and_shown_without_the_key(server: EmulatorServer, client: cohere.ClientV2) -> None:
    client.embed(**ASKED)
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/v2/embed")
    assert request.headers["authorization"] == "Bearer any-key"
    assert request.json()["texts"] == ASKED["texts"]
    shown = http.get(server.url + "/_emulator/requests")
    assert "any-key" not in shown.text
    assert shown.json()["requests"][0]["body"]["model"] == V3
    assert len(server.requests) == 1


def test_requests_at_once_get_their_own_answers(server: EmulatorServer) -> None:
    def ask(number: int) -> bool:
        texts = [f"question number {number}"]
        reply = post(server, "/v2/embed", ASKED | {"texts": texts}).json()
        return bool(reply["embeddings"]["float"] == embed(texts, 1024))

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(ask, range(32)))


def test_start_stop_and_start_again() -> None:
    server = cohere_emulator()
    with pytest.raises(RuntimeError, match="not running"):
        _ = server.url
    for _ in range(2):
        with server:
            assert not server.url.endswith("/")
            assert post(server, "/v2/embed", ASKED).status_code == 200
    server.stop()


def test_stop_does_not_wait_for_slow_answers() -> None:
    with cohere_emulator() as server, ThreadPoolExecutor(1) as threads:
        server.faults.add(Fault("slow", delay_ms=3_600_000))
        waiting = threads.submit(post, server, "/v2/embed", ASKED)
        while not server.requests:
            time.sleep(0.01)
        server.stop()
        with pytest.raises(httpx.HTTPError):
            waiting.result()


def test_a_port_in_use_is_an_error(server: EmulatorServer) -> None:
    port = int(server.url.rpartition(":")[2])
    with pytest.raises(OSError, match=str(port)):
        cohere_emulator(port=port).start()
