"""Whether what a reranking service gave is what was asked for."""

import math
from collections.abc import Iterable
from typing import Any

from handler.adapters.errors import Service


def validate_relevances(results: Iterable[tuple[Any, Any]], service: Service, model: str, expected: int) -> list[float]:
    """The relevance of each of `expected` texts, in the texts' order.

    Args:
        results: a text's place among those sent, from 0, and its relevance.

    Raises:
        UpstreamUnavailable: a text has none, or two, or one that is no number; or one has it that was not sent.
    """
    found: dict[int, float] = {}
    for index, relevance in results:
        if not _whole(index) or not 0 <= index < expected or index in found:
            raise service.unavailable("ranked something else than it was sent", f"model {model}, text {index!r}"[:300])
        if not _finite(relevance):
            raise service.unavailable("gave a relevance that is not a number", f"model {model}")
        found[index] = float(relevance)
    if len(found) != expected:
        raise service.unavailable("did not rank all it was sent", f"model {model}: {len(found)} of {expected}")
    return [found[index] for index in range(expected)]


def model_refused(model: str) -> str:
    """What to say when a service finds something wrong with such a plain request: it is the model."""
    return f"The reranking service refused the model '{model}': set RERANK_MODEL to one it has."


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
