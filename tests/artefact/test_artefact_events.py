"""Every event of the repository gets from the deployed function what it gets from the developed one, with both stores.

That shows at once that nothing the function needs was left out of the layer.
"""

import json
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from artefact.conftest import Queue
from artefact.containers import Containers, Store, settled
from conftest import EVENTS
from passage.emulators import EmulatorServer, Fault, bedrock_emulator

NAMES = sorted(str(path.relative_to(EVENTS).with_suffix("")) for path in EVENTS.rglob("*.json"))
PLAIN_WAY = """
    from handler.cold_start import sdk_models

    def unavailable():
        raise AttributeError("config_defaults")

    sdk_models.lean = unavailable
    from handler.app import lambda_handler
"""
"""A handler whose lean way fails, as after a change of pydantic's insides."""


def store_of(name: str) -> Store:
    return "server of ranked" if name.startswith("contracts/ranked/") else "server"


@pytest.mark.parametrize("name", NAMES)
def test_event(containers: Containers, queue: Queue, load_event: Any, name: str) -> None:
    event = load_event(name)
    for store in (store_of(name), "index"):
        ours, theirs = (
            (settled(containers.of(side, store).invoke(event)), [settled(json.loads(body)) for body in queue.taken()])
            for side in ("deployed", "developed")
        )
        assert ours == theirs, store


def test_messages_are_answered(containers: Containers, queue: Queue, load_event: Any) -> None:
    """A queue that stays empty would be the same on both sides."""
    event = load_event("sqs-standard")
    for record in event["Records"]:
        record["messageId"] += "-again"
    assert containers.of("deployed", "server").invoke(event) is not None
    assert len(queue.taken()) > 0


@pytest.fixture
def faults(embedding: EmulatorServer, server: EmulatorServer) -> Iterator[dict[str, EmulatorServer]]:
    yield {"embedding": embedding, "store": server}
    for emulator in (embedding, server):
        emulator.faults.clear()


@pytest.mark.parametrize("upstream", ["embedding", "store"])
@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (Fault("status", status=429, retry_after=60, times=0), 429),
        (Fault("status", status=503, times=0), 503),
        (Fault("status", status=401, times=0), 500),
        (Fault("drop", times=0), 503),
        (Fault("malformed", times=0), 503),
        (Fault("malformed", body="{}", times=0), 503),
    ],
    ids=["throttles", "is down", "refuses the key", "drops", "is unreadable", "is empty"],
)
def test_failure(
    containers: Containers, faults: dict[str, EmulatorServer], load_event: Any, upstream: str, fault: Fault, status: int
) -> None:
    event = load_event("http-api-query")
    for emulator in faults.values():
        emulator.faults.clear()
    faults[upstream].faults.add(fault)
    ours, theirs = (settled(containers.of(side, "server").invoke(event)) for side in ("deployed", "developed"))
    assert ours == theirs
    assert ours["statusCode"] == status


@pytest.mark.parametrize("provider", ["cohere", "bedrock"])
def test_reranked_answer(
    containers: Containers, faults: dict[str, EmulatorServer], load_event: Any, provider: str
) -> None:
    event = load_event("http-api-query")
    with bedrock_emulator() as bedrock:
        variables = {"RERANK_PROVIDER": provider, "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": bedrock.url}
        deployed, developed = (containers.start(side, "server", **variables) for side in ("deployed", "developed"))
        asked = {"cohere": faults["embedding"], "bedrock": bedrock}[provider]
        whole, failed = [], []
        for container in (deployed, developed):
            whole.append(settled(container.invoke(event)))
            asked.faults.add(Fault("status", status=403, path="rerank"))
            failed.append(settled(container.invoke(event)))
    assert whole[0] == whole[1]
    assert failed[0] == failed[1]
    assert (whole[0]["statusCode"], failed[0]["statusCode"]) == (200, 200)
    assert "warnings" not in whole[0]["body"]
    assert "set up wrongly" in failed[0]["body"]["warnings"][0]
    for words in ("lean imports failed", "warm-up failed", "No module named", "ImportError"):
        assert words not in deployed.log()


@pytest.mark.parametrize("store", ["server", "index"])
def test_the_log_says_nothing_of_a_lean_import_that_failed(
    containers: Containers, load_event: Any, store: Store
) -> None:
    container = containers.of("deployed", store)
    assert container.invoke(load_event("http-api-query"))["statusCode"] == 200
    for words in ("lean imports failed", "warm-up failed", "No module named", "ImportError"):
        assert words not in container.log()


@pytest.mark.parametrize("store", ["server", "index"])
def test_the_plain_way_is_open_without_what_the_layer_leaves_out(
    containers: Containers, tmp_path: Path, load_event: Any, store: Store
) -> None:
    (tmp_path / "plain_way.py").write_text(textwrap.dedent(PLAIN_WAY))
    container = containers.start("deployed", store, "plain_way.lambda_handler", tmp_path)
    for name in ("http-api-query", "http-api-ready", "contracts/vector-search/success"):
        event = load_event(name)
        answer = container.invoke(event)
        assert answer["statusCode"] == 200, container.log()
        assert settled(answer) == settled(containers.of("developed", store).invoke(event))
    assert "lean imports failed" in container.log()
    assert "warm-up failed" not in container.log()


def test_imports_after_a_failed_cold_start_find_stubs(containers: Containers, load_event: Any) -> None:
    container = containers.start("deployed", "server", DEFAULT_PROFILE="nope")
    assert container.invoke(load_event("http-api-query"))["statusCode"] == 500
    answer = container.invoke(load_event("contracts/context/success"))
    assert answer["statusCode"] == 200, container.log()
