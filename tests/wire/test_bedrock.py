"""Cohere's models on Bedrock: the same answers without a key, and Bedrock's failures as the core's."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from entrypoints.aws import CREDENTIALS
from handler.adapters.account import Account
from handler.adapters.aws import client as adapter
from handler.adapters.bedrock import BedrockEmbedder, BedrockReranker
from handler.config import profiles
from handler.config.providers import PROVIDERS, Access
from handler.config.settings import CollectionSettings
from handler.core.errors import CredentialsRefused
from passage.indexing.embedding import document_embedder
from passage.local.environment import LocalError, function_environment
from textbook import index_textbook
from tools.doubles import EmulatorServer, Fault
from wire.function import Function, Output, Start

V3, V4, RERANK = "cohere.embed-english-v3", "eu.cohere.embed-v4:0", "cohere.rerank-v3-5:0"
ACCOUNT = Account(PROVIDERS["bedrock"], Access())


@pytest.fixture(scope="session")
def bedrock_index(_bedrock: EmulatorServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample textbook as `passage index` embeds it with Bedrock."""
    root = tmp_path_factory.mktemp("bedrock-index")
    settings = CollectionSettings.from_env(variables(V3, 1024))
    profile = profiles.load("query-response").with_settings(settings)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**CREDENTIALS, "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": _bedrock.url}.items():
            patch.setenv(name, value)
        index_textbook(root, profile, document_embedder(profile, {}))
    return root


def variables(model: str, dimension: int) -> dict[str, str]:
    return {"EMBEDDING_PROVIDER": "bedrock", "EMBEDDING_MODEL": model, "EMBEDDING_DIMENSION": str(dimension)}


@pytest.fixture
def function(start: Start, bedrock: EmulatorServer, bedrock_index: Path) -> Function:
    bedrock.requests.clear()  # those of indexing
    return start(
        COHERE_API_KEY=None,
        COHERE_BASE_URL=None,
        QDRANT_URL=None,
        STORE="qdrant_edge",
        EDGE_INDEX_PATH=str(bedrock_index),
        **variables(V3, 1024),
    )


def test_a_question_is_answered_without_any_key(function: Function, bedrock: EmulatorServer) -> None:
    answer = function.ask("What is a digital twin?")
    assert "digital-twin" in json.dumps(answer.results[0])
    (request,) = bedrock.requests
    assert request.path == f"/model/{V3}/invoke"
    assert request.json() == {
        "input_type": "search_query",
        "embedding_types": ["float"],
        "texts": ["What is a digital twin?"],
        "truncate": "END",
    }
    assert "/bedrock/aws4_request" in request.headers["authorization"]
    assert function.get("/ready").status == 200


def test_embed_v4_is_asked_for_the_dimension(bedrock: EmulatorServer) -> None:
    vectors = BedrockEmbedder(ACCOUNT, model=V4, dimension=512).embed(["one", "two"])
    assert [len(vector) for vector in vectors] == [512, 512]
    assert bedrock.requests[0].json()["output_dimension"] == 512
    assert bedrock.requests[0].json()["truncate"] == "RIGHT"


def test_a_long_question_is_cut_to_what_the_model_reads(function: Function, bedrock: EmulatorServer) -> None:
    assert function.ask("word " * 1000).results
    assert len(bedrock.requests[0].json()["texts"][0]) == 2048


@pytest.mark.parametrize("body", ['{"embeddings": [[%s]]}', '{"embeddings": {"float": [[%s]]}}'])
def test_both_shapes_of_an_answer_are_read(body: str, bedrock: EmulatorServer) -> None:
    bedrock.faults.add(Fault("malformed", body=body % ", ".join(["0.5"] * 1024)))
    assert BedrockEmbedder(ACCOUNT, model=V3, dimension=1024).embed(["x"]) == [[0.5] * 1024]


