"""The report's tables: measures, the comparison with the baseline, and the settings of the run."""

from collections.abc import Sequence

from passage.evaluation.compare import Comparison
from passage.evaluation.intervals import estimate
from passage.evaluation.measured_run import differences
from passage.evaluation.report.facts import Facts
from passage.evaluation.report.markup import Content, Markup, element, joined
from passage.evaluation.run import Run
from passage.evaluation.thresholds import Verdict


def measures(found: Facts) -> Markup:
    """Each measure with its interval, and how many questions it is over."""
    if found.measures is None:
        return joined()
    rows = []
    for each in found.measures.measured:
        value = estimate(list(each.values.values()))
        rows.append((each.name, f"{value.value:.3f}", f"{value.low:.3f} to {value.high:.3f}", str(len(each.values))))
    left_out = len(found.measures.left_out)
    rest = (
        f" {left_out} have no relevant page and are left out: every measure of theirs would be 0." if left_out else ""
    )
    return joined(
        element("h2", "Measures"),
        element(
            "p",
            f"A page counts at its first passage: hit and recall look at the first {found.measures.k} pages, nDCG at "
            "the first ten, MRR at all. nDCG takes grades as they are (linear gain). "
            f"{len(found.measures.questions)} questions are measured.{rest}",
            class_="quiet",
        ),
        table(("measure", "value", "95 % interval", "questions"), rows, numbers=(1, 2, 3)),
    )


def thresholds(verdicts: Sequence[Verdict]) -> Markup:
    """Whether each threshold is met. Empty without any."""
    if not verdicts:
        return joined()
    rows = [
        (
            each.name,
            each.shown_value,
            f"{each.relation} {each.limit:g}",
            element("span", "met" if each.met else "missed", class_=f"badge {'right' if each.met else 'wrong'}"),
            each.what,
        )
        for each in verdicts
    ]
    return joined(element("h2", "Thresholds"), table(("threshold", "measured", "limit", "", ""), rows, numbers=(1, 2)))


def comparison(found: Facts) -> Markup:
    """Differences to the baseline, with counts of better and worse questions. Empty without a baseline."""
    if found.baseline is None:
        return joined()
    changed = differences(found.run, found.baseline.run)
    parts: list[Markup] = [
        element("h2", "Compared with the baseline"),
        element("p", "What differs: " + ("; ".join(changed) if changed else "nothing in the settings") + "."),
    ]
    if not found.comparison:
        why = found.unmeasured or found.baseline.unmeasured
        return joined(parts, element("div", f"Not compared: {why}.", class_="note bad"))
    rows = [_compared(each) for each in found.comparison]
    names = ("measure", "difference", "95 % interval", "better", "equal", "worse", "p", "verdict")
    return joined(
        parts,
        table(names, rows, numbers=(1, 2, 3, 4, 5, 6)),
        element(
            "p",
            "Paired randomisation test over the questions, at a level of 0.05. “No difference shown” does not mean "
            "that there is none. Fewer than 6 differing questions cannot be decided.",
            class_="quiet",
        ),
    )


def settings(found: Facts) -> Markup:
    """What the runs asked, and their fingerprints."""
    runs = [("This run", found.run)]
    if found.baseline is not None:
        runs.append(("Baseline", found.baseline.run))
    return joined(
        element("h2", "Settings"),
        element(
            "div",
            [element("div", element("h3", name), _described(run), class_="panel") for name, run in runs],
            class_="panels",
        ),
        [element("p", f"Note on the suite: {note}", class_="quiet") for note in found.run.suite.notes],
    )


def table(names: Sequence[str], rows: Sequence[Sequence[Content]], numbers: Sequence[int] = ()) -> Markup:
    """A table that scrolls on a narrow screen. Columns in `numbers` are right-aligned."""

    def styled(column: int) -> str | None:
        return "number" if column in numbers else None

    head = element("tr", [element("th", name, class_=styled(column)) for column, name in enumerate(names)])
    body = [
        element("tr", [element("td", cell, class_=styled(column)) for column, cell in enumerate(row)]) for row in rows
    ]
    return element("div", element("table", element("thead", head), element("tbody", body)), class_="scroll")


def _compared(each: Comparison) -> Sequence[Content]:
    style = f"badge {each.verdict}" if each.verdict in ("better", "worse") else "badge"
    return (
        each.measure,
        f"{each.difference.value:+.3f}",
        f"{each.difference.low:+.3f} to {each.difference.high:+.3f}",
        element("span", f"▲ {each.wins}", class_="badge better"),
        str(each.ties),
        element("span", f"▼ {each.losses}", class_="badge worse"),
        each.shown_p,
        element("span", each.verdict, class_=style),
    )


def _described(run: Run) -> Markup:
    search = ", ".join(f"{key} {value}" for key, value in run.search.items())
    lines = (
        ("target", run.target),
        ("profile", run.profile),
        ("model", run.model),
        ("collection", run.collection),
        ("search", search),
        ("passages of a test case", str(run.top_k)),
        ("index", run.index),
        ("questions", run.suite.fingerprint),
        ("run", run.fingerprint),
        ("started", run.started_at),
        ("took", f"{run.elapsed_ms / 1000:,.1f} s"),
    )
    return element("dl", [joined(element("dt", name), element("dd", value)) for name, value in lines if value])
