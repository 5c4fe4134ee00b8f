"""Proposes weights for the fusion of a hybrid search, from a run that was asked with `--explain`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from handler.config.providers import Fusion
from passage.evaluation.compare import Comparison, compare_pairs
from passage.evaluation.measures import measure
from passage.evaluation.run import Run, SavedAnswer, SavedHit, documents
from passage.evaluation.suite import SuiteQuestion

WEIGHTS = (0.24, 0.31, 0.48, 0.74, 1.1, 1.6, 2.1, 3.1, 4.1, 6.1)
"""Weights of the text search; the vectors have the weight 1. Small whole numbers would give many equal scores."""
CONSTANTS = (1, 2, 5, 20, 60)
MEASURE = "nDCG@10"
FEWEST = 20
"""The fewest questions to choose weights from. Weights chosen from fewer would fit only these."""
DEEPEST = 10

Values = Mapping[str, float]
"""A measure's value by question."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """The best weights tried, and how they compare with the current ones on questions that did not choose them.

    Attributes:
        value, was: the mean nDCG@10 with the proposed and with the current weights, over all questions.
        comparison: with the current weights. Each half of the questions is measured with the weights that the other
            half chose.
        unknown: the share of passages whose page the run does not say. They count as not relevant.
    """

    current: Fusion
    proposed: Fusion
    value: float
    was: float
    comparison: Comparison
    unknown: float

    @property
    def is_better(self) -> bool:
        return self.proposed != self.current and self.comparison.verdict == "better"


@dataclass(frozen=True, slots=True)
class _Lists:
    """What the two searches found for a question.

    Attributes:
        dense, text: passages by id, each with its rank in the list.
        names: the documents of each passage, as `documents` names them.
        unknown: passages whose page the run does not say.
    """

    question: SuiteQuestion
    dense: Mapping[str, int]
    text: Mapping[str, int]
    names: Mapping[str, Sequence[str]]
    unknown: int


def fuse(dense: Mapping[str, int], text: Mapping[str, int], fusion: Fusion) -> list[str]:
    """The passages of both lists, best first: reciprocal rank fusion as Qdrant computes it.

    Args:
        dense, text: ranks from 1.
    """
    scores: dict[str, float] = {}
    for ranks, weight in zip((dense, text), fusion.weights, strict=True):
        for identity, rank in ranks.items():
            scores[identity] = scores.get(identity, 0.0) + 1 / (rank / weight + fusion.k - 1)
    return sorted(scores, key=lambda identity: (-scores[identity], identity))


def propose(run: Run) -> Proposal | None:
    """The weights with the highest mean nDCG@10; None where the run has too few explained hybrid answers.

    Each half of the questions chooses weights, and the other half measures them: weights that fit only the questions
    which chose them are no better on the others.
    """
    lists = [each for question, answer in run.pairs() if (each := _lists(question, answer)) is not None]
    current = _current(run)
    if current is None or len(lists) < FEWEST:
        return None
    tried = [Fusion((1.0, weight), k) for weight, k in product(WEIGHTS, CONSTANTS)]
    grid = {fusion: _values(lists, fusion) for fusion in tried}
    before = grid.get(current) or _values(lists, current)
    names = list(before)
    halves = names[::2], names[1::2]
    crossed = {
        name: grid[_best(grid, chosen_by)][name]
        for chosen_by, measured_on in (halves, halves[::-1])
        for name in measured_on
    }
    best = _best(grid, names)
    return Proposal(
        current=current,
        proposed=best,
        value=_mean(grid[best], names),
        was=_mean(before, names),
        comparison=compare_pairs(MEASURE, crossed, before),
        unknown=_unknown(lists),
    )


def _best(grid: Mapping[Fusion, Values], names: Sequence[str]) -> Fusion:
    return max(grid, key=lambda fusion: _mean(grid[fusion], names))


def _mean(values: Values, names: Sequence[str]) -> float:
    return sum(values[name] for name in names) / len(names)


def _values(lists: Sequence[_Lists], fusion: Fusion) -> Values:
    rankings = {each.question.id: _pages(each, fusion) for each in lists}
    judgments = {each.question.id: {one.value: one.grade for one in each.question.expected} for each in lists}
    return measure(judgments, rankings)[MEASURE].values


def _pages(lists: _Lists, fusion: Fusion) -> list[str]:
    """The first documents of the fused list, each once."""
    order = fuse(lists.dense, lists.text, fusion)
    return list(dict.fromkeys(name for identity in order for name in lists.names[identity]))[:DEEPEST]


def _lists(question: SuiteQuestion, answer: SavedAnswer) -> _Lists | None:
    """A question's lists; None without a relevant document, or where the answer is not an explained hybrid one."""
    if not question.relevant or answer.debug is None or answer.debug.get("mode") != "hybrid":
        return None
    passages = answer.debug["passages"]
    ranks: dict[str, dict[str, int]] = {"dense": {}, "text": {}}
    for passage in passages:
        for stage in ranks.keys() & passage["stages"].keys():
            ranks[stage][str(passage["id"])] = passage["stages"][stage]["rank"]
    urls = {str(passage["id"]): str(passage.get("url", "")) for passage in passages}
    hits = {hit.id: hit for hit in answer.results}  # only these have the chunk ids that a suite may expect
    names = {identity: _names(question, hits.get(identity) or _hit(identity, url)) for identity, url in urls.items()}
    return _Lists(question, ranks["dense"], ranks["text"], names, sum(not url for url in urls.values()))


def _hit(identity: str, url: str) -> SavedHit:
    return SavedHit(rank=1, id=identity, chunk_id="", url=url, title="", score=0.0, text="")


def _names(question: SuiteQuestion, hit: SavedHit) -> list[str]:
    return [name for name, _ in documents(question, SavedAnswer(question.id, (hit,), 0.0))]


def _current(run: Run) -> Fusion | None:
    said = next((answer.debug["fusion"] for answer in run.answers if answer.debug and "fusion" in answer.debug), None)
    if said is None:
        return None
    vectors, text = said["weights"]
    return Fusion((1.0, text / vectors), said["k"]) if said["k"] == 1 else Fusion((vectors, text), said["k"])


def _unknown(lists: Sequence[_Lists]) -> float:
    return sum(each.unknown for each in lists) / sum(len(each.names) for each in lists)