FAILURES = [
    (403, "AccessDeniedException", 500, "CREDENTIALS_REFUSED", 1),
    (403, "UnrecognizedClientException", 500, "CREDENTIALS_REFUSED", 1),
    (400, "ExpiredTokenException", 500, "CREDENTIALS_REFUSED", 1),
    (400, "ValidationException", 500, "REQUEST_REFUSED", 1),
    (404, "ResourceNotFoundException", 500, "REQUEST_REFUSED", 1),
    (429, "ThrottlingException", 429, "UPSTREAM_THROTTLED", 2),
    (429, "ModelNotReadyException", 429, "UPSTREAM_THROTTLED", 2),
    (400, "ServiceQuotaExceededException", 429, "UPSTREAM_THROTTLED", 2),
    (408, "ModelTimeoutException", 503, "UPSTREAM_UNAVAILABLE", 2),
    (424, "ModelErrorException", 503, "UPSTREAM_UNAVAILABLE", 2),
    (500, "InternalServerException", 503, "UPSTREAM_UNAVAILABLE", 2),
    (503, "ServiceUnavailableException", 503, "UPSTREAM_UNAVAILABLE", 2),
]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure[1])
def test_bedrock_failure_becomes_the_cores_error(
    failure: tuple[Any, ...], function: Function, bedrock: EmulatorServer, output: Output, sleeps: list[float]
) -> None:
    status, kind, answered, code, attempts = failure
    body = json.dumps({"__type": kind, "message": "arn:aws:iam::1:role/secretive"})
    bedrock.faults.add(Fault("status", status=status, body=body, times=0))
    answer = function.ask()
    assert (answer.status, len(bedrock.requests)) == (answered, attempts)
    assert "secretive" not in answer.text
    assert code in {line.get("code") for line in output.logs}


def test_throttled_question_waits_for_retry_after(
    function: Function, bedrock: EmulatorServer, sleeps: list[float]
) -> None:
    bedrock.faults.add(Fault("status", status=429, retry_after=2))
    assert function.ask().results
    assert sleeps == [2.0]


def test_model_unknown_to_bedrock_names_the_variable(start: Start, bedrock: EmulatorServer) -> None:
    answer = start(COHERE_API_KEY=None, **variables("embed-english-v3.0", 1024)).ask()
    assert answer.status == 500
    assert "EMBEDDING_MODEL" in answer.json["error"]


@pytest.mark.parametrize("fault", [Fault("drop"), Fault("drop", at="response"), Fault("malformed")])
def test_a_broken_answer_is_tried_once_more(
    fault: Fault, function: Function, bedrock: EmulatorServer, sleeps: list[float]
) -> None:
    bedrock.faults.add(fault)
    assert function.ask().results
    assert len(bedrock.requests) == 2


@pytest.mark.parametrize(
    "body", ["{}", "[]", "null", '{"embeddings": []}', '{"embeddings": [["a"]]}', '{"embeddings": [[1e999]]}']
)
def test_an_answer_without_a_vector_is_an_outage(
    body: str, function: Function, bedrock: EmulatorServer, sleeps: list[float]
) -> None:
    bedrock.faults.add(Fault("malformed", body=body, times=0))
    assert function.ask().status == 503


def test_another_dimension_is_a_configuration_error(start: Start, bedrock: EmulatorServer) -> None:
    answer = start(COHERE_API_KEY=None, **variables(V3, 768)).ask()
    assert answer.status == 500
    assert "EMBEDDING_DIMENSION" in answer.json["error"]


def test_waiting_for_bedrock_ends_with_the_deadline(start: Start, bedrock: EmulatorServer) -> None:
    bedrock.faults.add(Fault("slow", delay_ms=60_000))
    answer = start(COHERE_API_KEY=None, REQUEST_TIMEOUT_MS="1500", **variables(V3, 1024)).ask()
    assert answer.status == 504


@pytest.mark.parametrize(
    "call",
    [
        lambda: BedrockEmbedder(ACCOUNT, model=V3, dimension=1024).embed(["x"]),
        lambda: BedrockReranker(ACCOUNT, model=RERANK).rerank("question", ["one", "two"]),
    ],
)
def test_without_credentials_the_error_says_so(
    call: Callable[[], object], bedrock: EmulatorServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in CREDENTIALS:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, "/nonexistent")
    with pytest.raises(CredentialsRefused, match="no valid credentials"):
        call()


def test_bedrock_requests_use_the_function_transport(bedrock: EmulatorServer) -> None:
    client = adapter.client("bedrock-runtime")
    answer = client.invoke_model(modelId=V3, body=json.dumps({"texts": ["x"], "input_type": "search_query"}))
    assert json.loads(answer["body"].read())["response_type"] == "embeddings_floats"
    assert "python-urllib3" not in str(bedrock.requests[0].headers)


def test_bedrock_refuses_an_index_of_another_provider(textbook_index: Path, bedrock_index: Path) -> None:
    with (
        pytest.raises(LocalError, match="EMBEDDING_PROVIDER=bedrock"),
        function_environment(variables(V3, 1024), textbook_index),
    ):
        pass
    with function_environment(variables(V3, 1024), bedrock_index) as environ:
        assert environ["EDGE_INDEX_PATH"] == str(bedrock_index)
