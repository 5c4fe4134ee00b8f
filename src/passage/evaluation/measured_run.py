"""A run's measures, its threshold, and what makes two runs comparable."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from passage.evaluation.compare import Comparison, ComparisonError, compare
from passage.evaluation.measures import Measures, measure
from passage.evaluation.run import Run, documents
from passage.evaluation.suite import SuiteQuestion

K = 5
"""The usual cutoff of recall and hit."""

KEEP = 0.95
POINTS = 101
"""Of each curve."""

SETTINGS = ("index", "collection", "profile", "model", "search", "target")
"""What may differ between comparable runs. Questions, judgments, top_k and passages may not."""


@dataclass(frozen=True)
class ThresholdPoint:
    """What one threshold does.

    Args:
        threshold: passages with a lower cosine are dropped.
        kept: share of the site's own questions that keep a passage.
        rejected: share of the off-topic questions that keep none; None without such questions.
    """

    threshold: float
    kept: float
    rejected: float | None


@dataclass(frozen=True)
class Threshold:
    """The proposed threshold, and both curves.

    Args:
        noise: `score_threshold: "noise"`; None for an index without one.
        curve: points from the lowest to the highest cosine seen.
    """

    proposed: ThresholdPoint
    noise: ThresholdPoint | None
    own: int
    off_topic: int
    curve: tuple[ThresholdPoint, ...]


def measure_run(run: Run, *, k: int = K, tag: str | None = None) -> Measures:
    """The measures of a run's judged questions, or of those with a tag.

    Args:
        k: the cutoff of recall and hit.

    Raises:
        MeasureError: see `measure`.
    """
    pairs = [(question, answer) for question, answer in run.pairs() if tag is None or tag in question.tags]
    return measure(
        {question.id: {each.value: each.grade for each in question.expected} for question, _ in pairs},
        {question.id: [name for name, _ in documents(question, answer)] for question, answer in pairs},
        [answer.question_id for _, answer in pairs if answer.error is not None],
        k=k,
    )


def threshold_of_run(run: Run) -> Threshold | None:
    """The cosine threshold that keeps 95 % of the answered own questions.

    None without such a question, and of a reranked run: its scores are relevances, and a threshold applies to cosines.

    Each question counts by its best score: a higher threshold leaves the question without a passage. Off-topic
    questions are those that are not answerable.
    """
    if _is_reranked(run):
        return None
    best: dict[bool, list[float]] = {True: [], False: []}
    for question, answer in run.pairs():
        if answer.error is None:
            best[question.answerable].append(max((hit.score for hit in answer.results), default=0.0))
    # A search by words alone gives no cosines.
    return propose_threshold(best[True], best[False], run.noise.get("p90")) if any(best[True]) else None


def propose_threshold(own: Sequence[float], off_topic: Sequence[float], noise: float | None = None) -> Threshold:
    """The highest cosine threshold that keeps the share `KEEP` of the own questions.

    A threshold belongs to one model and one site, so none ships. `passage index` measures the noise without a suite.

    Args:
        own: the best cosine found by each question that the site answers.
        off_topic: the best cosine found by each question that it does not.
        noise: the cosine that nine of ten questions of other subjects do not reach.

    Raises:
        ValueError: there is no own question.
    """
    if not own:
        raise ValueError("a threshold needs at least one question that the site answers")
    cosines = sorted(own, reverse=True)
    # Rounded down, so that the printed value keeps what it promises.
    proposed = math.floor(cosines[math.ceil(KEEP * len(cosines)) - 1] * 1000) / 1000
    low, high = min(*own, *off_topic, proposed), max(*own, *off_topic, proposed)
    steps = (low + (high - low) * step / (POINTS - 1) for step in range(POINTS))
    return Threshold(
        _point(proposed, own, off_topic),
        None if noise is None else _point(noise, own, off_topic),
        len(own),
        len(off_topic),
        tuple(_point(step, own, off_topic) for step in steps),
    )


def _point(at: float, own: Sequence[float], off_topic: Sequence[float]) -> ThresholdPoint:
    rejected = sum(score < at for score in off_topic) / len(off_topic) if off_topic else None
    return ThresholdPoint(at, sum(score >= at for score in own) / len(own), rejected)


def _is_reranked(run: Run) -> bool:
    """Whether a reranker scored the passages, as far as the run says: an API shows it only with `--explain`."""
    return "rerank" in run.search or any("rerank" in (answer.debug or {}).get("found", {}) for answer in run.answers)


def compare_runs(run: Run, baseline: Run) -> tuple[Comparison, ...]:
    """Each measure of a run against a baseline over the same questions.

    Raises:
        ComparisonError: the questions, their judgments, top_k or the number of passages differ.
        MeasureError: one of the runs cannot be measured.
    """
    refuse_others(run, baseline)
    return compare(measure_run(run), measure_run(baseline))


def refuse_others(run: Run, baseline: Run) -> None:
    """Raises ComparisonError, with the difference in words, unless the runs asked the same."""
    faults = []
    if run.top_k != baseline.top_k:
        faults.append(f"--top-k is {run.top_k} in this run and {baseline.top_k} in the baseline")
    if run.passages != baseline.passages:
        faults.append(
            f"{run.passages} passages are asked for in this run and {baseline.passages} in the baseline (by --top-k, "
            "the largest K of --thresholds, and the profile's limit)"
        )
    if run.suite.fingerprint != baseline.suite.fingerprint:
        faults.append(_other_questions(run.suite.questions, baseline.suite.questions))
    if faults:
        raise ComparisonError(f"The runs cannot be compared: {'; '.join(faults)}.")


def differences(run: Run, baseline: Run) -> list[str]:
    """The settings that differ, in words: what a difference in the measures may come from."""
    pairs = ((name, getattr(run, name), getattr(baseline, name)) for name in SETTINGS)
    return [f"{name}: {_text_of(now)}, was {_text_of(before)}" for name, now, before in pairs if now != before]


def _text_of(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {each}" for key, each in sorted(value.items())) or "unknown"
    return str(value) or "unknown"


def _other_questions(questions: Iterable[SuiteQuestion], baseline: Iterable[SuiteQuestion]) -> str:
    now, before = ({question.id: question for question in each} for each in (questions, baseline))
    parts = [
        _count(sorted(now.keys() - before.keys()), "only in this run"),
        _count(sorted(before.keys() - now.keys()), "only in the baseline"),
        _count(sorted(name for name in now.keys() & before.keys() if now[name] != before[name]), "changed"),
    ]
    return ", ".join(chain.from_iterable(parts)) or "the questions have another order"


def _count(names: list[str], what: str) -> list[str]:
    if not names:
        return []
    return [
        f"{len(names)} question{'s' if len(names) > 1 else ''} {what} ({names[0]}{', …' if len(names) > 1 else ''})"
    ]
