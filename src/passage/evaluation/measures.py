"""Retrieval measures of a run: recall@k, hit@k, MRR and nDCG@10, a value a question, by trec_eval's own code."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from passage.evaluation.intervals import Estimate, estimate

Judgments = Mapping[str, Mapping[str, int]]
"""Question, page or chunk, grade: 0 is not relevant, higher is better."""
Rankings = Mapping[str, Sequence[str]]
"""Question, and what was found for it, best first."""


class MeasureError(Exception):
    """A run cannot be measured; the message says why and what to do."""


@dataclass(frozen=True)
class Measured:
    """The values of one measure, in the order of the suite's questions.

    Args:
        name: as trec_eval's users write it, such as `nDCG@10`.
        values: 0 to 1 for each question.
    """

    name: str
    values: Mapping[str, float]

    @property
    def mean(self) -> float:
        return sum(self.values.values()) / len(self.values)

    @cached_property
    def estimate(self) -> Estimate:
        """The mean with its 95 % interval."""
        return estimate(list(self.values.values()))


@dataclass(frozen=True)
class Measures:
    """All measures of a run.

    Args:
        k: the cutoff of recall and hit.
        left_out: questions without a relevant page: every measure of theirs would be 0.
        measured: one value for each measure, in the order they are printed.
    """

    k: int
    left_out: tuple[str, ...]
    measured: tuple[Measured, ...]

    def __getitem__(self, name: str) -> Measured:
        return next(each for each in self.measured if each.name == name)

    @property
    def questions(self) -> tuple[str, ...]:
        return tuple(self.measured[0].values)


def measure(judgments: Judgments, rankings: Rankings, errors: Iterable[str] = (), *, k: int = 5) -> Measures:
    """The measures of a run's rankings.

    A judged question without a ranking counts 0. nDCG takes grades as they are (linear gain): `2^grade - 1` is another
    measure of the same name.

    Args:
        judgments: the grades of each question.
        rankings: what each question found, best first. Later repetitions of a page are ignored.
        errors: questions that got an error instead of an answer.
        k: the cutoff of recall and hit.

    Raises:
        MeasureError: a judged question has an error, or no question has a relevant page.
    """
    judged = {question: dict(grades) for question, grades in judgments.items() if any(g > 0 for g in grades.values())}
    left_out = tuple(question for question in judgments if question not in judged)
    if not judged:
        raise MeasureError("no question has a relevant page, so there is nothing to measure")
    failed = [question for question in errors if question in judged]
    if failed:
        names = ", ".join(failed[:3]) + (", …" if len(failed) > 3 else "")
        raise MeasureError(
            f"{len(failed)} of {len(judged)} questions got an error, not an answer ({names}); a mean over the others "
            "would mislead. Ask the failed questions again"
        )
    ranked_pages = {question: list(dict.fromkeys(rankings.get(question, ()))) for question in judged}
    return Measures(k, left_out, _calculate(judged, ranked_pages, k))


def _calculate(
    judged: Mapping[str, Mapping[str, int]], ranked_pages: Mapping[str, Sequence[str]], k: int
) -> tuple[Measured, ...]:
    import ir_measures as library  # noqa: PLC0415 - half a second, and only evaluation needs it

    named = {
        f"hit@{k}": library.Success(cutoff=k),
        f"recall@{k}": library.R(cutoff=k),
        "MRR": library.RR,
        "nDCG@10": library.nDCG(cutoff=10),
    }
    # The names are numbers: trec_eval's C code crashes on a lone surrogate, and ends a name at a NUL.
    numbers = _Numbers()
    judgments = {
        numbers[question]: {numbers[page]: g for page, g in grades.items()} for question, grades in judged.items()
    }
    # The score is the rank: trec_eval ignores the order it is given, and breaks ties by the page's name.
    ranked = {
        numbers[question]: {numbers[page]: float(-rank) for rank, page in enumerate(pages)}
        for question, pages in ranked_pages.items()
        if pages
    }
    values: dict[str, dict[str, float]] = {name: {} for name in named}
    names = {str(calculated): name for name, calculated in named.items()}
    for value in library.iter_calc(list(named.values()), judgments, ranked):
        values[names[str(value.measure)]][value.query_id] = float(value.value)
    for name, of_questions in values.items():
        if of_questions.keys() != judgments.keys():
            raise MeasureError(f"ir-measures gave {len(of_questions)} values of {name} for {len(judged)} questions")
    return tuple(
        Measured(name, {question: given[numbers[question]] for question in judged}) for name, given in values.items()
    )


class _Numbers(dict[str, str]):
    """A number for each text, given out at its first use."""

    def __missing__(self, text: str) -> str:
        self[text] = str(len(self))
        return self[text]
