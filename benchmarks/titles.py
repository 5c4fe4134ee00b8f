"""What a key press costs: questions with `search: "titles"` on an Edge index, beside a request that searches nothing.

    python -m benchmarks.titles [--questions 400]

The function runs in this process and calls no service. Processor time is what the work takes; elapsed time has what
other programs took meanwhile, too.
"""

import argparse
import json
import random
import re
import time
from statistics import quantiles

from benchmarks.__main__ import INDEX, index
from passage.api import Request
from passage.evaluation import targets
from passage.local.function import silence_log

LETTERS = (1, 3, 6)


def measure(target: targets.EvaluationTarget, requests: list[Request]) -> tuple[list[float], list[float]]:
    """Milliseconds of each request: of this thread's processor time, and elapsed."""
    spent, elapsed = [], []
    for request in requests:
        cpu, clock = time.thread_time(), time.perf_counter()
        target.api.ask(request)
        spent.append((time.thread_time() - cpu) * 1000)
        elapsed.append((time.perf_counter() - clock) * 1000)
    return spent, elapsed


def line(name: str, times: tuple[list[float], list[float]]) -> str:
    figures = [(cut[9], cut[18]) for cut in (quantiles(of, n=20) for of in times)]
    return f"{name:14}" + "".join(f"{median:10.2f}{high:8.2f}" for median, high in figures)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=400, help="of each kind")
    chosen = parser.parse_args()
    index()
    silence_log()
    print(f"{'':14}{'processor ms':>18}{'elapsed ms':>18}\n{'':14}" + f"{'median':>10}{'95 %':>8}" * 2)
    generator = random.Random(7)  # noqa: S311 - the same questions in each run
    with targets.open_target("local", None, index=INDEX, key=None) as target:
        path = f"{target.served.path}/query"

        def question(text: str) -> Request:
            fields = {target.served.text: text, "search": "titles", "titles": True}
            return Request("POST", path, body=json.dumps(fields).encode())

        words = sorted(set(re.findall("[a-z]{6,}", json.dumps(target.api.ask(question("a")).json()).lower())))
        measure(target, [question("a")] * 5)  # the first ones build what the later ones use
        print(line("no search", measure(target, [Request("GET", "/health")] * chosen.questions)))
        for letters in LETTERS:
            typed = [question(generator.choice(words)[:letters]) for _ in range(chosen.questions)]
            print(line(f"{letters} letters", measure(target, typed)), flush=True)


if __name__ == "__main__":
    main()
