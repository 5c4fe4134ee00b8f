"""One deadline a request: whatever an upstream does with its time, the function answers 504 when it has passed."""

import math

import httpcore
import pytest

from entrypoints.aws import Context
from tools.doubles import EmulatorServer, Fault
from wire.function import Start, asked, assert_error, both_gateways
from wire.other_servers import trickling_server

pytestmark = pytest.mark.usefixtures("dense")

# A busy machine may take most of a second to build the clients. A service that is late has not answered by the end of
# the test.
SOON_MS = "1500"
NEVER_MS = 60_000


def test_only_the_deadline_limits_a_wait(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """httpx's default limit is five seconds, too short for a slow service."""
    waits: list[float] = []
    read = httpcore._backends.sync.SyncStream.read

    def noted(stream: httpcore.NetworkStream, most: int, timeout: float | None = None) -> bytes:
        waits.append(math.inf if timeout is None else timeout)
        return read(stream, most, timeout)

    monkeypatch.setattr(httpcore._backends.sync.SyncStream, "read", noted)
    answer = start(RERANK_PROVIDER="cohere", RERANK_TIMEOUT_MS="60000").ask()
    assert answer.results
    assert len(waits) >= 3
    assert 20 < min(waits) <= max(waits) <= 30, "the gateway waits no longer"


@both_gateways
def test_slow_embedding_is_504_and_the_store_is_not_asked(
    cohere: EmulatorServer, qdrant: EmulatorServer, start: Start
) -> None:
    cohere.faults.add(Fault("slow", delay_ms=NEVER_MS))
    message = assert_error(start(REQUEST_TIMEOUT_MS=SOON_MS).ask(), 504, "SERVICE_UNAVAILABLE")
    assert "embedding service" in message
    assert (len(cohere.requests), len(qdrant.requests)) == (1, 0)


@both_gateways
def test_slow_search_is_504_after_one_attempt(qdrant: EmulatorServer, start: Start) -> None:
    function = start(REQUEST_TIMEOUT_MS=SOON_MS)
    function.ask()  # so that the clients are built
    assert function.ask().status == 200
    qdrant.requests.clear()
    qdrant.faults.add(Fault("slow", delay_ms=NEVER_MS))
    message = assert_error(function.ask(), 504, "SERVICE_UNAVAILABLE")
    assert "vector store" in message
    assert len(qdrant.requests) == 1


@both_gateways
@pytest.mark.parametrize(
    ("address", "named", "paid"), [("COHERE_BASE_URL", "embedding service", 0), ("QDRANT_URL", "vector store", 1)]
)
def test_answer_that_trickles_in_is_504(
    address: str, named: str, paid: int, cohere: EmulatorServer, qdrant: EmulatorServer, start: Start
) -> None:
    with trickling_server() as url:
        message = assert_error(start(REQUEST_TIMEOUT_MS=SOON_MS, **{address: url}).ask(), 504, "SERVICE_UNAVAILABLE")
    assert named in message
    assert (len(cohere.requests), len(qdrant.requests)) == (paid, 0)


def test_deadline_covers_the_second_attempt_too(cohere: EmulatorServer, start: Start) -> None:
    cohere.faults.add(Fault("drop"))
    cohere.faults.add(Fault("slow", delay_ms=NEVER_MS))
    assert_error(start(REQUEST_TIMEOUT_MS=SOON_MS).ask(), 504, "SERVICE_UNAVAILABLE")
    assert len(cohere.requests) == 2


def test_shorter_lambda_time_less_a_margin_is_the_deadline(cohere: EmulatorServer, start: Start) -> None:
    cohere.faults.add(Fault("slow", delay_ms=NEVER_MS))
    answer = start().post({"text": "What is a digital twin?"}, context=Context(600))
    assert_error(answer, 504, "SERVICE_UNAVAILABLE")


def test_no_time_left_at_all_is_504_without_an_upstream_request(cohere: EmulatorServer, start: Start) -> None:
    answer = start().post({"text": "What is a digital twin?"}, context=Context(200))
    assert_error(answer, 504, "SERVICE_UNAVAILABLE")
    assert cohere.requests == []


def test_container_answers_again_after_a_deadline_has_passed(
    cohere: EmulatorServer, qdrant: EmulatorServer, start: Start
) -> None:
    function = start(REQUEST_TIMEOUT_MS=SOON_MS)
    cohere.faults.add(Fault("slow", delay_ms=NEVER_MS))
    assert function.ask().status == 504
    assert function.ask().status == 200
    assert len(asked(qdrant, "/points/query")) == 1


def test_ready_keeps_lambdas_remaining_time(qdrant: EmulatorServer, start: Start) -> None:
    answer = start().request("GET", "/ready", context=Context(200))
    assert_error(answer, 504, "SERVICE_UNAVAILABLE")
    assert qdrant.requests == []


@both_gateways
def test_ready_keeps_the_deadline(qdrant: EmulatorServer, start: Start) -> None:
    qdrant.faults.add(Fault("slow", delay_ms=NEVER_MS))
    assert_error(start(REQUEST_TIMEOUT_MS=SOON_MS).get("/ready"), 504, "SERVICE_UNAVAILABLE")
    assert len(qdrant.requests) == 1
