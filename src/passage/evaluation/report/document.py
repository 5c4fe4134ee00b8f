"""The report's page, from top to bottom."""

from collections.abc import Sequence
from pathlib import Path

from passage.evaluation.intervals import estimate
from passage.evaluation.report.charts import panels
from passage.evaluation.report.facts import Facts, quantile
from passage.evaluation.report.markup import Markup, element, joined
from passage.evaluation.report.questions import changed, off_topic, worst
from passage.evaluation.report.tables import comparison, measures, settings, thresholds
from passage.evaluation.thresholds import Verdict

STYLE = Path(__file__).with_name("style.css")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""A browser loads nothing, whatever a passage's text tries."""


def document(found: Facts, verdicts: Sequence[Verdict] = ()) -> str:
    """The whole page.

    Args:
        verdicts: the run's thresholds.
    """
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("title", f"{found.run.suite.name}: retrieval quality"),
        element("style", Markup(STYLE.read_text(encoding="utf-8"))),
    )
    body = element(
        "body",
        element(
            "main",
            _top(found),
            _cards(found),
            thresholds(verdicts),
            comparison(found),
            panels(found),
            measures(found),
            changed(found),
            worst(found),
            off_topic(found),
            settings(found),
        ),
    )
    return "<!doctype html>\n" + element("html", head, body, lang="en") + "\n"


def _top(found: Facts) -> Markup:
    run = found.run
    search = run.search.get("mode", "")
    about = ", ".join(
        part
        for part in (
            f"{len(found.outcomes)} questions",
            f"profile {run.profile}",
            f"{search} search" if search else "",
            f"asked {run.target}",
            run.started_at,
        )
        if part
    )
    notes = [element("div", found.unmeasured + ".", class_="note bad")] if found.unmeasured else []
    return joined(element("h1", run.suite.name), element("p", about, class_="quiet"), notes)


def _cards(found: Facts) -> Markup:
    cards = [_measure_card(found, each.name) for each in found.measures.measured] if found.measures else []
    passed = sum(not outcome.failure for outcome in found.outcomes)
    cards.append(_card("test cases passed", str(passed), f"of {len(found.outcomes)}"))
    times = found.times
    cards.append(_card("median time", f"{quantile(times, 0.5):,.0f} ms", f"95 %: {quantile(times, 0.95):,.0f} ms"))
    if found.errors:
        cards.append(_card("errors", str(found.errors), f"of {len(found.outcomes)} questions"))
    return element("div", cards, class_="cards")


def _measure_card(found: Facts, name: str) -> Markup:
    assert found.measures is not None  # noqa: S101 - for the type checker
    value = estimate(list(found.measures[name].values.values()))
    change = next((each for each in found.comparison if each.measure == name), None)
    notes = [f"95 %: {value.low:.3f} to {value.high:.3f}"]
    if change is not None:
        notes.append(f"{change.difference.value:+.3f}, {change.verdict}")
    return _card(name, f"{value.value:.3f}", *notes)


def _card(label: str, figure: str, *notes: str) -> Markup:
    return element(
        "div",
        element("div", label, class_="quiet"),
        element("div", figure, class_="figure"),
        [element("div", note, class_="quiet") for note in notes],
        class_="card",
    )
