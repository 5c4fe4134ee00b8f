"""InvokeModel's request and answer for Cohere's reranking model on Amazon Bedrock."""

from collections.abc import Mapping
from typing import Any

from passage.emulators.cohere.rerank import MAX_DOCUMENTS, RerankRequest, run_rerank
from passage.emulators.embedding import replace_lone_surrogates
from tools.bedrock.requests import malformed

API_VERSION = 2
"""The lowest version of Cohere's API that the model accepts. The field is required."""

_KEYS = frozenset({"query", "documents", "top_n", "api_version", "max_tokens_per_doc"})


def read_rerank(fields: Mapping[str, Any]) -> RerankRequest:
    """A validated request."""
    for name in ("query", "documents", "api_version"):
        if name not in fields:
            raise malformed(f"#: required key [{name}] not found")
    if fields.keys() - _KEYS:
        raise malformed("extraneous key is not permitted")
    query, documents, version = fields["query"], fields["documents"], fields["api_version"]
    if not isinstance(version, int) or isinstance(version, bool) or version < API_VERSION:
        raise malformed(f"#/api_version: {version} is not greater or equal to {API_VERSION}")
    if not isinstance(query, str) or not query:
        raise malformed("#/query: expected a string")
    if not isinstance(documents, list) or not all(isinstance(text, str) for text in documents) or not documents:
        raise malformed("#/documents: expected an array of strings")
    if len(documents) > MAX_DOCUMENTS:
        raise malformed(f"#/documents: expected maximum item count: {MAX_DOCUMENTS}, found: {len(documents)}")
    top_n = fields.get("top_n", len(documents))
    if not isinstance(top_n, int) or isinstance(top_n, bool) or top_n < 1:
        raise malformed("#/top_n: expected a whole number of 1 or more")
    clean = [replace_lone_surrogates(text) for text in documents]
    return RerankRequest(replace_lone_surrogates(query), clean, min(top_n, len(clean)))


def rerank_answer(asked: RerankRequest) -> dict[str, object]:
    """The model's answer, best first."""
    return {"results": run_rerank(asked)}
