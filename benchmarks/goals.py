"""The goals, and whether a run's figures meet them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import linear_regression, median

from benchmarks.functions import EDGE, EMPTY, PLAIN, SERVER
from benchmarks.results import Cell, Results

SLOW = 80
"""Milliseconds of latency; everything is measured with this and with 0."""

CI_INIT = 0.6
"""A short run fails above this share of the plain handler's INIT. A ratio does not depend on the machine's speed."""

INIT = {SERVER: 0.35, EDGE: 0.25}
FIRST = {SERVER: 0.40, EDGE: 0.30}
WARM_SHARE = 0.40
REPEATED = 3.0
OVER_LATENCY = 6.0
BATCH = 25.0
SIZE_SERVER, SIZE_EDGE = 90.0, 75.0
SLOPE = 0.7
"""Of search time over chunks, both as logarithms: 1 would be linear growth, 0.7 is a factor of 5 for ten times more."""

SECOND_TIMES, SECOND_MORE = 1.5, 5.0
"""A second answer may take 1.5 times a later one and 5 ms: any function's is a little slower, the empty one's too,
while the interpreter tunes itself; an import or a client put off until then would be tens of milliseconds."""


@dataclass(frozen=True)
class Verdict:
    """A figure and its goal. `how` has the figures of the ratio."""

    figure: str
    goal: str
    measured: str
    met: bool
    how: str = ""


def judged(results: Results) -> list[Verdict]:
    """A verdict on every goal whose figures were measured, in the order of the goals."""
    return list(_functions(results)) + list(_others(results))


def short(results: Results) -> list[Verdict]:
    """The goals that CI checks."""
    return [_share(f"INIT, {store}", *_inits(results, store), CI_INIT) for store in (SERVER, EDGE)]


def _functions(results: Results) -> Iterator[Verdict]:
    found = results.functions
    if not {EMPTY, PLAIN, SERVER, EDGE} <= set(found):
        return
    for store in (SERVER, EDGE):
        yield _share(f"INIT, {store}", *_inits(results, store), INIT[store])
    for store in (SERVER, EDGE):
        yield _share(f"first answer (INIT and question), {store}", *_firsts(results, store), FIRST[store])
    for store in (SERVER, EDGE):
        yield _second(store, found[store][0])
    floor = found[EMPTY][0].different.p50
    over = found[SERVER][0].different.p50 - floor, found[PLAIN][0].different.p50 - floor
    yield _share("warm p50 over the floor, no latency, passage, server store", *over, WARM_SHARE, digits=1)
    repeated = found[EDGE][0].repeated.p50 - floor
    figure = "warm p50 over the floor, no latency, question repeated, passage, Edge store"
    yield _at_most(figure, repeated, REPEATED, "ms", f"{found[EDGE][0].repeated.p50:.1f} − {floor:.1f} ms")
    if SLOW in found[SERVER]:
        limit = 2 * SLOW + OVER_LATENCY
        figure = f"warm p50, {SLOW} ms latency, passage, server store"
        yield _at_most(figure, found[SERVER][SLOW].different.p50, limit, "ms", f"two calls of {SLOW} ms each")


def _others(results: Results) -> Iterator[Verdict]:
    for function, by_latency in results.batch.items():
        for latency, batch in by_latency.items():
            one_by_one, together = median(batch.one_by_one), median(batch.together)
            factor = one_by_one / together
            yield Verdict(
                f"{batch.questions} questions at once, {latency} ms latency, {function}",
                f"≥ {BATCH:g} × one by one",
                f"{factor:.1f} ×",
                factor >= BATCH,
                f"{one_by_one:.0f} / {together:.0f} ms",
            )
    if size := results.size:
        yield _at_most("function and layer, with both stores", size.both, SIZE_SERVER, "MB", "unzipped")
        alone = size.both - size.qdrant_client
        how = f"{size.both:.1f} − {size.qdrant_client:.1f} MB of qdrant-client"
        yield _at_most("function and layer, with the Edge store alone", alone, SIZE_EDGE, "MB", how)
    if len(results.edge) > 1:
        points = [(math.log(edge.chunks), math.log(edge.search.p50)) for edge in results.edge]
        slope = linear_regression(*zip(*points, strict=True)).slope
        ends = f"{results.edge[0].chunks:,} to {results.edge[-1].chunks:,}"
        how = "slope of its logarithm over that of the number of chunks"
        yield _at_most(f"Edge search p50, growth from {ends} chunks", slope, SLOPE, "", how, digits=2)


def _inits(results: Results, store: str) -> tuple[float, float]:
    """Medians of every container's INIT, at any latency: INIT calls no service."""
    ours, plain = ([init for cell in results.functions[name].values() for init in cell.init] for name in (store, PLAIN))
    return median(ours), median(plain)


def _firsts(results: Results, store: str) -> tuple[float, float]:
    return median(results.functions[store][0].first), median(results.functions[PLAIN][0].first)


def _share(figure: str, ours: float, plain: float, limit: float, digits: int = 0) -> Verdict:
    goal, how = f"≤ {limit:.2f} × plain handler's", f"{ours:.{digits}f} / {plain:.{digits}f} ms"
    return Verdict(figure, goal, f"{ours / plain:.2f} ×", ours <= limit * plain, how)


def _second(store: str, cell: Cell) -> Verdict:
    second, later = median(cell.second), cell.different.p50
    limit = SECOND_TIMES * later + SECOND_MORE
    how = f"{SECOND_TIMES:g} × {later:.1f} + {SECOND_MORE:g} ms"
    return _at_most(f"second answer (nothing put off until then), {store}", second, limit, "ms", how)


def _at_most(figure: str, measured: float, limit: float, unit: str, how: str, digits: int = 1) -> Verdict:
    unit = f" {unit}" if unit else ""
    goal = f"≤ {limit:.{digits}f}{unit}".replace(".0 ", " ")
    return Verdict(figure, goal, f"{measured:.{digits}f}{unit}", measured <= limit, how)
