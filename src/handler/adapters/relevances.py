"""Validates the relevances of a reranking service, and words its refusals."""

import math
from collections.abc import Iterable
from typing import Any

from handler.adapters.errors import DETAIL_CHARACTERS, Service
from handler.config import models


def validate_relevances(results: Iterable[tuple[Any, Any]], service: Service, model: str, expected: int) -> list[float]:
    """The relevance of each of `expected` texts, in the texts' order.

    Args:
        results: index of a text among those sent, from 0, and its relevance.

    Raises:
        UpstreamUnavailable: a text has no relevance, two, or one that is not a finite number; or an index is unknown.
    """
    by_index: dict[int, float] = {}
    for index, relevance in results:
        if not _whole(index) or not 0 <= index < expected or index in by_index:
            raise service.unavailable(
                "ranked an unknown text or one text twice", f"model {model}, text {index!r}"[:DETAIL_CHARACTERS]
            )
        if not _finite(relevance):
            raise service.unavailable("returned a relevance that is not a number", f"model {model}")
        by_index[index] = float(relevance)
    if len(by_index) != expected:
        raise service.unavailable("did not rank all texts", f"model {model}: {len(by_index)} of {expected}")
    return [by_index[index] for index in range(expected)]


def model_refused(provider: str, model: str) -> str:
    """The message for a refused request. The request is so plain that only its model can be wrong."""
    return (
        f"The reranking service refused the model '{model}': set RERANK_MODEL to one that it serves, as "
        f"{' or '.join(models.rerankers(provider))}."
    )


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
