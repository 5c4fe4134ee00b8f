"""95 % confidence intervals: Wilson's for a share of questions, the percentile bootstrap for other means."""

from collections.abc import Sequence
from dataclasses import dataclass

RESAMPLES = 9_999
SEED = 20261128
"""The same values always give the same interval and the same p."""
DRAWN = 2_000_000
"""The most numbers that are drawn at once. All resamples of 10,000 questions at once would take 6 GB."""


@dataclass(frozen=True)
class Estimate:
    """A mean over questions, with the bounds of its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


def estimate(values: Sequence[float]) -> Estimate:
    """The mean of the values, with Wilson's interval if each is 0 or 1, else with the bootstrap's."""
    if set(values) <= {0.0, 1.0}:
        return share(round(sum(values)), len(values))
    return Estimate(sum(values) / len(values), *bootstrap(values))


def share(hits: int, of: int) -> Estimate:
    """A share of questions with Wilson's interval, which stays inside 0 and 1 and is right for few misses."""
    from scipy.stats import binomtest  # noqa: PLC0415 - a second, and only evaluation needs it

    interval = binomtest(hits, of).proportion_ci(method="wilson")
    return Estimate(hits / of, float(interval.low), float(interval.high))


def batch(values: Sequence[float]) -> int:
    """How many resamples of the values to draw at once. It changes no result."""
    return max(1, DRAWN // len(values))


def bootstrap(values: Sequence[float]) -> tuple[float, float]:
    """The bounds of the mean by the percentile bootstrap. BCa is undefined when all values are equal."""
    if len(set(values)) == 1:
        return values[0], values[0]
    import numpy  # noqa: PLC0415 - see share
    from scipy.stats import bootstrap as resample  # noqa: PLC0415 - see share

    interval = resample(
        (values,),
        numpy.mean,
        n_resamples=RESAMPLES,
        batch=batch(values),
        method="percentile",
        rng=numpy.random.default_rng(SEED),
    ).confidence_interval
    return float(interval.low), float(interval.high)
