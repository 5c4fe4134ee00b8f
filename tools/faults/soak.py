"""30,000 questions to one container, while one request in a hundred to its services fails: does anything grow?"""

import json
import random
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from passage.local.http_event import http_api_event
from tools.faults.kinds import FAULTS, Fault, Request
from tools.faults.stage import Stage
from tools.runtime import Runtime

QUESTIONS = (0, 1_000, 10_000, 30_000)
SHARE = 0.01
SEED = 1
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Figures:
    """The function's process after a number of questions, and how those were answered."""

    questions: int
    memory_mb: float
    descriptors: int
    threads: int
    statuses: Counter[int]


def soak(stage: Stage) -> list[Figures]:
    """Ask a container under Lambda's own loop, with a Qdrant server as its store."""
    chance = random.Random(SEED)  # noqa: S311 - the same faults in each run
    faults = [fault for fault in FAULTS if not fault.slow and not fault.refuses]

    def choose(_: Request) -> Fault | None:
        return chance.choice(faults) if chance.random() < SHARE else None

    for name in ("cohere", "qdrant"):
        stage.doors[name].choose(choose)
    variables = {
        **stage.variables,
        "STORE": "qdrant_server",
        "QDRANT_URL": stage.doors["qdrant"].url,
        "EDGE_INDEX_PATH": None,
        "REPLY_QUEUE_URL": None,
    }
    found: list[Figures] = []
    statuses: Counter[int] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with Runtime(environment=variables, code=(ROOT / "src",), log=log) as container:
            container.invoke(_event(-1))  # INIT, and whatever the first question leaves
            for number in range(QUESTIONS[-1] + 1):
                if number in QUESTIONS:
                    found.append(_figures(container, number, statuses))
                    print(found[-1], flush=True)  # noqa: T201 - progress
                statuses[container.invoke(_event(number))["statusCode"]] += 1
    return found


def _event(number: int) -> dict[str, object]:
    body = {"text": f"What is a digital twin, asked for the time number {number}?", "k": 2}
    return http_api_event("POST", "/query", body=json.dumps(body).encode())


def _figures(container: Runtime, questions: int, statuses: Counter[int]) -> Figures:
    process = container.process()
    resident = next(line for line in (process / "status").read_text().splitlines() if line.startswith("VmRSS:"))
    return Figures(
        questions=questions,
        memory_mb=int(resident.split()[1]) * 1024 / 1e6,
        descriptors=len(list((process / "fd").iterdir())),
        threads=len(list((process / "task").iterdir())),
        statuses=Counter(statuses),
    )


def section(heading: str, found: list[Figures]) -> str:
    """The page's section."""
    lines = [
        heading,
        "",
        f"One container under the Runtime Interface Emulator; no two questions are alike. {SHARE:.0%} of the requests",
        "to Cohere and Qdrant fail, each in one of the ways above that do not wait (`make faults ARGS=--soak`).",
        "",
        "| questions | memory, MB | descriptors | threads | answered | failed |",
        "|---|---|---|---|---|---|",
    ]
    for each in found:
        failed = sum(each.statuses.values()) - each.statuses[200]
        figures = (f"{each.questions:,}", f"{each.memory_mb:.0f}", each.descriptors, each.threads)
        lines.append("| " + " | ".join(map(str, (*figures, f"{each.statuses[200]:,}", f"{failed:,}"))) + " |")
    return "\n".join(lines) + "\n"
