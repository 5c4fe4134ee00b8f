"""Finds the model that made a collection's vectors: embeds a stored text with each candidate and compares."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from math import hypot
from operator import mul
from typing import Any

from handler.adapters.qdrant.payload import read_one
from handler.config import models
from handler.config.profiles import Profile
from passage.indexing.cache_filler import EmbeddingError
from passage.indexing.cost import cost
from passage.indexing.embedding import document_embedder
from passage.indexing.plan import EmbeddingWork
from passage.indexing.server.connection import ServerConnection
from passage.indexing.target import TargetError
from passage.indexing.tokens import bound, input_tokens

SAMPLE = 50

SURE = 0.8
"""The least cosine of a model's own vector: a title may have been embedded with the text, or its numbers rounded."""

APART = 0.1
"""How far the next model must be behind. Models of different vector spaces are unrelated: their cosine is about 0."""


def cosines(
    connection: ServerConnection, profile: Profile, environ: Mapping[str, str], say: Callable[[str], object]
) -> dict[str, float]:
    """How similar each candidate's vector of a stored text is to the stored one, the best first.

    The candidates are the active models of the profile's provider that give vectors of the collection's dimension.

    Args:
        say: is called with the cost, before a text is embedded, and with a candidate's failure.

    Raises:
        TargetError: no stored text has a vector.
        EmbeddingError: no key is set.
    """
    names = models.with_dimension(profile.embedding.provider, profile.collection.dimension)
    text, stored = next(_texts(connection, profile, names))
    tokens, found = bound(text), {}
    embedders = [document_embedder(_with_model(profile, name), environ) for name in names]
    for embedder in embedders:
        work = EmbeddingWork(1, tokens, 1, embedder.model, cost(embedder.model, embedder.made_by, tokens))
        say(work.line("text"))
    for embedder in embedders:
        with closing(embedder):
            try:
                (vector,) = embedder.embed([text])
            except EmbeddingError as error:
                say(f"{embedder.model} is left out. {error}")
                continue
        found[embedder.model] = _cosine(vector, stored)
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def identified(found: Mapping[str, float]) -> str | None:
    """The model that made the vectors; None where no candidate is near them, or several are alike.

    Args:
        found: see `cosines`.
    """
    best = next(iter(found), None)
    if best is None or found[best] < SURE:
        return None
    near = [name for name, cosine in found.items() if cosine > found[best] - APART]
    return best if all(models.are_comparable(best, name) for name in near) else None


def _texts(connection: ServerConnection, profile: Profile, names: list[str]) -> Iterator[tuple[str, list[float]]]:
    """Stored texts that every candidate reads whole, each with its vector; the first alone is asked for."""
    name, vector = profile.collection.name, profile.collection.vector
    records, _ = connection.call(
        lambda client: client.scroll(name, limit=SAMPLE, with_vectors=[vector] if vector else True)
    )
    most = min(map(input_tokens, names), default=0)
    for record in records:
        passage = read_one(record, profile.payload, None)
        held: Any = record.vector.get(vector) if isinstance(record.vector, dict) else record.vector
        if passage is not None and isinstance(held, list) and bound(passage.text) <= most:
            yield passage.text, held
    fitting = f"a text of at most {most} tokens with a vector" if names else "a dimension that a known model has"
    raise TargetError(f"The model cannot be identified: none of {len(records)} points of '{name}' has {fitting}.")


def _with_model(profile: Profile, model: str) -> Profile:
    named = profile.embedding.model_copy(update={"model": model, "document_model": None})
    return profile.model_copy(update={"embedding": named})


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    lengths = hypot(*one) * hypot(*other)
    return sum(map(mul, one, other)) / lengths if lengths else 0.0
