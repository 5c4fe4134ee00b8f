"""A container in Lambda's own loop that gets its keys, its vectors and its index from AWS."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from entrypoints.aws import Aws, cloud
from passage.indexing import publish as publishing
from passage.local.http_event import http_api_event
from runtime.conftest import Start
from textbook import copy_index
from tools.bedrock.emulator import bedrock_emulator
from tools.doubles import EmulatorServer
from tools.runtime import Runtime

ASK = http_api_event("POST", "/query", body=b'{"text": "What is a digital twin?", "k": 2}')


@pytest.fixture(scope="module")
def aws() -> Iterator[Aws]:
    with cloud() as running:
        yield running


def found(runtime: Runtime) -> str:
    answer: dict[str, Any] = runtime.invoke(ASK)
    assert answer["statusCode"] == 200, answer["body"]
    assert '"level":"ERROR"' not in runtime.log()
    body: str = answer["body"]
    return body


def test_cached_key_and_published_index_are_ready_after_init(
    start: Start,
    aws: Aws,
    cohere: EmulatorServer,
    textbook_index: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    aws.client("secretsmanager").create_secret(Name="passage/keys", SecretString='{"cohere": "kept-key-77e1"}')
    aws.client("s3").create_bucket(
        Bucket="passage-runtime", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"}
    )
    for name, value in aws.environ.items():
        monkeypatch.setenv(name, value)
    publishing.publish("s3://passage-runtime/site", textbook_index / "query-response")
    aws.door.requests.clear()
    cohere.requests.clear()
    runtime = start(
        COHERE_API_KEY="",
        COHERE_API_KEY_SECRET="passage/keys#cohere",
        STORE="qdrant_edge",
        EDGE_INDEX_URI="s3://passage-runtime/site",
        TMPDIR=str(tmp_path),
        **aws.environ,
    )
    assert "digital-twin" in found(runtime)
    assert {request.headers["authorization"] for request in cohere.requests} == {"Bearer kept-key-77e1"}
    assert len(aws.door.requests) == 3, "pointer, index, key"
    assert "kept-key-77e1" not in runtime.log()


def test_bedrock_is_called_after_init(start: Start, textbook_index: Path, tmp_path: Path) -> None:
    copy_index(textbook_index, tmp_path / "index")
    manifest = tmp_path / "index" / "query-response" / "manifest.json"
    manifest.write_text(manifest.read_text(encoding="utf-8").replace('"emulator"', '"bedrock"'), encoding="utf-8")
    with bedrock_emulator() as bedrock:
        runtime = start(
            COHERE_API_KEY="",
            COHERE_BASE_URL="",
            EMBEDDING_PROVIDER="bedrock",
            EMBEDDING_MODEL="cohere.embed-english-v3",
            EMBEDDING_DIMENSION="1024",
            STORE="qdrant_edge",
            EDGE_INDEX_PATH=str(tmp_path / "index"),
            AWS_ENDPOINT_URL_BEDROCK_RUNTIME=bedrock.url,
            AWS_DEFAULT_REGION="eu-central-1",
            AWS_ACCESS_KEY_ID="testing",
            AWS_SECRET_ACCESS_KEY="testing",
        )
        answer = runtime.invoke(ASK)
        assert answer["statusCode"] == 500
        assert "dimension 768" in answer["body"], "the textbook's index was embedded by another model"
        assert len(bedrock.requests) == 1
