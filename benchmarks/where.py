"""Measures where a cold start's time goes: each package's imports, and the worth of each measure against them.

python -m benchmarks.where
"""

import json
import os
import re
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks import batch, tables
from benchmarks.__main__ import INDEX, SHARD, index
from benchmarks.asking import MODEL_VARIABLES, ROOT, Questions
from benchmarks.functions import CACHE, build, lambda_python
from benchmarks.upstreams import upstreams
from tools import artefact

RUNS = 9
ROW = re.compile(r"import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)")
STORES: Mapping[str, Mapping[str, str]] = {
    "server store": {"QDRANT_URL": "http://127.0.0.1:1"},
    "Edge store": {"STORE": "qdrant_edge", "EDGE_INDEX_PATH": str(INDEX)},
}
"""A starting container calls no service, so no port needs a listener."""

OURS = "this function: its own modules, and the warm-up"
STANDARD = "Python's standard library"
MOST_SHOWN = 12

PRUNED, COLLECTOR, MODELS = "pruned layer", "collector", "models"
MEASURES = (PRUNED, COLLECTOR, MODELS)
MEASURED = """
import sys, time
started = time.perf_counter()
from contextlib import ExitStack
from handler.bootstrap import container as bootstrap
from handler.cold_start import deferred_models, no_collection
from handler.entrypoints.http import handler as http
services = bootstrap.build()
measures = {"collector": no_collection, "models": deferred_models}
with ExitStack() as stack:
    for name in sys.argv[1:]:
        stack.enter_context(measures[name]())
    http.warm_up(services)
    services.load()
services.warm()
print((time.perf_counter() - started) * 1000)
"""


QUESTIONS = 300
PROFILED = """
import cProfile, collections, json, pstats, sys
import handler.app as app
events = [json.loads(line) for line in sys.stdin]
profile = cProfile.Profile()
for event in events[:50]:
    app.lambda_handler(event, None)
profile.enable()
for event in events[50:]:
    assert app.lambda_handler(event, None)["statusCode"] == 200
profile.disable()
packages = ("httpx", "httpcore", "h11", "cohere", "qdrant_client", "aws_lambda_powertools", "pydantic", "handler")
shares = collections.Counter()
for (file, _, function), (_, _, own, _, _) in pstats.Stats(profile).stats.items():
    if "'recv'" in function:  # waiting
        continue
    known = next((name for name in packages if f"/{name}/" in file), None)
    shares[known or ("built into Python" if file == "~" else "Python's standard library, and others")] += own
print(json.dumps(shares), file=sys.stderr)
"""


BATCHED = """
import json, socket, statistics, sys, time
import handler.app as app
waited = 0.0
class Waiting(socket.socket):
    def recv(self, *arguments):
        global waited
        started = time.perf_counter()
        try:
            return super().recv(*arguments)
        finally:
            waited += time.perf_counter() - started
socket.socket = Waiting
together, waiting = [], []
for line in sys.stdin:
    event, waited, started = json.loads(line), 0.0, time.perf_counter()
    answers = app.lambda_handler(event, None)
    together.append((time.perf_counter() - started) * 1000)
    waiting.append(waited * 1000)
    assert len(answers) == 96 and all("results" in answer for answer in answers)
print(*(f"{statistics.median(each[3:]):.0f}" for each in (together, waiting)), file=sys.stderr)
"""


def main() -> None:
    index()
    built = build()
    print("Importing the function, milliseconds, the least of each module in", RUNS, "runs\n")
    columns = [_by_package(built.python, built.code, store) for store in STORES.values()]
    print(tables.table(["package", *STORES], _rows(columns)))
    print("\nImporting the function and warming it up, over the same with no measure, medians of", RUNS, "\n")
    unpruned = artefact.build(ROOT, CACHE, lambda_python(), pruned=False)
    print(tables.table(["measures", "ratio"], _worth(built, unpruned)))
    print("\nA warm answer's own time with the server store, by cProfile; waiting for the services left out\n")
    print(tables.table(["package", "share"], _warm(built.python, built.code)))
    print("\n96 new questions in one invocation, no latency, milliseconds, medians of", RUNS, "\n")
    print(tables.table(["store", "together", "of that waiting for the services"], _batch(built.python, built.code)))


