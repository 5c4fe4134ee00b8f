"""docs/performance.md and its picture show the stored figures, and goals are judged by these."""

from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import goals, plot, report, results, tables
from benchmarks.asking import Questions, alike
from benchmarks.edge_vectors import blocks
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


def test_missing_measurement_is_not_judged() -> None:
    found = _results()
    found.functions.pop(PLAIN)
    found.batch, found.size, found.edge = {}, None, found.edge[:1]
    assert goals.judged(found) == []


@pytest.mark.parametrize(("init", "met"), [(600, True), (601, False)])
def test_ci_judges_only_init(init: float, met: bool) -> None:
    verdicts = goals.short(_results(server_init=init, server_warm=100))
    assert [(verdict.figure, verdict.met) for verdict in verdicts] == [
        (f"INIT, {SERVER}", met),
        (f"INIT, {EDGE}", True),
    ]


def test_a_missed_goal_is_seen_in_the_page() -> None:
    content = report.part(_results(slow=170))
    row = next(line for line in content.splitlines() if line.startswith("| warm p50, 80 ms latency"))
    assert [cell.strip() for cell in row.strip("|").split("|")][1:4] == ["≤ 166 ms", "170.0 ms", "**MISSED**"]
    assert content.count("MISSED") == 1


def test_only_text_between_the_marks_is_replaced() -> None:
    page = f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n"
    assert report.placed(page, "new") == f"before\n{report.BEGIN}\n\nnew\n\n{report.END}\nafter\n"


@pytest.mark.parametrize(
    "page",
    [
        "no marks",
        f"{report.BEGIN}\n",
        f"{report.END}\n{report.BEGIN}\n",
        f"{report.BEGIN}\n{report.END}\n{report.BEGIN}\n{report.END}\n",
        f"{report.BEGIN}\n{report.END}\n{report.END}\n",
    ],
    ids=["no mark", "no end", "the wrong way round", "both twice", "an end too many"],
)
def test_page_with_missing_or_repeated_marks_is_refused(page: str) -> None:
    with pytest.raises(ValueError, match="once each"):
        report.placed(page, "new")


def test_table_is_readable_as_plain_text() -> None:
    assert tables.table(["what", "how much"], [["one", "1.5 ms"], ["another", "12,000 ms"]]).splitlines() == [
        "| what    |  how much |",
        "|---------|----------:|",
        "| one     |    1.5 ms |",
        "| another | 12,000 ms |",
    ]


def test_the_picture_says_which_figures_it_shows(tmp_path: Path) -> None:
    found = _results()
    plot.draw(found, tmp_path / "one.svg")
    plot.draw(found, tmp_path / "two.svg")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert f"<dc:description>figures {found.digest()}<" in (tmp_path / "one.svg").read_text(encoding="utf-8")


def test_saved_figures_load_unchanged(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(_results().text(), encoding="utf-8")
    assert results.load(tmp_path / "results.json") == _results()


def test_no_question_is_asked_twice() -> None:
    texts = list(islice(Questions().texts(), 1_000))
    assert len(set(texts)) == 1_000


def test_answers_with_the_same_passages_in_order_are_alike() -> None:
    one, other = ("a text", "https://a.example/", 0.9), ("another", "https://b.example/", 0.8)
    assert alike([one, other], [(*one[:2], 0.90005), other])
    assert not alike([one, other], [other, one])
    assert not alike([one, other], [one])
    assert not alike([one], [(*one[:2], 0.91)])


def test_made_up_embeddings_lie_as_those_of_texts_do() -> None:
    first, second = blocks(500)
    again, _ = blocks(500)
    assert np.array_equal(first.chunks, again.chunks)
    assert np.allclose(np.linalg.norm(np.concatenate([first.chunks, second.questions]), axis=1), 1.0, atol=1e-5)
    own = np.sum(first.questions * first.chunks, axis=1)
    of_page = first.questions[:10] @ first.chunks[:10].T
    of_topic, of_another = first.questions @ first.chunks[-10:].T, first.questions @ second.chunks.T
    assert own.mean() > of_page.mean() > of_topic.mean() > of_another.mean()
    assert own.mean() == pytest.approx(0.7, abs=0.05)
    assert of_another.mean() == pytest.approx(0.2, abs=0.05)
