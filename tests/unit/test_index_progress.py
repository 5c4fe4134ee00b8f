"""How a run of `passage index` is shown, and what its plan says."""

import io
import sys

import pytest

from passage.indexing.plan import Changes, EmbeddingWork, Plan, choose
from passage.indexing.progress import Progress
from passage.sites.model import Flaw, Skip

NONE = Changes(0, 0, 0, 0)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, *, quiet: bool) -> str:
    """The terminal output of one step."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with Progress(quiet=quiet, waits_for="index") as progress:
        advance = progress.embedding(200)
        for _ in range(2):
            advance(100)
    return terminal.getvalue()


def test_terminal_shows_rate_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, quiet=False)
    assert "200/200" in text
    assert "texts/s" in text
    assert "<00:00" in text


def test_wait_names_what_another_run_writes(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress(quiet=True, waits_for="index") as progress:
        progress.waiting()
        progress.waiting("the vector cache in x")
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "Another run is writing to index",
        "Another run is writing to the vector cache in x",
    ]


def test_ci_gets_a_line_and_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, quiet=True) == "Embedding 200 texts …\n"


def plan(action: str = "replace", **changes: object) -> Plan:
    given = {
        "where": "index",
        "note": "",
        "pages": Changes(1, 2, 3, 4),
        "points": Changes(10, 20, 30, 40),
        "skipped": (),
    }
    return Plan(action=action, **{**given, **changes})  # type: ignore[arg-type]


def test_plan_names_changes_skips_and_cost() -> None:
    skipped = (
        Skip("a.md", "a draft"),
        Skip("b.md", "a draft"),
        Skip("c.md", "is not JSON", failed=True),
        Flaw("d.md", "is torn"),
    )
    lines = list(plan(skipped=skipped, embedding=EmbeddingWork(300, 45_000, 4, "embed-v5.0-pro", 1.5)).lines())
    assert lines == [
        "6 pages (1 added, 2 changed, 4 removed, 3 unchanged), "
        "60 chunks (10 added, 20 changed, 40 removed, 30 unchanged)",
        "2 files left out: a draft (2)",
        "Warning: c.md is not JSON",
        "1 of 7 pages could not be read.",
        "Warning: d.md is torn",
        "Write index: 60 points",
        "Embed 300 texts with embed-v5.0-pro: about 45,000 tokens in 4 calls, about $1.50",
    ]


def test_edit_counts_deleted_points_too() -> None:
    assert plan("edit").to_write == 70
    assert plan("nothing").to_write == 0


def test_model_without_a_price_says_so() -> None:
    assert "no price known" in list(plan(embedding=EmbeddingWork(1, model="my-model")).lines())[-1]


@pytest.mark.parametrize(
    ("points", "editable", "action"),
    [
        (Changes(1, 1, 8, 0), True, "edit"),
        (Changes(0, 0, 10, 5), True, "edit"),
        (Changes(3, 3, 4, 0), True, "replace"),
        (Changes(1, 1, 8, 0), False, "replace"),
        (Changes(10, 0, 0, 0), False, "replace"),
    ],
)
def test_small_changes_are_edits(points: Changes, editable: bool, action: str) -> None:
    assert choose(points, editable=editable) == action
