"""Runs over the same questions: mean difference, its interval, and a paired randomisation test; several by Holm."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from passage.evaluation.intervals import RESAMPLES, SEED, Estimate, batch, bootstrap
from passage.evaluation.measures import MeasureError, Measures

LEVEL = 0.05
FEWEST = 6
"""Questions that must differ: with 5, the smallest p of a two-sided test is 2 / 2^5 = 0.06."""


class ComparisonError(MeasureError):
    """Two runs cannot be compared; the message says what differs."""


@dataclass(frozen=True)
class Comparison:
    """One measure of a run, less the baseline's.

    Args:
        difference: the mean of the paired differences; positive if the run is better.
        wins, ties, losses: questions on which the run is better, equal, worse.
        p: by the paired randomisation test; None if too few questions differ.
    """

    measure: str
    difference: Estimate
    wins: int
    ties: int
    losses: int
    p: float | None

    @property
    def verdict(self) -> str:
        """`better`, `worse`, `no difference shown` or `cannot be decided`, at a level of 0.05."""
        if self.p is None:
            return "cannot be decided"
        if self.p >= LEVEL:
            return "no difference shown"
        return "better" if self.difference.value > 0 else "worse"

    @property
    def shown_p(self) -> str:
        """p for a person; empty if too few questions differ."""
        return "" if self.p is None else f"{self.p:.4f}" if self.p >= 0.001 else "< 0.001"


def compare(run: Measures, baseline: Measures) -> tuple[Comparison, ...]:
    """Each measure of a run against a baseline over the same questions."""
    return tuple(
        compare_pairs(measured.name, measured.values, baseline[measured.name].values) for measured in run.measured
    )


def compare_pairs(measure: str, values: Mapping[str, float], baseline: Mapping[str, float]) -> Comparison:
    """One measure's values of the same questions in two runs."""
    differences = [values[question] - baseline[question] for question in baseline]
    wins, losses = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    return Comparison(
        measure,
        Estimate(sum(differences) / len(differences), *bootstrap(differences)),
        wins,
        len(differences) - wins - losses,
        losses,
        randomisation(differences) if wins + losses >= FEWEST else None,
    )


def randomisation(differences: Sequence[float]) -> float:
    """The two-sided p of the mean of paired differences.

    Under the null hypothesis, each difference is as likely to have the other sign. Smucker, Allan and Carterette
    (CIKM 2007) advise this test over Wilcoxon's and the sign test.
    """
    import numpy  # noqa: PLC0415 - a second with scipy, and only evaluation needs it
    from scipy.stats import permutation_test  # noqa: PLC0415 - as above

    result = permutation_test(
        (differences,),
        numpy.mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=RESAMPLES,
        batch=batch(differences),
        rng=numpy.random.default_rng(SEED),
    )
    return float(result.pvalue)


def compare_several(runs: Mapping[str, Measures], baseline: Measures) -> dict[str, tuple[Comparison, ...]]:
    """Several runs against one baseline. Each measure's p are corrected by Holm's method."""
    compared = {name: compare(run, baseline) for name, run in runs.items()}
    for place in range(len(baseline.measured)):
        decided = {name: row[place].p for name, row in compared.items()}
        corrected = dict(
            zip(
                (name for name, p in decided.items() if p is not None),
                holm([p for p in decided.values() if p is not None]),
                strict=True,
            )
        )
        for name, row in compared.items():
            changed = replace(row[place], p=corrected.get(name))
            compared[name] = (*row[:place], changed, *row[place + 1 :])
    return compared


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's correction: the smallest p times n, the next times n - 1, none below an earlier one, at most 1."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for position, index in enumerate(order):
        highest = max(highest, min(1.0, p_values[index] * (len(p_values) - position)))
        corrected[index] = highest
    return corrected
