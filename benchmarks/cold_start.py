"""Cold start and warm latency under the Runtime Interface Emulator, each function in turn within each round.

Figures of one machine at one time mean little; the ratios between functions measured side by side do. Prints both, and
ends with exit code 1 when a ratio misses its goal.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from devkit import artefact
from devkit.emulators import cohere_emulator, qdrant_emulator
from devkit.runtime import Runtime

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
PYTHON = ROOT / ".venv-function" / "bin" / "python"
HANDLERS = Path(__file__).resolve().parent / "handlers"
INDEX = ROOT / ".passage" / "index"
COLLECTION = "rag_embeddings"
CACHE = ROOT / ".passage" / "artefact"
OURS = "handler.app.lambda_handler"

GOALS = {"passage, server store": 0.50, "passage, Edge store": 0.33}
"""INIT at most this much of the plain handler's."""


@dataclass(frozen=True)
class Function:
    name: str
    handler: str
    code: tuple[Path, ...]
    environment: Mapping[str, str]
    python: Path = PYTHON


@dataclass
class Figures:
    """Milliseconds. `first` is what the first caller waits: INIT and the first invocation."""

    init: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    warm: list[float] = field(default_factory=list)


def measure(function: Function, event: str, warm: int, log: Path, figures: Figures) -> None:
    with Runtime(
        function.handler, environment=function.environment, code=function.code, python=function.python, log=log
    ) as runtime:
        started = time.perf_counter()
        answer = runtime.invoke_raw(event)
        figures.first.append((time.perf_counter() - started) * 1000)
        if answer.get("statusCode") != 200:
            raise SystemExit(f"{function.name} did not answer:\n{json.dumps(answer)}\n{runtime.log()}")
        figures.init.append(runtime.init_ms())
        for _ in range(warm):
            started = time.perf_counter()
            runtime.invoke_raw(event)
            figures.warm.append((time.perf_counter() - started) * 1000)


def from_source(upstreams: Mapping[str, str], edge: Mapping[str, str]) -> tuple[Function, ...]:
    """The function as it is developed, on the interpreter and the packages of .venv-function."""
    return (
        Function("empty handler", "empty.lambda_handler", (HANDLERS,), {}),
        Function("plain handler", "plain.lambda_handler", (HANDLERS,), upstreams),
        Function("passage, server store", OURS, (SOURCE,), upstreams),
        Function("passage, Edge store", OURS, (SOURCE,), edge),
    )


def from_artefact(upstreams: Mapping[str, str], edge: Mapping[str, str]) -> tuple[Function, ...]:
    """The function as it is deployed, with its bytecode and without, on Lambda's Python; so are the others."""
    python = artefact.find_python()
    if python is None:
        raise SystemExit(f"--artefact measures on Python {artefact.LAMBDA_PYTHON}, which was not found")
    built = artefact.build(ROOT, CACHE, python)
    bare = artefact.build(ROOT, CACHE, python, bytecode=False)
    packages = artefact.installed(ROOT / "requirements" / "runtime.txt", CACHE, python)
    unwritten = {"PYTHONDONTWRITEBYTECODE": "1"}
    return (
        Function("empty handler", "empty.lambda_handler", (HANDLERS, built.runtime), {}, built.python),
        Function("plain handler", "plain.lambda_handler", (HANDLERS, packages), upstreams, built.python),
        Function("passage, server store", OURS, built.code, upstreams, built.python),
        Function("passage, Edge store", OURS, built.code, edge, built.python),
        Function("server store, no .pyc", OURS, bare.code, {**upstreams, **unwritten}, bare.python),
        Function("Edge store, no .pyc", OURS, bare.code, {**edge, **unwritten}, bare.python),
    )


def percentile(values: list[float], share: float) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[round(share * 100) - 1]


def report(results: Mapping[str, Figures]) -> None:
    plain = statistics.median(results["plain handler"].init)
    print(f"\n{'function':<24}{'INIT':>9}{'ratio':>8}{'first answer':>15}{'warm p50':>11}{'warm p95':>11}")
    for name, figures in results.items():
        init = statistics.median(figures.init)
        first = statistics.median(figures.first)
        p50, p95 = percentile(figures.warm, 0.5), percentile(figures.warm, 0.95)
        print(f"{name:<24}{init:>6.0f} ms{init / plain:>8.2f}{first:>12.0f} ms{p50:>8.1f} ms{p95:>8.1f} ms")
    print("\nINIT and first answer: medians. ratio: INIT over the plain handler's. Emulated upstreams on loopback.")


def missed(results: Mapping[str, Figures]) -> list[str]:
    plain = statistics.median(results["plain handler"].init)
    lines = []
    for name, goal in GOALS.items():
        ratio = statistics.median(results[name].init) / plain
        verdict = "met" if ratio <= goal else "MISSED"
        print(f"{name}: INIT is {ratio:.2f} of the plain handler's, goal {goal:.2f}: {verdict}")
        if ratio > goal:
            lines.append(name)
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="cold starts of each function")
    parser.add_argument("--warm", type=int, default=50, help="warm invocations after each cold start")
    parser.add_argument("--artefact", action="store_true", help="measure the built function and layer, not the source")
    options = parser.parse_args()
    subprocess.run(
        [f"{Path(sys.executable).parent}/passage", "index", str(ROOT / "samples" / "textbook"), "--out", str(INDEX)],
        check=True,
    )
    event = (ROOT / "events" / "http-api-query.json").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        storage = Path(folder) / "qdrant"
        shutil.copytree(INDEX / "query-response" / "shard", storage / COLLECTION)
        with cohere_emulator() as cohere, qdrant_emulator(storage) as qdrant:
            upstreams = {"COHERE_API_KEY": "local", "COHERE_BASE_URL": cohere.url, "QDRANT_URL": qdrant.url}
            edge = {**upstreams, "STORE": "qdrant_edge", "EDGE_INDEX_PATH": str(INDEX)}
            functions = (from_artefact if options.artefact else from_source)(upstreams, edge)
            results = {function.name: Figures() for function in functions}
            for function in functions:  # unmeasured: bytecode, the emulators' model, the file cache
                measure(function, event, 1, Path(folder) / "log", Figures())
            for number in range(options.rounds):
                print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
                for function in functions:
                    measure(function, event, options.warm, Path(folder) / "log", results[function.name])
    report(results)
    print()
    return 1 if missed(results) else 0


if __name__ == "__main__":
    sys.exit(main())
