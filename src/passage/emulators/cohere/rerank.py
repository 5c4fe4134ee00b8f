"""Cohere's rerank endpoint: ranks documents by their similarity to a query."""

from dataclasses import dataclass
from typing import Any

from aiohttp import web

from passage.emulators.cohere.requests import (
    check_words,
    find_models,
    invalid,
    no_such_model,
    read_object,
    strings_of,
    text_of,
)
from passage.emulators.embedding import NATIVE_DIMENSION, load_model

MODELS = find_models("cohere", embeds=False)
MAX_DOCUMENTS = 10_000
DOCUMENTS_PER_SEARCH_UNIT = 100


@dataclass(frozen=True)
class RerankRequest:
    """A validated request. `top_n` is at most the number of documents."""

    query: str
    documents: list[str]
    top_n: int

    @property
    def search_units(self) -> int:
        """The number of search units that Cohere bills."""
        return -(-len(self.documents) // DOCUMENTS_PER_SEARCH_UNIT)


async def read_rerank(request: web.Request) -> RerankRequest:
    """Read a rerank request."""
    body = await read_object(request)
    name = text_of(body, "model")
    if name not in MODELS:
        raise no_such_model(name)
    query, given = text_of(body, "query"), body.get("documents")
    if not isinstance(given, list) or not given:
        raise invalid("list of documents must not be empty")
    if len(given) > MAX_DOCUMENTS:
        raise invalid(f"number of documents must be at most {MAX_DOCUMENTS} - received {len(given)}")
    top_n = len(given) if body.get("top_n") is None else body["top_n"]
    if not isinstance(top_n, int) or isinstance(top_n, bool) or top_n < 1:
        raise invalid("top_n must be a whole number of 1 or more")
    documents = strings_of(body, "documents")
    check_words([query, *documents])
    return RerankRequest(query, documents, min(top_n, len(documents)))


def run_rerank(asked: RerankRequest) -> list[dict[str, Any]]:
    """Index and relevance score, 0 to 1, of the best documents, best first; equal scores keep the order given."""
    model = load_model()
    vectors = model.embed_tokens(model.tokenize([asked.query, *asked.documents]), NATIVE_DIMENSION)
    cosines = vectors[1:] @ vectors[0]
    scores = [round(min(1.0, max(0.0, (1.0 + float(cosine)) / 2.0)), 8) for cosine in cosines]
    order = sorted(range(len(scores)), key=lambda index: -scores[index])
    return [{"index": index, "relevance_score": scores[index]} for index in order[: asked.top_n]]
