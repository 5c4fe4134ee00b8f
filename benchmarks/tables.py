"""A run's figures as Markdown tables that are readable as plain text."""

import re
from collections.abc import Iterator, Sequence
from statistics import median

from benchmarks.functions import PLAIN
from benchmarks.results import Results

_FIGURE = re.compile(r"[\d., ]+( \S+)?$")
_KINDS = ("different", "repeated")
_EDGE = [
    "chunks",
    "in the graph",
    "search p50, p95",
    "exact p50",
    "recall@5",
    "recall@10",
    "load",
    "memory",
    "of that mapped",
    "on disk",
    "unzipped",
    "build",
]


_WRITING = ["store", "chunks", "read and cut", "written", "own memory", "with mapped files"]


def sections(results: Results) -> Iterator[tuple[str, str]]:
    """Heading and table of each kind of figure that was measured."""
    if results.functions:
        yield (
            "Cold",
            table(
                ["upstream latency 0 ms", "INIT", "× plain", "first answer", "its CPU time", "second", "memory"],
                list(_cold(results)),
            ),
        )
        yield (
            "Warm",
            table(
                ["p50, p95", *(f"{kind}, {latency} ms" for latency in _latencies(results) for kind in _KINDS)],
                list(_warm(results)),
            ),
        )
    if results.upstreams:
        yield (
            "The emulators themselves",
            table(
                ["latency", "embedding, as numbers", "embedding, as base64", "search"],
                [
                    [f"{latency} ms", *(f"{each.p50:.1f} ms" for each in (up.embed_float, up.embed_base64, up.search))]
                    for latency, up in results.upstreams.items()
                ],
            ),
        )
    if results.batch:
        yield "Batch", table(["questions", "latency", "at once", "one by one", "throughput"], list(_batch(results)))
    if size := results.size:
        rows = [("function and layer", size.both), ("of that the server store's, qdrant-client", size.qdrant_client)]
        rows.append(("of that the Edge store's, qdrant-edge-py", size.qdrant_edge))
        yield "Size", table(["unzipped", ""], [[name, f"{value:.1f} MB"] for name, value in rows])
    if results.edge:
        yield "The Edge store as it grows", table(_EDGE, list(_edge(results)))
    if results.writing:
        yield "`passage index`, without embedding", table(_WRITING, list(_writing(results)))


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table that can be read as it is: figures to the right, words to the left."""
    columns = list(zip(header, *rows, strict=True))
    words = [index == 0 or not all(_FIGURE.match(cell) for cell in column[1:]) for index, column in enumerate(columns)]
    widths = [max(3, *map(len, column)) for column in columns]

    def line(cells: Sequence[str]) -> str:
        padded = (
            cell.ljust(width) if word else cell.rjust(width)
            for cell, width, word in zip(cells, widths, words, strict=True)
        )
        return f"| {' | '.join(padded)} |"

    rule = ("-" * (width + 2) if word else f"{'-' * (width + 1)}:" for width, word in zip(widths, words, strict=True))
    return "\n".join([line(header), f"|{'|'.join(rule)}|", *map(line, rows)])


def _latencies(results: Results) -> list[int]:
    return list(next(iter(results.functions.values())))


def _cold(results: Results) -> Iterator[list[str]]:
    plain = results.functions.get(PLAIN)
    for name, by_latency in results.functions.items():
        cell = by_latency[0]
        share = f"{median(cell.init) / median(plain[0].init):.2f}" if plain else ""
        yield [
            name,
            f"{median(cell.init):.0f} ms",
            share,
            f"{median(cell.first):.0f} ms",
            f"{median(cell.first_cpu):.0f} ms",
            f"{median(cell.second):.1f} ms",
            f"{median(cell.memory):.0f} MB",
        ]


def _warm(results: Results) -> Iterator[list[str]]:
    for name, by_latency in results.functions.items():
        spreads = [getattr(cell, kind) for cell in by_latency.values() for kind in _KINDS]
        yield [name, *(f"{spread.p50:.1f}, {spread.p95:.1f} ms" for spread in spreads)]


def _batch(results: Results) -> Iterator[list[str]]:
    for name, by_latency in results.batch.items():
        for latency, batch in by_latency.items():
            together, one_by_one = median(batch.together), median(batch.one_by_one)
            yield [
                f"{batch.questions}, {name}",
                f"{latency} ms",
                f"{together:.0f} ms",
                f"{one_by_one:.0f} ms",
                f"{one_by_one / together:.1f} ×",
            ]


def _writing(results: Results) -> Iterator[list[str]]:
    for run in results.writing:
        yield [
            run.store,
            f"{run.chunks:,}",
            f"{run.chunks / run.read:,.0f} chunks/s",
            f"{run.chunks / run.write:,.0f} chunks/s",
            f"{run.own:.0f} MB",
            f"{run.whole:.0f} MB",
        ]


def _edge(results: Results) -> Iterator[list[str]]:
    for edge in results.edge:
        yield [
            f"{edge.chunks:,}",
            f"{edge.indexed:,}",
            f"{edge.search.p50:.2f}, {edge.search.p95:.2f} ms",
            f"{edge.exact.p50:.1f} ms",
            f"{edge.recall_5:.3f}",
            f"{edge.recall_10:.3f}",
            f"{edge.load:.0f} ms",
            f"{edge.searched:.0f} MB",
            f"{edge.mapped:.0f} MB",
            f"{edge.disk:.0f} MB",
            f"{edge.unzipped:.0f} MB",
            f"{edge.build_seconds:.0f} s",
        ]
