"""A snapshot that is restored: nothing from before it is used that only held then."""

import json
import random
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import snapshot_restore_py
from awslambdaric import lambda_runtime_hooks_runner as runtime

from conftest import ROOT
from entrypoints.aws import Aws
from handler import cold_start
from handler.adapters import transport
from handler.adapters.aws import secrets
from passage.indexing.publish import publish
from programs import run
from tools.doubles import EmulatorServer
from wire.function import COHERE_KEY, Function, Output, Start, asked

Restore = Callable[[Function], None]


@pytest.fixture
def restore(monkeypatch: pytest.MonkeyPatch) -> Restore:
    """Has Lambda's runtime client run the hooks that a container registered."""
    monkeypatch.setattr(snapshot_restore_py, "_before_snapshot_registry", [])
    monkeypatch.setattr(snapshot_restore_py, "_after_restore_registry", [])

    def run(function: Function) -> None:
        snapshot_restore_py._before_snapshot_registry.clear()
        snapshot_restore_py._after_restore_registry.clear()
        cold_start.register_hooks(function.container)
        runtime.run_before_snapshot()
        runtime.run_after_restore()

    return run


def connections() -> list[object]:
    pool = transport.shared()._pool  # type: ignore[attr-defined]
    return list(pool.connections)


def test_no_connection_from_before_is_used(start: Start, restore: Restore) -> None:
    function = start()
    assert function.ask().results
    before = connections()
    assert before
    restore(function)
    assert connections() == []
    assert function.ask().results
    assert connections()
    assert not set(map(id, connections())) & set(map(id, before))


def test_the_snapshot_holds_no_connection(start: Start) -> None:
    function = start()
    assert function.ask().results
    function.container.before_snapshot()
    assert connections() == []


def test_snapshot_of_an_unused_container_drops_nothing(start: Start, restore: Restore) -> None:
    restore(start(QDRANT_URL="no url"))


def test_readiness_is_checked_again_after_restore(start: Start, restore: Restore, qdrant: EmulatorServer) -> None:
    function = start()
    assert function.get("/ready").status == 200
    once = len(qdrant.requests)
    assert function.get("/ready").status == 200
    assert len(qdrant.requests) == once
    restore(function)
    assert function.get("/ready").status == 200
    assert len(qdrant.requests) == 2 * once


def test_copies_of_a_snapshot_have_different_random_numbers(start: Start, restore: Restore) -> None:
    function = start()
    drawn = []
    for _ in range(3):
        random.seed(7)  # the state that the snapshot holds
        restore(function)
        drawn.append(random.random())  # noqa: S311 - it is the generator that is looked at
    assert len(set(drawn)) == 3


def test_first_invocation_after_restore_counts_as_cold_start(start: Start, restore: Restore, output: Output) -> None:
    function = start()
    function.ask()
    restore(function)
    before = sum("ColdStart" in metric for metric in output.metrics)
    function.ask()
    function.ask()
    assert sum("ColdStart" in metric for metric in output.metrics) == before + 1


def test_a_key_from_before_is_read_again(start: Start, restore: Restore, aws: Aws, cohere: EmulatorServer) -> None:
    client = aws.client("secretsmanager")
    client.create_secret(Name="passage/restored", SecretString="from-before-the-snapshot")
    function = start(COHERE_API_KEY=None, COHERE_API_KEY_SECRET="passage/restored")
    function.container.warm()
    client.put_secret_value(SecretId="passage/restored", SecretString=COHERE_KEY)
    restore(function)
    assert function.ask().results
    (request,) = asked(cohere, "embed")
    assert request.headers["authorization"] == f"Bearer {COHERE_KEY}"


def test_a_refused_key_may_be_read_again_at_once(start: Start, restore: Restore, aws: Aws) -> None:
    aws.client("secretsmanager").create_secret(Name="passage/refused", SecretString="wrong")
    function = start(COHERE_API_KEY=None, COHERE_API_KEY_SECRET="passage/refused")
    assert function.ask().status == 500
    assert function.ask().status == 500
    assert aws.asked("GetSecretValue") == 2
    restore(function)
    assert function.ask().status == 500
    assert aws.asked("GetSecretValue") == 4, "as too old, and as refused"
    assert secrets.RENEW_SECONDS == 60


def test_the_index_is_looked_for_with_credentials_of_now(
    start: Start,
    restore: Restore,
    aws: Aws,
    textbook_index: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    aws.client("s3").create_bucket(
        Bucket="passage-restored", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"}
    )
    publish("s3://passage-restored", textbook_index / "query-response")
    function = start(STORE="qdrant_edge", EDGE_INDEX_URI="s3://passage-restored", QDRANT_URL=None)
    function.container.warm()
    aws.door.requests.clear()
    restore(function)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "restored")
    assert function.ask().results
    (request,) = aws.door.requests
    assert "Credential=restored/" in request.headers["authorization"]


def test_bedrock_is_asked_with_credentials_of_now(
    start: Start, restore: Restore, bedrock: EmulatorServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = start(
        COHERE_API_KEY=None,
        EMBEDDING_PROVIDER="bedrock",
        EMBEDDING_MODEL="cohere.embed-english-v3",
        EMBEDDING_DIMENSION="1024",
    )
    function.container.warm()
    restore(function)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "restored")
    function.ask()
    assert "Credential=restored/" in bedrock.requests[0].headers["authorization"]


FRESH = """
import sys
from handler import app
hooks = sys.modules.get("snapshot_restore_py")
print([len(hooks.get_before_snapshot()), len(hooks.get_after_restore())] if hooks else None)
if hooks:
    from awslambdaric import lambda_runtime_hooks_runner as runtime
    runtime.run_before_snapshot()
    runtime.run_after_restore()
    from passage.local.http_event import http_api_event
    event = http_api_event("POST", "/query", body=b'{"text": "What is a digital twin?", "k": 1}')
    print(app.lambda_handler(event, None)["statusCode"])
"""


@pytest.mark.parametrize(
    ("kind", "printed"),
    [("snap-start", ["[1, 1]", "200"]), ("on-demand", ["None"]), ("provisioned-concurrency", ["None"]), ("", ["None"])],
)
def test_hooks_are_registered_only_with_snap_start(kind: str, printed: list[str], environ: dict[str, str]) -> None:
    env = {"PYTHONPATH": str(ROOT / "src"), "AWS_LAMBDA_INITIALIZATION_TYPE": kind, **environ}
    lines = run(sys.executable, "-c", FRESH, env=env).stdout.splitlines()
    assert [line for line in lines if not line.startswith("{")] == printed
    logged = [json.loads(line) for line in lines if line.startswith("{")]
    assert not [line for line in logged if line.get("level") in ("WARNING", "ERROR")]
