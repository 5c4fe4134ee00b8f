"""`passage index --dry-run` of the largest built site, beside Pagefind, which writes its index of the same pages."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.functions import CACHE
from benchmarks.sites import SITE_URL, folders
from benchmarks.tables import table

PAGEFIND = "pagefind@1.5.2"
_MEASURE = """
import resource, subprocess, sys, time
begun = time.perf_counter()
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(time.perf_counter() - begun, used.ru_utime + used.ru_stime, used.ru_maxrss)
sys.exit(done.returncode)
"""
"""Runs a command in a small process: a child begins with the memory of its parent as its most, and ours is larger."""
FIRST, AGAIN, OTHER = "passage index, first run", "passage index, nothing changed", "Pagefind"


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run took.

    Attributes:
        wall, cpu: seconds; `cpu` is of all its processes.
        memory: the most of its largest process, megabytes.
    """

    wall: float
    cpu: float
    memory: float


def measure(rounds: int, progress: Callable[[str], None]) -> dict[str, list[Cost]]:
    """Index the site by each in turn, `rounds` times; the first run of a round finds no cache."""
    site = max(folders(), key=_bytes)
    found: dict[str, list[Cost]] = {OTHER: [], FIRST: [], AGAIN: []}
    for number in range(rounds):
        progress(f"index of {site.name}, round {number + 1} of {rounds}")
        with TemporaryDirectory() as scratch:
            ours = [str(Path(sys.executable).with_name("passage")), "index", str(site), "--dry-run", "--words"]
            ours += ["--site-url", SITE_URL, "--cache", f"{scratch}/cache", "--out", f"{scratch}/index"]
            found[OTHER].append(_run([str(_pagefind()), "--site", str(site), "--output-path", f"{scratch}/pagefind"]))
            found[FIRST].append(_run(ours))
            found[AGAIN].append(_run(ours))
    return found


def report(found: dict[str, list[Cost]]) -> str:
    base = {FIRST: OTHER, AGAIN: FIRST}
    rows = []
    for name, costs in found.items():
        wall, cpu, memory = (median(getattr(cost, each) for cost in costs) for each in ("wall", "cpu", "memory"))
        of = base.get(name)
        share = f"{wall / median(cost.wall for cost in found[of]):.2f} × {of}" if of else ""
        rows.append([name, f"{wall:.1f} s", f"{cpu:.1f} s", f"{memory:.0f} MB", share])
    return table(["", "time", "processor time", "largest process", "share of time"], rows)


def _bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*.html"))


def _pagefind() -> Path:
    """Pagefind's program, from npm."""
    folder = CACHE / PAGEFIND
    program = folder / "node_modules" / ".bin" / "pagefind"
    if not program.exists():
        subprocess.run(["npm", "install", "--silent", "--prefix", str(folder), PAGEFIND], check=True)  # noqa: S607
    return program


def _run(command: Sequence[str]) -> Cost:
    done = subprocess.run([sys.executable, "-c", _MEASURE, *command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed with {done.returncode}.")
    wall, cpu, kilobytes = map(float, done.stdout.split())
    return Cost(wall, cpu, kilobytes / 1e3)
