"""Cohere's reranking model on Amazon Bedrock. The function's role is the credential; there is no key."""

from collections.abc import Sequence
from typing import Any

from handler.adapters import relevances
from handler.adapters.account import Account
from handler.adapters.bedrock.model import BedrockModel
from handler.adapters.errors import Service

API_VERSION = 2
"""The version of Cohere's API. The model requires it in each request, and accepts no other."""


class BedrockReranker:
    """Reranks with one model: a `handler.core.ports.Reranker`.

    Args:
        model: the id of a Cohere model, or an inference profile's ARN. Amazon's reranker has another request format.
    """

    def __init__(self, account: Account, *, model: str) -> None:
        refused = relevances.model_refused("bedrock", model)
        self.model = model
        self._service = account.service("reranking")
        self._bedrock = BedrockModel(model, service=self._service, refused=refused)

    def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        answer = self._bedrock.invoke({"query": question, "documents": list(texts), "api_version": API_VERSION})
        return relevances.validate_relevances(_results(answer, self._service), self._service, self.model, len(texts))

    def warm(self) -> None:
        self._bedrock.warm()

    def restored(self) -> None:
        """Forget the credentials from before a snapshot: they have expired."""
        self._bedrock.restored()


def _results(answer: Any, service: Service) -> list[tuple[Any, Any]]:
    try:
        return [(result["index"], result["relevance_score"]) for result in answer["results"]]
    except (TypeError, KeyError, IndexError) as error:
        raise service.from_transport(error) from error
