"""python -m tools.faults [--soak] [--only SERVICE]: runs the cells, or the soak, and writes docs/reliability.md."""

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tools.faults import page, soak
from tools.faults.cells import Cell, Service, run, services
from tools.faults.kinds import FAULTS
from tools.faults.stage import Stage, stage

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reliability.md"


def main() -> None:
    parser = argparse.ArgumentParser(prog="make faults ARGS=…", description=__doc__)
    parser.add_argument("--soak", action="store_true", help="ask 30,000 questions, and write that section anew")
    parser.add_argument("--only", metavar="SERVICE", help="write one service's section anew")
    chosen = parser.parse_args()
    made = {}
    with tempfile.TemporaryDirectory() as folder, stage(Path(folder)) as running:
        if chosen.soak:
            made[page.SOAK] = soak.section(page.SOAK, soak.soak(running))
        for service in () if chosen.soak else services(running):
            if chosen.only in (None, service.name):
                made[f"## {service.name}"] = page.table(service.name, _cells(running, service))
        headings = [*(f"## {service.name}" for service in services(running)), page.SOAK]
    text = PAGE.read_text(encoding="utf-8")
    *tables, last = [made.get(heading) or page.section(text, heading) for heading in headings]
    PAGE.write_text(page.page(tables, last), encoding="utf-8")


def _cells(stage: Stage, service: Service) -> Iterator[Cell]:
    for fault in FAULTS:
        cell = run(stage, service, fault)
        print(service.name, *page.shown(cell), sep=" | ", flush=True)  # noqa: T201 - progress
        yield cell


if __name__ == "__main__":
    main()
