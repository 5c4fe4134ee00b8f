"""A run's figures as a picture: docs/performance.svg."""

from pathlib import Path
from statistics import median
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.asking import ROOT
from benchmarks.functions import EDGE, SERVER
from benchmarks.goals import SLOW
from benchmarks.results import Results

FILE = ROOT / "docs" / "performance.svg"

# Okabe and Ito's colours, which most colour-blind people can distinguish.
_DARK, _LIGHT, _OTHER, _GREY = "#0072B2", "#56B4E9", "#E69F00", "#666666"
_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "passage",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}


def draw(results: Results, path: Path = FILE) -> None:
    """Write the picture; the SVG says in its description which figures it shows."""
    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(11, 6.6), layout="constrained", facecolor="white")
        axes = figure.subplots(2, 2)
        _cold(axes[0][0], results)
        _warm(axes[0][1], results, 0)
        _warm(axes[1][0], results, SLOW)
        _edge(axes[1][1], results)
        described = {"Description": f"figures {results.digest()}", "Date": None}
        figure.savefig(path, format="svg", metadata=described)


def _names(axes: Axes, results: Results) -> list[str]:
    names = list(results.functions)
    axes.set_yticks(range(len(names)), names)
    for label in axes.get_yticklabels():
        label.set_fontweight("bold" if label.get_text() in (SERVER, EDGE) else "normal")
    axes.set_ylim(len(names) - 0.4, -1.2)  # the first one on top, below a line for the legend
    axes.set_xlabel("milliseconds")
    axes.margins(x=0.12)
    return names


def _legend(axes: Axes) -> None:
    axes.legend(loc="upper left", ncols=2, borderaxespad=0.1, handlelength=1.2, columnspacing=1.2)


def _cold(axes: Axes, results: Results) -> None:
    names = _names(axes, results)
    init = [median(results.functions[name][0].init) for name in names]
    rest = [median(results.functions[name][0].first) - before for name, before in zip(names, init, strict=True)]
    axes.barh(names, init, color=_DARK, label="INIT")
    labels = axes.barh(names, rest, left=init, color=_LIGHT, label="first question")
    axes.bar_label(labels, [f"{one + other:.0f}" for one, other in zip(init, rest, strict=True)], padding=3)
    axes.set_title("Cold: first answer, no upstream latency (median)")
    _legend(axes)


def _warm(axes: Axes, results: Results, latency: int) -> None:
    names = _names(axes, results)
    for offset, kind, colour, label in (
        (-0.2, "different", _DARK, "new questions"),
        (0.2, "repeated", _OTHER, "a repeated one"),
    ):
        values = [getattr(results.functions[name][latency], kind).p50 for name in names]
        bars = axes.barh([index + offset for index in range(len(names))], values, 0.38, color=colour, label=label)
        axes.bar_label(bars, fmt="%.1f", padding=3)
    axes.set_title(f"Warm: answer, {latency or 'no'} {'ms ' if latency else ''}upstream latency (p50)")
    _legend(axes)


def _edge(axes: Axes, results: Results) -> None:
    chunks = [edge.chunks for edge in results.edge]
    axes.set_title("Edge search, 1,024 dimensions (p50)")
    axes.set_xlabel("chunks")
    axes.set_ylabel("milliseconds")
    if not chunks:
        return
    searched, exact = [edge.search.p50 for edge in results.edge], [edge.exact.p50 for edge in results.edge]
    axes.loglog(chunks, exact, "s--", color=_GREY, label="every vector compared")
    axes.loglog(chunks, searched, "o-", color=_DARK, label="as the function searches")
    for edge in results.edge:
        axes.annotate(
            f"{edge.search.p50:.2g} ms\nrecall@5 {edge.recall_5:.3f}",
            (edge.chunks, edge.search.p50),
            xytext=(0, -10),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=8,
        )
    axes.set_xticks(chunks, [f"{each:,}" for each in chunks])
    axes.set_yticks([0.1, 1, 10, 100], ["0.1", "1", "10", "100"])
    axes.minorticks_off()
    axes.set_ylim(min(searched) / 5, max(exact) * 2)
    axes.set_xlim(chunks[0] / 2.5, chunks[-1] * 2.5)
    axes.legend(loc="upper left")
