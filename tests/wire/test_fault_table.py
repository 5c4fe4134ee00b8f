"""The cells of docs/reliability.md, in a short form: what a failing service causes is what the page says."""

from collections.abc import Iterator

import pytest

from conftest import ROOT
from tools.faults import page
from tools.faults.cells import Service, run, services
from tools.faults.kinds import FAULTS, Fault
from tools.faults.stage import Stage, stage

TEXT = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
SERVICES = (
    *("Cohere embed", "Cohere rerank", "Bedrock", "Qdrant", "S3", "Secrets Manager"),
    *("Reply queue", "Reply topic", "Reply bus"),
)
AT_ONCE = (
    "403",
    "429, Retry-After: 3600",
    "500, once",
    "not HTTP",
    "redirect to itself",
    "200, a page",
    "200, {}",
    "204",
)
"""Faults whose cells wait for nothing, of each kind one or two."""

SECONDS = 20.0
"""A question's deadline, which no cell reaches on a busy machine."""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with stage(tmp_path_factory.mktemp("faults")) as running:
        yield running


@pytest.mark.parametrize("name", SERVICES)
def test_failing_service_does_what_the_page_says(name: str, running: Stage) -> None:
    service = next(each for each in services(running) if each.name == name)
    written = page.rows(page.section(TEXT, f"## {name}"))
    for fault in FAULTS:
        if fault.name in AT_ONCE:
            expected = {**written[fault.name], "seconds": ""}
            found = shown(running, service, fault)
            # On a busy machine, moto may take a reply later than the function waits, which then sends it twice.
            assert (found if found == expected else shown(running, service, fault)) == expected


def shown(running: Stage, service: Service, fault: Fault) -> dict[str, str]:
    """A cell as the page has it, without its time."""
    cell = run(running, service, fault, SECONDS)
    return {**dict(zip(page.HEADINGS, page.shown(cell), strict=True)), "seconds": ""}


def test_page_has_every_service_and_fault(running: Stage) -> None:
    assert [service.name for service in services(running)] == list(SERVICES)
    assert all(
        list(page.rows(page.section(TEXT, f"## {name}"))) == [fault.name for fault in FAULTS] for name in SERVICES
    )


def test_soak_grows_in_nothing_after_a_thousand_questions() -> None:
    """The figures that `make faults ARGS=--soak` wrote."""
    lines = [line.strip("|").split("|") for line in page.section(TEXT, page.SOAK).splitlines() if line[:3].strip("| ")]
    figures = [[part.strip().replace(",", "") for part in line] for line in lines if line[0].strip()[:1].isdigit()]
    assert [int(row[0]) for row in figures] == [0, 1000, 10000, 30000]
    assert float(figures[3][1]) < 1.1 * float(figures[1][1]), "memory"
    assert figures[3][2:4] == figures[1][2:4], "descriptors and threads"
