"""What a hybrid search costs beside a dense one: warm answers and cold starts, on both stores, by turns in one run.

    python -m benchmarks.hybrid [--questions 200] [--starts 5] [--latency 20]

Both functions run under the Runtime Interface Emulator, between the same emulators of the services. A question is asked
of both, the one and the other first by turns, so that a busy machine slows down both. Compare the ratios only.
"""

import argparse
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median

from benchmarks.__main__ import INDEX, index
from benchmarks.asking import MODEL_VARIABLES, ROOT, Questions
from benchmarks.container import Container
from benchmarks.functions import OURS, Function
from benchmarks.upstreams import upstreams

MODES = ("dense", "hybrid")


@dataclass(frozen=True)
class Figures:
    """Milliseconds by mode, one for each warm question and one for each cold start's first answer."""

    warm: Mapping[str, list[float]]
    cold: Mapping[str, list[float]]

    def shown(self, store: str) -> str:
        """A line for warm answers and one for cold starts: both medians and their ratio."""
        return "\n".join(
            f"{store:14} {name:12} {median(of['dense']):8.2f} {median(of['hybrid']):8.2f} "
            f"{median(of['hybrid']) / median(of['dense']):8.2f}"
            for name, of in (("warm answer", self.warm), ("first answer", self.cold))
        )


def compare(store: Mapping[str, str], services: Mapping[str, str], questions: int, starts: int, log: Path) -> Figures:
    """Measure both modes on one store.

    Args:
        store: the variables of the store.
        starts: how many containers of each mode are started; the last two answer the warm questions.
    """
    functions = {
        mode: Function(
            mode, OURS, (ROOT / "src",), Path(sys.executable), {**MODEL_VARIABLES, **store, "SEARCH_MODE": mode}
        )
        for mode in MODES
    }
    figures = Figures({mode: [] for mode in MODES}, {mode: [] for mode in MODES})
    for number in range(starts):
        with ExitStack() as stack:
            asked = Questions()
            texts = asked.texts()
            first = asked.http(next(texts))
            running = {}
            for mode in _turn(number):
                running[mode] = stack.enter_context(Container(functions[mode], services, log))
                figures.cold[mode].append(_timed(running[mode], first))
            if number < starts - 1:
                continue
            for turn, text in enumerate(islice(texts, questions + 5)):
                for mode in _turn(turn):
                    took = _timed(running[mode], asked.http(text))
                    if turn >= 5:  # the first ones build what the later ones use
                        figures.warm[mode].append(took)
    return figures


def _turn(number: int) -> tuple[str, ...]:
    return MODES if number % 2 else MODES[::-1]


def _timed(container: Container, event: str) -> float:
    started = time.perf_counter()
    answer = container.invoke_raw(event)
    took = (time.perf_counter() - started) * 1000
    if answer.get("statusCode") != 200:
        raise SystemExit(f"no answer:\n{answer}\n{container.log()}")
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=200, help="warm questions of each mode and store")
    parser.add_argument("--starts", type=int, default=5, help="cold starts of each mode and store")
    parser.add_argument("--latency", type=int, default=20, help="milliseconds after which each service answers")
    chosen = parser.parse_args()
    index()
    log = INDEX.parent / "hybrid.log"
    print(f"{'store':14} {'':12} {'dense ms':>8} {'hybrid':>8} {'ratio':>8}")
    with upstreams(INDEX / "query-response" / "shard", chosen.latency) as services:
        stores = {"Qdrant server": {}, "Edge": {"STORE": "qdrant_edge", "EDGE_INDEX_PATH": str(INDEX)}}
        for name, store in stores.items():
            print(compare(store, services, chosen.questions, chosen.starts, log).shown(name), flush=True)


if __name__ == "__main__":
    main()
