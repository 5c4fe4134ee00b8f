"""docs/performance.md and its picture show the stored figures, and goals are judged by these."""

from typing import Any

import pytest

from benchmarks import goals, plot, report, results
from benchmarks.functions import EDGE, EMPTY, LANGCHAIN, LLAMA_INDEX, NAMES, PLAIN, SERVER
from benchmarks.results import Batch, Cell, EdgeScale, Machine, Results, Size, Spread


def _spread(p50: float) -> Spread:
    return Spread(p50=p50, p95=2 * p50, count=100)


def _cell(*, init: float, second: float = 5.0, warm: float, repeated: float) -> Cell:
    return Cell(
        init=[9 * init, init, init / 9],
        first=[init + 10.0] * 3,
        first_cpu=[init] * 3,
        memory=[50.0] * 3,
        second=[second] * 3,
        different=_spread(warm),
        repeated=_spread(repeated),
    )


def _edge(chunks: int, milliseconds: float) -> EdgeScale:
    megabytes = dict.fromkeys(("disk", "unzipped", "before", "loaded", "searched", "mapped"), 100.0)
    return EdgeScale(
        chunks=chunks,
        indexed=chunks,
        build_seconds=1,
        load=10,
        search=_spread(milliseconds),
        exact=_spread(10),
        recall_5=1,
        recall_10=1,
        **megabytes,
    )


def _results(**changed: Any) -> Results:
    """A run that meets every goal, except for the given changes."""
    figures: dict[str, Any] = {"server_init": 340.0, "edge_init": 240.0, "server_warm": 4.8, "edge_repeated": 3.9}
    figures |= {"slow": 165.9, "together": 300.0, "size": 70.0, "search": 2.0, "server_second": 12.1} | changed
    cold = {
        EMPTY: _cell(init=50, warm=1, repeated=1),
        PLAIN: _cell(init=1000, warm=11, repeated=11),
        SERVER: _cell(
            init=figures["server_init"], second=figures["server_second"], warm=figures["server_warm"], repeated=2
        ),
        EDGE: _cell(init=figures["edge_init"], warm=4, repeated=figures["edge_repeated"]),
        LANGCHAIN: _cell(init=1500, warm=14, repeated=14),
        LLAMA_INDEX: _cell(init=1600, warm=15, repeated=15),
    }
    slow = _cell(init=1, warm=figures["slow"], repeated=90)
    return Results(
        date="2026-01-31",
        machine=Machine(cores=2, architecture="x86_64", python="3.13.0", load_before=0.1, load_after=1.2),
        rounds=3,
        functions={name: {0: cell, 80: slow.model_copy(update={"init": cell.init})} for name, cell in cold.items()},
        upstreams={0: results.Upstream(embed_float=_spread(1), embed_base64=_spread(1), search=_spread(1))},
        batch={SERVER: {80: Batch(questions=96, together=[figures["together"]], one_by_one=[16_000])}},
        size=Size(both=figures["size"], qdrant_client=2, qdrant_edge=35),
        edge=[_edge(1_000, 0.2), _edge(10_000, 0.6), _edge(100_000, figures["search"])],
    )


def _missed(found: Results) -> list[str]:
    return [verdict.figure for verdict in goals.judged(found) if not verdict.met]


def test_the_page_shows_the_figures_that_are_kept() -> None:
    page = report.PAGE.read_text(encoding="utf-8")
    kept = results.load()
    assert report.placed(page, report.part(kept)) == page, "`make bench ARGS=--page` writes it"
    assert f"figures {kept.digest()}" in plot.FILE.read_text(encoding="utf-8"), "`make bench ARGS=--page` draws it"


def test_the_page_has_every_function_and_part_measured() -> None:
    kept = results.load()
    assert list(kept.functions) == list(NAMES)
    assert kept.batch
    assert kept.size
    assert [edge.chunks for edge in kept.edge] == [1_000, 10_000, 100_000]


def test_a_run_may_meet_every_goal() -> None:
    verdicts = goals.judged(_results())
    assert len(verdicts) == 13
    assert all(verdict.met for verdict in verdicts)


@pytest.mark.parametrize(
    ("changed", "missed"),
    [
        ({"server_init": 351}, [f"INIT, {SERVER}"]),
        ({"edge_init": 251}, [f"INIT, {EDGE}"]),
        ({"server_init": 400}, [f"INIT, {SERVER}", f"first answer (INIT and question), {SERVER}"]),
        ({"server_second": 12.3}, [f"second answer (nothing put off until then), {SERVER}"]),
        ({"server_warm": 5.1}, ["warm p50 over the floor, no latency, passage, server store"]),
        ({"edge_repeated": 4.1}, ["warm p50 over the floor, no latency, question repeated, passage, Edge store"]),
        ({"slow": 166.1}, ["warm p50, 80 ms latency, passage, server store"]),
        ({"together": 641}, ["96 questions at once, 80 ms latency, passage, server store"]),
        ({"size": 77.1}, ["function and layer, with the Edge store alone"]),
        (
            {"size": 90.1},
            ["function and layer, with both stores", "function and layer, with the Edge store alone"],
        ),
        ({"search": 5.1}, ["Edge search p50, growth from 1,000 to 100,000 chunks"]),
    ],
)
def test_a_goal_is_missed_just_beyond_it(changed: dict[str, float], missed: list[str]) -> None:
    assert _missed(_results(**changed)) == missed
    assert report.part(_results(**changed)).count("**MISSED**") == len(missed)


@pytest.mark.parametrize(("init", "met"), [(600, True), (601, False)])
def test_ci_judges_only_init(init: float, met: bool) -> None:
    verdicts = goals.short(_results(server_init=init, server_warm=100))
    assert [(verdict.figure, verdict.met) for verdict in verdicts] == [
        (f"INIT, {SERVER}", met),
        (f"INIT, {EDGE}", True),
    ]
