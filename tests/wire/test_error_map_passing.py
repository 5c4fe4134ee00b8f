"""The error map's temporary failures: one retry each, then 503 or 429 with Retry-After, never an empty 200."""

import socket
from dataclasses import dataclass
from typing import Any

import pytest

from tools.doubles import EmulatorServer, Fault
from wire.function import Start, asked, assert_error, assert_for_browser, both_gateways

pytestmark = pytest.mark.usefixtures("dense")


@dataclass(frozen=True)
class Upstream:
    """An emulated service and the path of the call a question makes to it."""

    emulator: EmulatorServer
    path: str
    url_variable: str

    def fails(self, kind: Any, *, times: int = 0, **how: Any) -> None:
        self.emulator.faults.add(Fault(kind, times=times, path=self.path, **how))

    @property
    def attempts(self) -> int:
        return len(asked(self.emulator, self.path))


@pytest.fixture(params=["cohere", "qdrant"])
def upstream(request: pytest.FixtureRequest, cohere: EmulatorServer, qdrant: EmulatorServer) -> Upstream:
    if request.param == "cohere":
        return Upstream(cohere, "/v2/embed", "COHERE_BASE_URL")
    return Upstream(qdrant, "/points/query", "QDRANT_URL")


PASSING: dict[str, dict[str, Any]] = {
    "500": {"kind": "status", "status": 500},
    "502": {"kind": "status", "status": 502, "body": "<html>Bad gateway</html>"},
    "503": {"kind": "status", "status": 503},
    "504": {"kind": "status", "status": 504},
    "dropped before the answer": {"kind": "drop", "at": "request"},
    "dropped in mid-answer": {"kind": "drop", "at": "response"},
    "cut-off JSON": {"kind": "malformed"},
    "no JSON": {"kind": "malformed", "body": "Service temporarily unavailable"},
    "nothing": {"kind": "malformed", "body": ""},
    "null": {"kind": "malformed", "body": "null"},
    "a list": {"kind": "malformed", "body": "[]"},
    "a string": {"kind": "malformed", "body": '"ok"'},
    "another object": {"kind": "malformed", "body": '{"message": "ok"}'},
}
passing = pytest.mark.parametrize("how", PASSING.values(), ids=PASSING.keys())


@both_gateways
@passing
def test_two_temporary_failures_are_503_after_two_attempts(
    how: dict[str, Any], upstream: Upstream, start: Start, sleeps: list[float]
) -> None:
    """Two attempts in all; only the core sleeps in between, not an SDK."""
    upstream.fails(**how)
    assert_error(start().ask(), 503, "SERVICE_UNAVAILABLE")
    assert upstream.attempts == 2
    assert sleeps == [0.1]


@passing
def test_one_temporary_failure_is_answered_by_the_retry(
    how: dict[str, Any], upstream: Upstream, start: Start, sleeps: list[float]
) -> None:
    upstream.fails(**how, times=1)
    answer = start().ask()
    assert len(answer.results) == 3
    assert_for_browser(answer)
    assert upstream.attempts == 2


@both_gateways
def test_service_that_is_down_is_503_after_one_retry(upstream: Upstream, start: Start, sleeps: list[float]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    function = start(**{upstream.url_variable: f"http://127.0.0.1:{port}"})
    message = assert_error(function.ask(), 503, "SERVICE_UNAVAILABLE")
    assert "could not be reached" in message
    assert sleeps == [0.1]


def test_failed_search_does_not_embed_again(
    cohere: EmulatorServer, qdrant: EmulatorServer, start: Start, sleeps: list[float]
) -> None:
    qdrant.faults.add(Fault("status", times=0))
    assert start().ask().status == 503
    assert len(cohere.requests) == 1


def test_each_of_both_services_may_fail_once(
    cohere: EmulatorServer, qdrant: EmulatorServer, start: Start, sleeps: list[float]
) -> None:
    cohere.faults.add(Fault("drop"))
    qdrant.faults.add(Fault("drop", at="response"))
    assert start().ask().status == 200
    assert (len(cohere.requests), len(qdrant.requests)) == (2, 2)


@pytest.mark.parametrize(
    "body",
    [
        '{"result": null, "status": "ok", "time": 0}',
        '{"result": [], "status": "ok", "time": 0}',
        '{"result": {}, "status": "ok", "time": 0}',
        '{"result": {"points": null}, "status": "ok", "time": 0}',
        '{"result": {"points": [{"id": 1}]}, "status": "ok", "time": 0}',
        '{"result": {"points": [{"id": 1, "version": 0, "score": "high"}]}, "status": "ok", "time": 0}',
        '{"result": {"points": [null]}, "status": "ok", "time": 0}',
    ],
)
def test_store_answer_of_another_shape_is_503_and_no_empty_200(
    body: str, qdrant: EmulatorServer, start: Start, sleeps: list[float]
) -> None:
    qdrant.faults.add(Fault("malformed", body=body, times=0))
    assert_error(start().ask(), 503, "SERVICE_UNAVAILABLE")
    assert len(qdrant.requests) == 2


@pytest.mark.parametrize("seconds", [1, 7])
def test_throttled_with_retry_after_waits_before_the_retry(
    seconds: int, upstream: Upstream, start: Start, sleeps: list[float]
) -> None:
    upstream.fails("status", status=429, retry_after=seconds, times=1)
    assert start().ask().status == 200
    assert upstream.attempts == 2
    assert sleeps == [seconds]


@both_gateways
@pytest.mark.parametrize(
    ("fault", "settings", "waits"),
    [
        ({"status": 429}, {}, [1.0]),
        ({"status": 429}, {"REQUEST_TIMEOUT_MS": "900"}, []),
        ({"status": 429, "retry_after": 60}, {}, []),
        ({"status": 503, "retry_after": 45}, {}, []),
    ],
    ids=["retried once", "little time left", "longer than the deadline", "unavailable for longer"],
)
def test_service_that_asks_to_wait_is_retried_if_time_allows(
    fault: dict[str, int],
    settings: dict[str, str],
    waits: list[float],
    upstream: Upstream,
    start: Start,
    sleeps: list[float],
) -> None:
    """The SDK's retries are off: each could sleep up to a minute."""
    upstream.fails("status", **fault)
    answer = start(**settings).ask()
    assert_error(answer, fault["status"], "SERVICE_UNAVAILABLE")
    seconds = int(answer.headers["retry-after"])
    assert seconds >= 1
    assert seconds == fault.get("retry_after", seconds)
    assert (upstream.attempts, sleeps) == (1 + len(waits), waits)
