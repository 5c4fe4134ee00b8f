"""The cosine threshold that keeps 95 % of a site's own questions, and what it and the index's noise reject of others.

A threshold belongs to one model and one site, so none ships. `passage index` measures the noise without a suite.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

KEEP = 0.95
POINTS = 101
"""Of each curve."""


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


def propose_threshold(own: Sequence[float], off_topic: Sequence[float], noise: float | None = None) -> Threshold:
    """The highest threshold that keeps the share `KEEP` of the own questions.

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
