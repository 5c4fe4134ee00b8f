"""The report's questions: the worst first, what changed against the baseline, and the off-topic ones."""

from collections.abc import Sequence

from passage.evaluation.report.facts import Facts, Outcome, grade, worst_first
from passage.evaluation.report.markup import Markup, element, joined, link
from passage.evaluation.run import Hit

SHOWN = 60
"""Questions in a section; more would make a page that nobody reads."""
PASSAGE = 220
"""Characters of a passage."""
QUESTION = 160
HITS = 10


def worst(found: Facts) -> Markup:
    """Failed test cases, then the questions with the lowest nDCG@10, with what was expected and what came."""
    ordered = worst_first(found.outcomes)
    poor = [each for each in ordered if (each.value or 0.0) < 1.0 or each.failure]
    poor.sort(key=lambda each: not each.failure)  # a failed test case may be at the end by nDCG
    if not ordered:
        return joined()
    intro = (
        f"{len(poor)} of {len(ordered)} questions have something to gain, or failed as a test case. A passage is "
        "right, wrong (judged and not relevant) or unrated: nobody has judged it yet. An unrated passage that answers "
        "the question belongs in the suite."
    )
    return joined(
        element("h2", "Questions, worst first"),
        element("p", intro, class_="quiet"),
        [_details(each, opened=number < 2) for number, each in enumerate(poor[:SHOWN])],
        _more(len(poor)),
    )


def changed(found: Facts) -> Markup:
    """Each question whose nDCG@10 differs from the baseline's, both answers side by side, losses first."""
    if found.baseline is None:
        return joined()
    pairs = [
        (now, before, now.value - before.value)
        for now, before in zip(found.outcomes, found.baseline.outcomes, strict=True)
        if now.value is not None and before.value is not None and now.value != before.value
    ]
    if not pairs:
        return joined()
    pairs.sort(key=lambda pair: pair[2])
    return joined(
        element("h2", "Questions that changed, losses first"),
        [_side_by_side(*pair) for pair in pairs[:SHOWN]],
        _more(len(pairs)),
    )


def off_topic(found: Facts) -> Markup:
    """The questions that the site does not answer, by the best score they found."""
    outcomes = [each for each in found.outcomes if not each.question.answerable and each.answer.error is None]
    if not outcomes:
        return joined()
    outcomes.sort(key=lambda each: -each.best_score)
    return joined(
        element("h2", "Off-topic questions, highest score first"),
        element(
            "p", "The site does not answer these. A high score is one that a threshold may not reject.", class_="quiet"
        ),
        [_details(each, shown=f"best score {each.best_score:.3f}") for each in outcomes[:SHOWN]],
        _more(len(outcomes)),
    )


def _details(outcome: Outcome, *, shown: str = "", opened: bool = False) -> Markup:
    if outcome.answer.error is not None:
        value: Markup | str = element("span", "error", class_="badge wrong")
    else:
        value = shown or f"nDCG@10 {outcome.value or 0.0:.3f}"
    inside: list[Markup] = [_asked(outcome), _expected(outcome), _hits(outcome)]
    return _folded(outcome, value, inside, opened)


def _side_by_side(now: Outcome, before: Outcome, change: float) -> Markup:
    style, sign = ("better", "▲") if change > 0 else ("worse", "▼")
    value = element("span", f"{sign} {change:+.3f}", class_=f"badge {style}")
    sides = element(
        "div",
        element("div", element("p", element("b", "This run"), f", nDCG@10 {now.value:.3f}"), _hits(now)),
        element("div", element("p", element("b", "Baseline"), f", nDCG@10 {before.value:.3f}"), _hits(before)),
        class_="sides",
    )
    return _folded(now, value, [_asked(now), _expected(now), sides], opened=False)


def _folded(outcome: Outcome, value: Markup | str, inside: Sequence[Markup], opened: bool) -> Markup:
    summary = element(
        "summary",
        element("span", _cut(outcome.question.text, QUESTION), class_="asked"),
        element("span", value, class_="value"),
    )
    return element("details", summary, element("div", inside, class_="inside"), open="" if opened else None)


def _asked(outcome: Outcome) -> Markup:
    question = outcome.question
    tags = [joined(" ", element("span", tag, class_="badge")) for tag in question.tags]
    whole = element("p", question.text) if len(question.text) > QUESTION else joined()
    failure = element("p", f"Test case: {outcome.failure}") if outcome.failure else joined()
    return joined(
        whole,
        failure,
        element("p", element("code", question.id), tags, f" {outcome.answer.milliseconds:,.0f} ms", class_="quiet"),
    )


def _expected(outcome: Outcome) -> Markup:
    lines: list[Markup] = []
    for each in outcome.question.expected:
        place = next((hit.rank for hit in outcome.answer.results if hit.matches(each)), None)
        where = "not found" if place is None else f"found at {place}"
        graded = f", grade {each.grade}" if each.grade != 1 else ""
        lines.append(joined(element("br") if lines else "", element("code", each.value), f" ({where}{graded})"))
    return element("p", "Expected: ", lines) if lines else joined()


def _hits(outcome: Outcome) -> Markup:
    if outcome.answer.error is not None:
        return element("p", f"Error: {outcome.answer.error}")
    if not outcome.answer.results:
        return element("p", "No passages came.", class_="quiet")
    listed = element("ol", [_hit(outcome, hit) for hit in outcome.answer.results[:HITS]], class_="hits")
    rest = len(outcome.answer.results) - HITS
    return joined(listed, element("p", f"… and {rest} more passages", class_="quiet") if rest > 0 else "")


def _hit(outcome: Outcome, hit: Hit) -> Markup:
    given = grade(outcome.question, hit)
    style = "unrated" if given is None else "right" if given else "wrong"
    badge = style if given in (None, 0, 1) else f"right, {given}"
    name = hit.title or hit.url or hit.chunk_id or hit.id
    return element(
        "li",
        element("span", str(hit.rank), class_="place"),
        element("span", element("span", badge, class_=f"badge {style}")),
        element(
            "span",
            link(hit.url, name),
            element("span", _cut(" ".join(hit.text.split()), PASSAGE), class_="passage"),
            class_="what",
        ),
        element("span", f"{hit.score:.3f}", class_="score"),
    )


def _more(number: int) -> Markup:
    if number <= SHOWN:
        return joined()
    return element("p", f"… and {number - SHOWN} more; the run's JSON file has all of them.", class_="quiet")


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[: characters - 1].rstrip() + "…"
