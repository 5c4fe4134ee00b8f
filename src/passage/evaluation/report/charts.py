"""The report's panels: kinds of questions, places of the right page, threshold curves, times, and changes."""

from passage.evaluation.report.facts import Facts, by_tag, quantile
from passage.evaluation.report.markup import Markup, element, joined
from passage.evaluation.report.plots import Line, changes, columns, curves, estimates

TIMES = (10, 20, 50, 100, 200, 500, 1000, 2000)
"""Upper bounds of the columns, in milliseconds."""


def panels(found: Facts) -> Markup:
    """All plots that the run has data for."""
    made = [plot for plot in (_changes(found), _tags(found), _places(found), _threshold(found), _times(found)) if plot]
    return element("div", made, class_="panels") if made else joined()


def _panel(title: str, plot: Markup, *notes: Markup | str) -> Markup:
    below = [note if isinstance(note, Markup) else element("p", note, class_="quiet") for note in notes]
    return element("section", element("h3", title), plot, below, class_="panel")


def _changes(found: Facts) -> Markup | None:
    if found.baseline is None or found.measures is None or found.baseline.measures is None:
        return None
    before = found.baseline.measures["nDCG@10"].values
    differences = [value - before[question] for question, value in found.measures["nDCG@10"].values.items()]
    better, worse = sum(each > 0 for each in differences), sum(each < 0 for each in differences)
    if not better + worse:
        return None
    title = f"Change of nDCG@10 for each question that differs: {better} better, {worse} worse"
    return _panel(
        title,
        changes(differences, title),
        joined(
            element("span", f"▲ {better} better", class_="badge better"),
            " ",
            element("span", f"▼ {worse} worse", class_="badge worse"),
            " ",
            element("span", f"{len(differences) - better - worse} equal", class_="badge"),
        ),
    )


def _tags(found: Facts) -> Markup | None:
    if found.measures is None:
        return None
    rows = [(tag, str(number), value) for tag, value, number in by_tag(found.outcomes, found.measures)]
    if not rows:
        return None
    title = f"hit@{found.measures.k} by kind of question"
    return _panel(title, estimates(rows, title), "The bar is the 95 % interval, the number counts questions.")


def _places(found: Facts) -> Markup | None:
    if found.measures is None:
        return None
    measured = [outcome.first_right for outcome in found.outcomes if outcome.value is not None]
    groups = [(str(place), place, place) for place in range(1, 6)] + [("6-10", 6, 10), ("> 10", 11, 10**9)]
    counts = [
        (label, sum(place is not None and low <= place <= high for place in measured), "plain")
        for label, low, high in groups
    ]
    title = "Place of the first right passage"
    return _panel(title, columns([*counts, ("none", measured.count(None), "loss")], title))


def _threshold(found: Facts) -> Markup | None:
    if found.threshold is None:
        return None
    at, curve = found.threshold.proposed, found.threshold.curve
    lines = [
        Line("answerable questions that keep a passage", "own", [(point.threshold, point.kept) for point in curve])
    ]
    if found.threshold.off_topic:
        rejected = [(point.threshold, point.rejected or 0.0) for point in curve]
        lines.append(Line("off-topic questions that keep none", "other", rejected))
    legend = element("p", [element("span", line.name, class_=line.style) for line in lines], class_="legend")
    said = f"A score_threshold of {at.threshold:.3f} keeps {at.kept:.1%} of {found.threshold.own} answerable questions"
    if at.rejected is not None:
        said += f" and rejects {at.rejected:.1%} of {found.threshold.off_topic} off-topic ones"
    title = "Score threshold"
    return _panel(
        title,
        curves(lines, at.threshold, f"{at.threshold:.3f}", title),
        legend,
        said + ". It holds for this site and model only.",
    )


def _times(found: Facts) -> Markup | None:
    times = found.times
    if not times:
        return None
    counts, low = [], 0.0
    for bound in (*TIMES, None):
        within = [each for each in times if each >= low and (bound is None or each < bound)]
        counts.append((f"< {bound}" if bound else f"≥ {TIMES[-1]}", len(within), "plain"))
        low = float(bound or 0)
    first = next(number for number, (_, count, _) in enumerate(counts) if count)
    last = max(number for number, (_, count, _) in enumerate(counts) if count)
    title = "Time to the answer, in ms"
    return _panel(
        title,
        columns(counts[max(0, first - 1) : last + 2], title),
        f"Median {quantile(times, 0.5):,.0f} ms, 95 % within {quantile(times, 0.95):,.0f} ms, "
        f"longest {times[-1]:,.0f} ms.",
    )
