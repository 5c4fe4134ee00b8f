"""Measures cold start, warm latency, batches, size and the Edge store's growth, compared with alternatives.

Absolute figures depend on the machine; ratios between functions measured in the same run are reliable. Prints both, and
exits with code 1 when a goal is missed.
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import (
    asked_directly,
    batch,
    edge_scale,
    functions,
    goals,
    indexing,
    measure,
    plot,
    report,
    results,
    sites,
    size,
    tables,
    writing,
)
from benchmarks.asking import MODEL_VARIABLES, ROOT
from benchmarks.upstreams import upstreams

BUSY = 1.0
"""With a higher load average, other programs run, which disturb the ratios."""

INDEX = ROOT / ".passage" / "bench" / "index"
SHARD = INDEX / "query-response" / "shard"
PARTS = ("functions", "batch", "size", "edge", "writing", "sites", "indexing")
READERS = {"sites", "indexing"}


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench ARGS=…", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="cold starts of each function at each latency")
    parser.add_argument("--warm", type=int, default=50, help="warm invocations of each kind after each of them")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="measure these alone")
    parser.add_argument(
        "--chunks", nargs="+", type=int, default=edge_scale.CHUNKS, help="sizes of Edge indexes; 100000 builds minutes"
    )
    parser.add_argument("--short", action="store_true", help="what CI runs: INIT against the plain handler's")
    parser.add_argument("--source", action="store_true", help="measure src/ instead of the built function and layer")
    parser.add_argument("--bare", action="store_true", help="measure the build without its bytecode as well")
    parser.add_argument("--write", action="store_true", help="keep the figures and write docs/performance.* from them")
    parser.add_argument("--page", action="store_true", help="measure nothing, write docs/performance.* again")
    chosen = parser.parse_args()
    part = chosen.short or chosen.source or chosen.bare or set(chosen.only) != set(PARTS)
    if chosen.write and (part or tuple(chosen.chunks) != edge_scale.CHUNKS):
        parser.error("--write keeps a whole run of what is deployed: it goes with --rounds and --warm alone")
    if chosen.write and os.getloadavg()[0] > BUSY:
        parser.error(f"--write keeps what a quiet machine shows: the load average is {os.getloadavg()[0]:.1f}")
    return chosen


def main() -> int:
    chosen = options()
    if chosen.page:
        write(results.load())
        return 0
    if "sites" in chosen.only and not chosen.short:
        print(f"\nReading and cutting built sites\n\n{sites.report(sites.measure(chosen.rounds, progress))}")
    if "indexing" in chosen.only and not chosen.short:
        costs = indexing.measure(chosen.rounds, progress)
        print(f"\nReading and cutting one site, beside Pagefind\n\n{indexing.report(costs)}")
    if READERS.issuperset(chosen.only):
        return 0
    found = run(chosen)
    for heading, content in tables.sections(found):
        print(f"\n{heading}\n\n{content}")
    verdicts = goals.short(found) if chosen.short else goals.judged(found)
    print(f"\n{report.machine(found)}\n\n{report.verdicts(verdicts)}")
    if chosen.write:
        write(found)
    return 0 if all(verdict.met for verdict in verdicts) else 1


def run(chosen: argparse.Namespace) -> results.Results:
    names = functions.SHORT if chosen.short else (*functions.NAMES, *(functions.BARE if chosen.bare else ()))
    rounds, warm = (5, 10) if chosen.short else (chosen.rounds, chosen.warm)
    parts = ("functions",) if chosen.short else chosen.only
    progress("building the function and its layer, installing what it is measured beside (kept for the next run)")
    index()
    measured = functions.functions(names, INDEX, from_source=chosen.source)
    found = results.Results(date="", machine=_machine(), rounds=rounds, functions={})
    with ExitStack() as stack:
        log = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "log"
        latencies = (0,) if chosen.short else (0, goals.SLOW)
        services = {latency: stack.enter_context(upstreams(SHARD, latency)) for latency in latencies}
        if "functions" in parts:
            progress("one unmeasured round, to fill caches of files and to compare the answers")
            measure.check(measured, services[0], log)
            plan = measure.Plan(rounds, {0: warm, goals.SLOW: -(-warm // 3)}, {0: warm, goals.SLOW: -(-warm // 5)})
            found.functions = measure.measure(measured, services, plan, log, progress)
            found.upstreams = {latency: asked_directly.measure(service) for latency, service in services.items()}
        if "batch" in parts:
            progress("batches")
            ours = [function for function in measured if function.name in (functions.SERVER, functions.EDGE)]
            found.batch = batch.measure(ours, services, -(-rounds // 2), log)
    if "size" in parts:
        found.size = size.measure(functions.build())
    if "edge" in parts:
        found.edge = [edge(chunks) for chunks in sorted(chosen.chunks)]
    if "writing" in parts:
        for chunks in writing.CHUNKS:
            progress(f"a run of `passage index` with {chunks:,} chunks for each store")
            found.writing += [writing.measure(store, chunks) for store in writing.STORES]
    found.date = datetime.now(UTC).date().isoformat()
    found.machine.load_after = round(os.getloadavg()[0], 2)
    return found


def edge(chunks: int) -> results.EdgeScale:
    progress(f"an Edge index of {chunks:,} chunks")
    return edge_scale.measure(chunks)


def index() -> None:
    command: Sequence[str] = [f"{Path(sys.executable).parent}/passage", "index", str(ROOT / "samples" / "textbook")]
    # With a key in the shell's environment, Cohere would embed the index.
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("COHERE_", "EMBEDDING_"))}
    environment |= MODEL_VARIABLES
    subprocess.run([*command, "--out", str(INDEX)], check=True, env=environment, stdout=subprocess.DEVNULL)


def write(found: results.Results) -> None:
    results.FILE.write_text(found.text(), encoding="utf-8")
    page = report.placed(report.PAGE.read_text(encoding="utf-8"), report.part(found))
    report.PAGE.write_text(page, encoding="utf-8")
    plot.draw(found)


def progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _machine() -> results.Machine:
    python = functions.lambda_python()
    version = subprocess.run([str(python), "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    load = round(os.getloadavg()[0], 2)
    return results.Machine(
        cores=os.cpu_count() or 0,
        architecture=platform.machine(),
        python=version,
        load_before=load,
        load_after=load,
    )


if __name__ == "__main__":
    sys.exit(main())
