"""Starts and invokes containers: each function once in a round, in a different order each round."""

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from benchmarks.asking import Questions, alike, passages
from benchmarks.container import Container
from benchmarks.functions import Function
from benchmarks.results import Cell, Spread

CHECKED = 3


@dataclass(frozen=True)
class Plan:
    """The numbers of repetitions. different, repeated: warm invocations a container, by upstream latency."""

    rounds: int
    different: Mapping[int, int]
    repeated: Mapping[int, int]


@dataclass
class _Measured:
    init: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    first_cpu: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    second: list[float] = field(default_factory=list)
    different: list[float] = field(default_factory=list)
    repeated: list[float] = field(default_factory=list)

    def cell(self) -> Cell:
        return Cell(
            init=_rounded(self.init),
            first=_rounded(self.first),
            first_cpu=_rounded(self.first_cpu),
            memory=_rounded(self.memory),
            second=_rounded(self.second),
            different=Spread.of(self.different),
            repeated=Spread.of(self.repeated),
        )


def _rounded(values: Sequence[float]) -> list[float]:
    return [round(value, 2) for value in values]


def check(functions: Sequence[Function], upstream: Mapping[str, str], log: Path) -> None:
    """Start each function once, unmeasured, to fill file caches. Check that all find the same passages.

    Ends the program where one does not.
    """
    questions = Questions()
    asked = list(islice(questions.texts(), CHECKED))
    expected: dict[str, list[tuple[str, str, float]]] = {}
    for function in functions:
        with Container(function, upstream, log) as container:
            for text in asked:
                answer = container.invoke_raw(questions.http(text))
                if answer.get("statusCode") != 200:
                    raise SystemExit(f"{function.name} did not answer:\n{json.dumps(answer)}\n{container.log()}")
                found = passages(answer) if function.asks else []
                if function.asks and (not found or not alike(found, expected.setdefault(text, found))):
                    raise SystemExit(f"{function.name} found other passages for {text!r}:\n{found}\n{expected[text]}")


def measure(
    functions: Sequence[Function],
    upstreams: Mapping[int, Mapping[str, str]],
    plan: Plan,
    log: Path,
    progress: Callable[[str], None],
) -> dict[str, dict[int, Cell]]:
    """Figures of each function at each upstream latency."""
    measured = {(function.name, latency): _Measured() for function in functions for latency in upstreams}
    for number in range(plan.rounds):
        progress(f"round {number + 1} of {plan.rounds}")
        for function, latency in _order(functions, list(upstreams), number):
            _one(function, upstreams[latency], plan, latency, log, measured[function.name, latency])
    return {
        function.name: {latency: measured[function.name, latency].cell() for latency in upstreams}
        for function in functions
    }


def _order(functions: Sequence[Function], latencies: Sequence[int], number: int) -> Iterator[tuple[Function, int]]:
    """The order in a round. It varies, because a function that works hard slows down the next one."""
    turns = [(function, latency) for function in functions for latency in latencies]
    random.Random(number).shuffle(turns)  # noqa: S311 - the same order in every run
    yield from turns


def _one(function: Function, upstream: Mapping[str, str], plan: Plan, latency: int, log: Path, into: _Measured) -> None:
    questions = Questions()
    texts = questions.texts()

    def timed(text: str) -> float:
        event = questions.http(text)
        started = time.perf_counter()
        container.invoke_raw(event)
        return (time.perf_counter() - started) * 1000

    with Container(function, upstream, log) as container:
        into.first.append(timed(next(texts)))
        into.first_cpu.append(container.cpu_ms())
        into.init.append(container.init_ms())
        into.second.append(timed(next(texts)))
        into.different += [timed(text) for text in islice(texts, plan.different[latency])]
        again = next(texts)
        timed(again)
        into.repeated += [timed(again) for _ in range(plan.repeated[latency])]
        into.memory.append(container.memory_mb())
