"""What the adapters of providers share: an account, with a client that sends the key, and the check of relevances.

`handler.config.providers` names an adapter's class. The class imports its SDK, so it is imported only where it is used.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Protocol

import httpx

from handler.adapters.errors import DETAIL_CHARACTERS, Service
from handler.adapters.transport import LONGEST_RUN_SECONDS, for_client, made_up_transport
from handler.config.providers import Access, Provider
from handler.core.ports import Embedder, Reranker, TextsAre

Auth = httpx.Auth | Callable[[httpx.Request], httpx.Request]
ClientMaker = Callable[[Auth | None], httpx.Client]

INPUT_TYPES: Mapping[TextsAre, str] = {"question": "search_query", "document": "search_document"}
"""Cohere's names of what is embedded."""


def client_of_container(auth: Auth | None) -> httpx.Client:
    """An HTTP client over the container's connections, whose every wait ends with the running deadline."""
    return httpx.Client(transport=for_client(), auth=auth, timeout=LONGEST_RUN_SECONDS)


@dataclass(frozen=True)
class Account:
    """What an embedder and a reranker of one provider share.

    Attributes:
        cached_key: puts the key of a secret into each request; None for a key in the environment, and on AWS.
    """

    provider: Provider
    access: Access
    cached_key: httpx.Auth | None = None
    make_client: ClientMaker = client_of_container

    @property
    def url(self) -> str:
        """The API's, without a slash at the end; empty on AWS."""
        return self.access.url

    @cached_property
    def http(self) -> httpx.Client:
        """Sends requests with the key. It follows no redirect and does not retry: both are the core's."""
        return self.make_client(self.cached_key or (self._authorize if self.access.key else None))

    def _authorize(self, request: httpx.Request) -> httpx.Request:
        assert self.access.key is not None  # noqa: S101 - see `http`
        request.headers["Authorization"] = f"Bearer {self.access.key.get_secret_value()}"
        return request

    def service(self, upstream: Literal["embedding", "reranking"]) -> Service:
        """The service as errors name it."""
        provider = self.provider
        key_variable = provider.secret_variable if self.cached_key else provider.key_variable
        return Service(upstream, f"{upstream} service", key_variable, provider.url_variable)

    def with_made_up_answer(self, answer: object) -> "Account":
        """The same account with a service that is not called and always gives `answer`, for the warm-up."""
        return replace(self, make_client=lambda _: httpx.Client(transport=made_up_transport(answer)))

    def close(self) -> None:
        """Close the client, if there was a request."""
        if "http" in self.__dict__:
            self.http.close()


class EmbedderClass(Protocol):
    """The class of a provider's embedder."""

    def __call__(self, account: Account, *, model: str, dimension: int, texts_are: TextsAre) -> Embedder:
        """An embedder of questions or of documents.

        Args:
            dimension: the collection's, which the model's vectors must have.
            texts_are: what is embedded. Models that distinguish the two find less when it is wrong, without an error.
        """


class RerankerClass(Protocol):
    """The class of a provider's reranker."""

    def __call__(self, account: Account, *, model: str) -> Reranker: ...


def validate_relevances(results: Iterable[tuple[Any, Any]], service: Service, model: str, expected: int) -> list[float]:
    """The relevance of each of `expected` texts, in the texts' order.

    Args:
        results: index of a text among those sent, from 0, and its relevance.

    Raises:
        UpstreamUnavailable: a text has no relevance, two, or one that is not a finite number; or an index is unknown.
    """
    by_index: dict[int, float] = {}
    for index, relevance in results:
        if type(index) is not int or not 0 <= index < expected or index in by_index:
            raise service.unavailable(
                "ranked an unknown text or one text twice", f"model {model}, text {index!r}"[:DETAIL_CHARACTERS]
            )
        if type(relevance) not in (int, float) or not math.isfinite(relevance):
            raise service.unavailable("returned a relevance that is not a number", f"model {model}")
        by_index[index] = float(relevance)
    if len(by_index) != expected:
        raise service.unavailable("did not rank all texts", f"model {model}: {len(by_index)} of {expected}")
    return [by_index[index] for index in range(expected)]
