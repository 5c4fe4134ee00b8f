"""Cohere's reranking API through the official SDK."""

from collections.abc import Sequence
from functools import cached_property

from cohere.v2.client import V2Client

from handler.adapters import relevances
from handler.adapters.account import Account
from handler.adapters.cohere.client import FAILURES, client, core_error


class CohereReranker:
    """Reranks with one model: a `handler.core.ports.Reranker`."""

    def __init__(self, account: Account, *, model: str) -> None:
        self._account = account
        self._service = account.service("reranking")
        self.model = model

    @cached_property
    def _client(self) -> V2Client:
        return client(self._account)

    def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        try:
            # Without `top_n`, because the core orders equal relevances and cuts the list.
            response = self._client.rerank(
                model=self.model, query=question, documents=list(texts), request_options={"max_retries": 0}
            )
            ranked = [(result.index, result.relevance_score) for result in response.results]
        except FAILURES as error:
            raise core_error(error, self._service, relevances.model_refused("cohere", self.model)) from error
        return relevances.validate_relevances(ranked, self._service, self.model, len(texts))

    def warm(self) -> None:
        """The SDK builds its types at the first answer, here a made-up one."""
        _ = self._client
        answer = {"id": "", "results": [{"index": 0, "relevance_score": 0.5}]}
        CohereReranker(self._account.made_up(answer), model=self.model).rerank("warm-up", ["warm-up"])