def _by_package(python: Path, code: Sequence[Path], store: Mapping[str, str]) -> Counter[str]:
    """Milliseconds of one cold start, by package."""
    least: dict[str, float] = {}
    for _ in range(RUNS):
        printed = _run(python, code, store, "-X", "importtime", "-c", "import handler.app").stderr
        for microseconds, module in ROW.findall(printed):
            least[module] = min(least.get(module, float("inf")), int(microseconds) / 1000)
    packages: Counter[str] = Counter()
    for module, milliseconds in least.items():
        top = module.split(".")[0]
        known = top in sys.stdlib_module_names or top.startswith("_")
        packages[OURS if top == "handler" else STANDARD if known else top] += milliseconds  # type: ignore[assignment]
    return packages


def _rows(columns: Sequence[Counter[str]]) -> list[list[str]]:
    order = [name for name, _ in sum(columns, Counter[str]()).most_common()]
    shown, rest = order[:MOST_SHOWN], order[MOST_SHOWN:]
    rows = [[name, *(f"{column[name]:.0f}" for column in columns)] for name in shown]
    others = [sum(column[name] for name in rest) for column in columns]
    whole = [sum(column.values()) for column in columns]
    return [*rows, ["others", *map("{:.0f}".format, others)], ["together", *map("{:.0f}".format, whole)]]


def _worth(built: artefact.Artefact, unpruned: artefact.Artefact) -> list[list[str]]:
    chosen = [(), *((name,) for name in MEASURES), MEASURES]
    took: dict[tuple[str, ...], list[float]] = {names: [] for names in chosen}
    for _ in range(RUNS):
        for names in chosen:
            code = (built if PRUNED in names else unpruned).code
            at_run_time = [name for name in names if name != PRUNED]
            done = _run(built.python, code, STORES["server store"], "-c", MEASURED, *at_run_time)
            took[names].append(float(done.stdout))
    plain = statistics.median(took[()])
    return [[", ".join(names) or "none", f"{statistics.median(took[names]) / plain:.2f}"] for names in chosen]


def _warm(python: Path, code: Sequence[Path]) -> list[list[str]]:
    texts = Questions().texts()
    events = "\n".join(Questions().http(next(texts)) for _ in range(QUESTIONS))
    with upstreams(SHARD, 0) as services:
        done = _run(python, code, {**services, **MODEL_VARIABLES}, "-c", PROFILED, given=events)
    shares: dict[str, float] = json.loads(done.stderr.splitlines()[-1])
    whole = sum(shares.values())
    ranked = sorted(shares.items(), key=lambda item: item[1], reverse=True)
    return [[name, f"{share / whole:.0%}"] for name, share in ranked if share / whole >= 0.01]


def _batch(python: Path, code: Sequence[Path]) -> list[list[str]]:
    texts = Questions().texts()
    events = "\n".join(Questions().direct(*(next(texts) for _ in range(batch.QUESTIONS))) for _ in range(RUNS + 3))
    rows = []
    with upstreams(SHARD, 0) as services:
        for name, store in STORES.items():
            done = _run(python, code, {**store, **services, **MODEL_VARIABLES}, "-c", BATCHED, given=events)
            rows.append([name, *done.stderr.split()[-2:]])
    return rows


def _run(
    python: Path, code: Sequence[Path], store: Mapping[str, str], *arguments: str, given: str | None = None
) -> subprocess.CompletedProcess[str]:
    variables = {"COHERE_API_KEY": "local", "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand", **store}
    environment = {**os.environ, **variables, "PYTHONPATH": os.pathsep.join(map(str, code))}
    done = subprocess.run(
        [str(python), *arguments], input=given, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return done


if __name__ == "__main__":
    main()
