"""The report's plots as inline SVG. Colours come from the page's style sheet, so they follow light and dark."""

from collections.abc import Sequence
from dataclasses import dataclass

from passage.evaluation.intervals import Estimate
from passage.evaluation.report.markup import Markup, element

WIDTH = 460.0
ROW = 26.0


@dataclass(frozen=True)
class Line:
    """A curve: its name, its style sheet class, and its points."""

    name: str
    style: str
    points: Sequence[tuple[float, float]]


def estimates(rows: Sequence[tuple[str, str, Estimate]], title: str) -> Markup:
    """A dot with its 95 % interval for each row, from 0 to 1.

    Args:
        rows: label, note, and value with interval.
    """
    left, right, top = 150.0, 52.0, 8.0
    height = top + ROW * len(rows) + 26
    span = WIDTH - left - right

    def at(value: float) -> float:
        return left + span * min(1.0, max(0.0, value))

    parts = [_grid(at(tick / 4), top, height - 24, f"{tick / 4:g}") for tick in range(5)]
    for number, (label, note, value) in enumerate(rows):
        y = top + ROW * number + ROW / 2
        parts += [
            _text(label, left - 10, y + 4, "end"),
            element("line", x1=at(value.low), x2=at(value.high), y1=y, y2=y, class_="interval"),
            element("circle", cx=at(value.value), cy=y, r=4.5, class_="dot"),
            _text(note, WIDTH, y + 4, "end", "quiet"),
        ]
    return _svg(height, title, parts)


def columns(values: Sequence[tuple[str, int, str]], title: str) -> Markup:
    """A column for each value.

    Args:
        values: label, count, and the style sheet class of its colour.
    """
    height, bottom, top = 190.0, 24.0, 20.0
    most = max((count for _, count, _ in values), default=0) or 1
    step = WIDTH / max(1, len(values))
    parts = []
    for number, (label, count, style) in enumerate(values):
        tall = (height - bottom - top) * count / most
        x = step * number
        parts += [
            element(
                "rect", x=x + step * 0.14, y=height - bottom - tall, width=step * 0.72, height=tall, rx=2, class_=style
            ),
            _text(str(count), x + step / 2, height - bottom - tall - 5, "middle", "number" if count else "quiet"),
            _text(label, x + step / 2, height - 7, "middle"),
        ]
    parts.append(element("line", x1=0, x2=WIDTH, y1=height - bottom, y2=height - bottom, class_="axis"))
    return _svg(height, title, parts)


def curves(lines: Sequence[Line], mark: float, mark_label: str, title: str) -> Markup:
    """Shares from 0 to 1 over a common range, with a vertical mark."""
    left, right, top, bottom, height = 40.0, 10.0, 24.0, 26.0, 230.0
    low = min(x for line in lines for x, _ in line.points)
    high = max(x for line in lines for x, _ in line.points)
    wide = (high - low) or 1.0

    def x_at(value: float) -> float:
        return left + (WIDTH - left - right) * (value - low) / wide

    def y_at(share: float) -> float:
        return top + (height - top - bottom) * (1 - share)

    parts: list[Markup] = []
    for tick in range(5):
        y = y_at(tick / 4)
        parts += [
            element("line", x1=left, x2=WIDTH - right, y1=y, y2=y, class_="grid"),
            _text(f"{tick * 25} %", left - 6, y + 4, "end", "quiet"),
        ]
    for tick in range(5):
        value = low + wide * tick / 4
        parts.append(_text(f"{value:.2f}", x_at(value), height - 7, ("start", *["middle"] * 3, "end")[tick], "quiet"))
    for line in lines:
        points = " ".join(f"{x_at(x):.1f},{y_at(y):.1f}" for x, y in line.points)
        parts.append(element("polyline", points=points, class_=f"curve {line.style}"))
    at = x_at(mark)
    parts += [
        element("line", x1=at, x2=at, y1=top - 6, y2=height - bottom, class_="mark"),
        _text(mark_label, at, top - 10, "end" if at > WIDTH * 0.7 else "start" if at < WIDTH * 0.3 else "middle"),
    ]
    return _svg(height, title, parts)


def changes(differences: Sequence[float], title: str) -> Markup:
    """A bar for each question that differs, largest gain first: up is better than the baseline, down is worse."""
    height, top = 150.0, 8.0
    middle = height / 2
    ordered = sorted((each for each in differences if each), reverse=True)
    step = WIDTH / max(1, len(ordered))
    scale = (middle - top) / max((abs(each) for each in ordered), default=1.0)
    parts = []
    for number, each in enumerate(ordered):
        tall = abs(each) * scale
        parts.append(
            element(
                "rect",
                x=step * number + min(1.0, step * 0.1),
                y=middle - tall if each > 0 else middle,
                width=max(0.5, min(18.0, step * 0.8)),
                height=tall,
                class_="gain" if each > 0 else "loss",
            )
        )
    parts.append(element("line", x1=0, x2=WIDTH, y1=middle, y2=middle, class_="axis"))
    return _svg(height, title, parts)


def _grid(x: float, top: float, bottom: float, label: str) -> Markup:
    line = element("line", x1=x, x2=x, y1=top, y2=bottom, class_="grid")
    return Markup(line + _text(label, x, bottom + 17, "middle", "quiet"))


def _text(text: str, x: float, y: float, anchor: str, style: str | None = None) -> Markup:
    return element("text", text, x=x, y=y, text_anchor=anchor, class_=style)


def _svg(height: float, title: str, parts: Sequence[Markup]) -> Markup:
    return element(
        "svg",
        element("title", title),
        parts,
        viewBox=f"0 0 {WIDTH:g} {height:g}",
        role="img",
        class_="plot",
    )
