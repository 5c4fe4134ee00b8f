"""Measures 96 questions in one invocation, and in 96 invocations one after another."""

import time
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

from benchmarks.asking import Questions
from benchmarks.container import Container
from benchmarks.functions import Function
from benchmarks.results import Batch

QUESTIONS = 96
"""The most a list holds, and the most texts one embedding call takes."""


def measure(
    functions: Sequence[Function], upstreams: Mapping[int, Mapping[str, str]], rounds: int, log: Path
) -> dict[str, dict[int, Batch]]:
    """Figures of each function, by upstream latency."""
    found = {
        function.name: {latency: Batch(questions=QUESTIONS, together=[], one_by_one=[]) for latency in upstreams}
        for function in functions
    }
    for _ in range(rounds):
        for function in functions:
            for latency, upstream in upstreams.items():
                together, one_by_one = _one(function, upstream, log)
                found[function.name][latency].together.append(round(together, 1))
                found[function.name][latency].one_by_one.append(round(one_by_one, 1))
    return found


def _one(function: Function, upstream: Mapping[str, str], log: Path) -> tuple[float, float]:
    """Milliseconds of both ways, in one container. No question is repeated, so the cache answers none."""
    questions = Questions()
    texts = questions.texts()
    with Container(function, upstream, log) as container:
        for _ in range(3):
            container.invoke_raw(questions.direct(next(texts)))
            container.invoke_raw(questions.direct(*islice(texts, 4)))
        event = questions.direct(*islice(texts, QUESTIONS))
        started = time.perf_counter()
        answers = container.invoke_raw(event)
        together = (time.perf_counter() - started) * 1000
        if len(answers) != QUESTIONS or not all(answer.get("results") for answer in answers):
            raise SystemExit(f"{function.name} did not answer every question of a list:\n{container.log()}")
        events = [questions.direct(text) for text in islice(texts, QUESTIONS)]
        started = time.perf_counter()
        for event in events:
            container.invoke_raw(event)
        return together, (time.perf_counter() - started) * 1000
