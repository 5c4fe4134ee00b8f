"""Tries other balances of vectors and words on a run that was asked with `--explain`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from handler.core.fusion import fused_scores
from passage.evaluation.compare import Comparison, compare_several
from passage.evaluation.measures import Measures, measure
from passage.evaluation.run import Run, SavedAnswer, SavedHit, documents
from passage.evaluation.suite import SuiteQuestion

BALANCES = tuple(tenths / 10 for tenths in range(11))
MEASURE = "nDCG@10"
FEWEST = 20
"""The fewest questions to choose a balance from. A balance chosen from fewer would fit only these."""
DEEPEST = 10


@dataclass(frozen=True, slots=True)
class Trial:
    """A balance, its mean nDCG@10, and its comparison with the current balance, with p by Holm's method."""

    balance: float
    value: float
    comparison: Comparison


@dataclass(frozen=True, slots=True)
class Trials:
    """Every balance tried.

    Attributes:
        current: the balance that the run was asked with.
        was: the mean nDCG@10 with that one.
        unknown: the share of passages whose page the run does not say. They count as not relevant.
    """

    current: float
    was: float
    trials: tuple[Trial, ...]
    unknown: float

    @property
    def better(self) -> tuple[Trial, ...]:
        """The significantly better balances, best first."""
        better = [trial for trial in self.trials if trial.comparison.verdict == "better"]
        return tuple(sorted(better, key=lambda trial: -trial.value))


@dataclass(frozen=True, slots=True)
class _Parts:
    """What a question found.

    Attributes:
        parts: the scaled scores by vectors and by words of each passage, by its id.
        names: the documents of each passage, as `documents` names them.
        unknown: how many passages have a page that the run does not say.
    """

    question: SuiteQuestion
    parts: Mapping[str, tuple[float, float]]
    names: Mapping[str, Sequence[str]]
    unknown: int


def try_balances(run: Run) -> Trials | None:
    """The mean nDCG@10 of each balance; None where the run has too few explained hybrid answers."""
    answers = [each for question, answer in run.pairs() if (each := _parts(question, answer)) is not None]
    used = (answer.debug.get("balance") for answer in run.answers if answer.debug)
    current = next((balance for balance in used if balance is not None), None)
    if current is None or len(answers) < FEWEST:
        return None
    before = _measure(answers, current)
    others = {balance: _measure(answers, balance) for balance in BALANCES if balance != current}
    compared = compare_several({str(balance): measures for balance, measures in others.items()}, before)
    trials = (
        Trial(balance, measures[MEASURE].mean, next(one for one in compared[str(balance)] if one.measure == MEASURE))
        for balance, measures in others.items()
    )
    unknown = sum(each.unknown for each in answers) / sum(len(each.names) for each in answers)
    return Trials(current, before[MEASURE].mean, tuple(trials), unknown)


def rank_passages(parts: Mapping[str, tuple[float, float]], balance: float) -> list[str]:
    """The passages by a balance, best first, as `handler.core.fusion.fuse` orders them."""
    scores = fused_scores(parts, balance)
    return sorted(parts, key=lambda one: (-scores[one], -parts[one][0], one))


def _measure(answers: Sequence[_Parts], balance: float) -> Measures:
    rankings = {each.question.id: _pages(each, balance) for each in answers}
    judgments = {each.question.id: {one.value: one.grade for one in each.question.expected} for each in answers}
    return measure(judgments, rankings)


def _pages(answer: _Parts, balance: float) -> list[str]:
    """The first documents of the fused list, each once."""
    order = rank_passages(answer.parts, balance)
    return list(dict.fromkeys(name for identity in order for name in answer.names[identity]))[:DEEPEST]


def _parts(question: SuiteQuestion, answer: SavedAnswer) -> _Parts | None:
    """A question's passages; None without a relevant document, or where the answer is not an explained hybrid one."""
    if not question.relevant or answer.debug is None or answer.debug.get("balance") is None:
        return None
    passages = {str(one["id"]): one for one in answer.debug["passages"] if "fused" in one["stages"]}
    parts = {key: (one["stages"]["fused"]["vectors"], one["stages"]["fused"]["words"]) for key, one in passages.items()}
    urls = {key: str(one.get("url", "")) for key, one in passages.items()}
    hits = {hit.id: hit for hit in answer.results}  # only these have the chunk ids that a suite may expect
    names = {key: _names(question, hits.get(key) or _hit(key, url)) for key, url in urls.items()}
    return _Parts(question, parts, names, sum(not url for url in urls.values()))


def _hit(identity: str, url: str) -> SavedHit:
    return SavedHit(rank=1, id=identity, chunk_id="", url=url, title="", score=0.0, text="")


def _names(question: SuiteQuestion, hit: SavedHit) -> list[str]:
    return [name for name, _ in documents(question, SavedAnswer(question.id, (hit,), 0.0))]
