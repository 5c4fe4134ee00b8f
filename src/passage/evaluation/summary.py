"""A run's summary for a terminal, as plain text."""

from collections.abc import Iterator, Sequence
from functools import partial

from passage.evaluation.balances import Trials
from passage.evaluation.cases import TestStatus, TestSuiteResult
from passage.evaluation.judging import find_unachievable
from passage.evaluation.measured_run import ThresholdPoint, differences
from passage.evaluation.report.facts import Facts, Outcome, cut
from passage.evaluation.results import Results
from passage.evaluation.thresholds import Verdict

WORST = 5
"""How many of the worst questions, and of the test cases that did not pass, the summary shows."""

_cut = partial(cut, characters=100)


def lines(results: Results) -> Iterator[str]:
    """The whole summary."""
    figures, result = results.facts, results.suite_result
    run = figures.run
    model = f" ({run.model})" if run.model else ""
    yield f"{run.suite.name}: {len(run.answers)} questions to {run.target}, profile {run.profile}{model}"
    yield ""
    yield from _measures(figures)
    yield from _cases(result)
    yield from _threshold(figures)
    yield from _notes(figures)
    yield from _comparison(figures)
    yield from _balances(results.trials)
    yield from _worst(figures)
    yield ""
    yield from _verdicts(results.verdicts)
    yield ""
    yield f"Report: {results.report}"


def table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Rows as columns of equal width, two spaces apart."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _measures(figures: Facts) -> Iterator[str]:
    if figures.measures is None:
        yield f"No measures: {figures.unmeasured}."
        return
    rows = [("measure", "mean", "95 % interval")]
    for measured in figures.measures.measured:
        value = measured.estimate
        rows.append((measured.name, f"{value.value:.3f}", f"{value.low:.3f} to {value.high:.3f}"))
    yield from table(rows)
    yield f"over {len(figures.measures.questions)} questions with a relevant document"


def _cases(result: TestSuiteResult) -> Iterator[str]:
    times = result.performance_metrics
    yield ""
    yield (
        f"Test cases: {result.passed} of {result.total_tests} passed ({result.pass_rate:.1f} %), "
        f"{result.failed} failed, {result.errors} errors"
    )
    wrong = [case for case in result.test_results if case.status is not TestStatus.PASSED]
    wrong.sort(key=lambda case: case.status is not TestStatus.ERROR)
    yield from (f"  {case.name}: {_cut(case.error_message or '')}" for case in wrong[:WORST])
    if len(wrong) > WORST:
        yield f"  … and {len(wrong) - WORST} more, in results.json"
    yield (
        f"Retrieval: {times.avg_retrieval_time_ms:,.0f} ms on average, 95 % within "
        f"{times.p95_retrieval_time_ms:,.0f} ms, {times.max_retrieval_time_ms:,.0f} ms at most"
    )


def _threshold(figures: Facts) -> Iterator[str]:
    if figures.threshold is None:
        return
    proposed, noise = figures.threshold.proposed, figures.threshold.noise
    yield f"A cosine threshold of {proposed.threshold:.3f} {_effect(proposed)}."
    if noise is not None:
        median = figures.run.noise["p50"]
        yield f"The index's noise is {median:.3f} to {noise.threshold:.3f}; as a threshold, it {_effect(noise)}."


def _effect(point: ThresholdPoint) -> str:
    rejects = "" if point.rejected is None else f" and rejects {point.rejected * 100:.0f} % of the off-topic ones"
    return f"keeps {point.kept * 100:.0f} % of the answerable questions{rejects}"


def _notes(figures: Facts) -> Iterator[str]:
    run = figures.run
    notes = [*run.suite.notes]
    drafts = sum(question.draft for question in run.suite.questions)
    if drafts:
        notes.append(f"{drafts} questions are drafts that nobody checked: they favour BM25, and measure too well.")
    if run.missing:
        documents = sum(map(len, run.missing.values()))
        names = ", ".join(list(run.missing)[:3]) + (", …" if len(run.missing) > 3 else "")
        notes.append(f"{documents} expected documents are not in the collection (of {names}): correct the suite.")
    if run.unchecked:
        notes.append(
            f"{run.unchecked} expected documents were not found, and this target cannot say whether they exist."
        )
    too_high = find_unachievable(run)
    if too_high:
        notes.append(f"The relevance_threshold of {', '.join(too_high[:3])} is above every score: not achievable.")
    if notes:
        yield ""
        yield from notes


def _comparison(figures: Facts) -> Iterator[str]:
    if figures.baseline is None:
        return
    before = figures.baseline.run
    yield ""
    yield f"Against the run of {before.started_at}:"
    rows = [("measure", "difference", "95 % interval", "better, same, worse", "p", "verdict")]
    for each in figures.comparison:
        change, counts = each.difference, f"{each.wins}, {each.ties}, {each.losses}"
        interval = f"{change.low:+.3f} to {change.high:+.3f}"
        rows.append((each.measure, f"{change.value:+.3f}", interval, counts, each.shown_p, each.verdict))
    yield from table(rows)
    yield from differences(figures.run, before)


def _balances(trials: Trials | None) -> Iterator[str]:
    if trials is None:
        return
    yield ""
    yield f"The balance {trials.current:g} gives nDCG@10 {trials.was:.3f}. Others, with p by Holm's method:"
    rows = [("balance", "nDCG@10", "difference", "better, same, worse", "p", "verdict")]
    for trial in trials.trials:
        each = trial.comparison
        counts, change = f"{each.wins}, {each.ties}, {each.losses}", f"{each.difference.value:+.3f}"
        rows.append((f"{trial.balance:g}", f"{trial.value:.3f}", change, counts, each.shown_p, each.verdict))
    yield from table(rows)
    if trials.better:
        yield f"Set `balance = {trials.better[0].balance:g}` in the profile's [search]."
    else:
        yield "None is significantly better."
    if trials.unknown > 0:
        yield f"{trials.unknown * 100:.0f} % of the passages have no page in the answers: --top-k 100 shows them all."


def _worst(figures: Facts) -> Iterator[str]:
    poor = [each for each in figures.worst_first if each.answer.error or (each.value or 0.0) < 1.0]
    if not poor:
        return
    yield ""
    yield "The worst questions:"
    for outcome in poor[:WORST]:
        yield from _question(outcome)


def _question(outcome: Outcome) -> Iterator[str]:
    question, answer = outcome.question, outcome.answer
    yield f"  {question.id}: {_cut(question.text)}"
    if answer.error:
        yield f"    error     {_cut(answer.error)}"
        return
    place = "not found" if outcome.first_right is None else f"found at {outcome.first_right}"
    yield f"    expected  {_cut(', '.join(each.value for each in question.relevant))} ({place})"
    first = answer.results[0] if answer.results else None
    yield f"    came      {_cut(f'{first.url or first.chunk_id} ({first.score:.3f})') if first else 'no passage'}"


def _verdicts(verdicts: Sequence[Verdict]) -> Iterator[str]:
    rows = [("threshold", "measured", "limit", "", "")]
    for each in verdicts:
        met = "met" if each.met else "MISSED"
        rows.append((each.name, each.shown_value, f"{each.relation} {each.limit:g}", met, each.what))
    yield from table(rows)
