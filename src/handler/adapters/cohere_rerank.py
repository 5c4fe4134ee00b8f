"""Cohere's reranking API through the official SDK."""

from collections.abc import Sequence
from functools import cached_property

import httpx
from cohere.v2.client import V2Client

from handler.adapters import relevances
from handler.adapters.cohere import FAILURES, client, failed
from handler.adapters.failures import Service
from handler.adapters.transport import lent, rehearsal

SERVICE = Service("reranking", "reranking service", "COHERE_API_KEY")


class CohereReranker:
    """Reranks with one model.

    Args:
        auth: puts the key into each request instead of `api_key`, where it can change.
    """

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str,
        model: str,
        auth: httpx.Auth | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._api_key = api_key
        self._base_url = base_url
        self._model = model
        self._auth = auth
        self._transport = transport

    @property
    def model(self) -> str:
        return self._model

    @cached_property
    def _client(self) -> V2Client:
        return client(self._api_key, self._base_url, self._transport or lent(), self._auth)

    def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        """See `handler.core.ports.Reranker`."""
        try:
            # Without `top_n`: the order among equals, and what is cut, are the core's to decide.
            response = self._client.rerank(
                model=self._model, query=question, documents=list(texts), request_options={"max_retries": 0}
            )
            found = [(result.index, result.relevance_score) for result in response.results]
        except FAILURES as error:
            raise failed(error, SERVICE, relevances.model_refused(self._model)) from error
        return relevances.checked(found, SERVICE, self._model, len(texts))

    def warm(self) -> None:
        """See `handler.core.ports.Reranker`. The SDK builds its types at the first answer, so it is given one here."""
        _ = self._client
        answer = {"id": "", "results": [{"index": 0, "relevance_score": 0.5}]}
        CohereReranker(
            api_key="rehearsal",
            base_url=self._base_url,
            model=self._model,
            transport=rehearsal(answer),
        ).rerank("rehearsal", ["rehearsal"])
