"""Asks a finished index questions that no documentation answers, and keeps how near its passages come to them.

The quantiles of their best cosines are the index's noise (`handler.core.model.Noise`): an answer that is no better than
these gets is no answer. They need no suite and no constant of a model.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from passage.indexing.cache_filler import Text
from passage.indexing.tokens import bound
from passage.indexing.vector_cache import VectorKind

QUESTIONS = tuple(Path(__file__).with_name("off_topic.txt").read_text(encoding="utf-8").splitlines())
"""General knowledge, small talk and random letters, in the languages that sites are written in. They are as many as
one call embeds."""

DIGITS = 4
"""Of a stored cosine."""


def texts(kind: VectorKind) -> Iterator[Text]:
    """The questions with their keys in the vector cache."""
    return (Text(kind.key(question), question, bound(question)) for question in QUESTIONS)


def identity(digest: str, kind: VectorKind) -> str:
    """Identifies a measurement: it is the same for the same index, model and questions.

    Args:
        digest: of the index's content.
    """
    parts = (digest, kind.provider, kind.model, kind.dimension, QUESTIONS)
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def measured(cosines: Sequence[float], kind: VectorKind, of: str) -> dict[str, Any]:
    """The noise as it is stored with an index.

    Args:
        cosines: the best one of each question, at least one.
        of: the measurement's identity.
    """
    ordered = sorted(cosines)
    quantiles = {f"p{share}": round(ordered[share * (len(ordered) - 1) // 100], DIGITS) for share in (50, 90)}
    return {**quantiles, "questions": len(ordered), "model": kind.model, "of": of}
