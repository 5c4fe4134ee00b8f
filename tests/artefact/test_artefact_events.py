"""Every event of the repository gets from the deployed function what it gets from the developed one, with both stores.

On a host that sets none of Lambda's variables, which shows that the layer has what is needed, so does each kind of
event, and one question of each contract.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from artefact.conftest import Queue
from artefact.containers import Containers, Side, Store, settled
from conftest import EVENTS
from tools.bedrock.emulator import bedrock_emulator
from tools.doubles import EmulatorServer, Fault

NAMES = sorted(str(path.relative_to(EVENTS).with_suffix("")) for path in EVENTS.rglob("*.json"))


def store_of(name: str) -> Store:
    return "server of ranked" if name.startswith("contracts/ranked/") else "server"


@pytest.mark.parametrize("name", NAMES)
def test_event(containers: Containers, queue: Queue, load_event: Any, name: str) -> None:
    event = load_event(name)
    built: list[Side] = ["deployed"]
    if not name.startswith("contracts/") or name.endswith("/success"):
        built.append("elsewhere")
    for store in (store_of(name), "index"):
        expected, *answers = (
            (settled(containers.of(side, store).invoke(event)), [settled(json.loads(body)) for body in queue.taken()])
            for side in ("developed", *built)
        )
        for side, answer in zip(built, answers, strict=True):
            assert answer == expected, f"{side}, {store}"


@pytest.mark.parametrize("store", ["server", "index"])
@pytest.mark.parametrize("name", ["http-api-query", "http-api-ready", "contracts/vector-search/success"])
def test_unpruned_build_has_the_same_answer(containers: Containers, load_event: Any, store: Store, name: str) -> None:
    event = load_event(name)
    ours, theirs = (settled(containers.of(side, store).invoke(event)) for side in ("unpruned", "developed"))
    assert ours == theirs
    assert ours["statusCode"] == 200


def test_messages_are_answered(containers: Containers, queue: Queue, load_event: Any) -> None:
    """Both queues have replies: two empty queues would be equal, too."""
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
    for words in ("warm-up failed", "No module named", "ImportError"):
        assert words not in deployed.log()


@pytest.mark.parametrize("side", ["deployed", "elsewhere", "unpruned"])
@pytest.mark.parametrize("store", ["server", "index"])
def test_log_has_no_failed_import(containers: Containers, load_event: Any, side: Side, store: Store) -> None:
    container = containers.of(side, store)
    assert container.invoke(load_event("http-api-query"))["statusCode"] == 200
    for words in ("warm-up failed", "No module named", "ImportError", "is not in this layer"):
        assert words not in container.log()


def test_question_after_failed_init_is_answered(containers: Containers, load_event: Any) -> None:
    container = containers.start("deployed", "server", EMBEDDING_MODEL="embed-english-v2.0", PROFILES="context")
    assert container.invoke(load_event("http-api-query"))["statusCode"] == 500
    answer = container.invoke(load_event("contracts/context/success"))
    assert answer["statusCode"] == 200, container.log()
