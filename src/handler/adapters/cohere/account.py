"""One Cohere account: creates the SDK's client and maps its failures to the core's errors."""

from dataclasses import dataclass, field, replace

import httpx
from cohere.core.api_error import ApiError
from cohere.core.client_wrapper import SyncClientWrapper
from cohere.v2.client import V2Client

from handler.adapters.errors import Service
from handler.adapters.transport import LONGEST_RUN_SECONDS, for_client, made_up
from handler.core.errors import PassageError, RequestRefused

ANSWER_BYTES = 4 * 1024 * 1024
"""The most bytes of an answer. The largest has 96 vectors, some 1 MB, and repeats their texts."""


@dataclass(frozen=True)
class Account:
    """The key and address that the embedder and the reranker share.

    Attributes:
        key_variable: the variable that holds the key, or says where it is stored.
        auth: puts the key into each request instead of `api_key`, where it can change.
        transport: None for the container's own connections.
    """

    api_key: str = field(repr=False)
    base_url: str
    auth: httpx.Auth | None = None
    key_variable: str = "COHERE_API_KEY"
    transport: httpx.BaseTransport | None = None

    def named(self, service: Service) -> Service:
        """`service` with the variable that this account's key comes from."""
        return replace(service, key_variable=self.key_variable)

    def client(self) -> V2Client:
        """The SDK's client of the API's version 2.

        `cohere.ClientV2` adds version 1 of the API, and importing that doubles this module's import time.
        """
        return V2Client(
            client_wrapper=SyncClientWrapper(
                token=self.api_key,
                base_url=self.base_url,
                httpx_client=httpx.Client(
                    transport=self.transport or for_client(ANSWER_BYTES),
                    auth=self.auth,
                    timeout=LONGEST_RUN_SECONDS,
                ),
                max_retries=0,  # retries are the core's
            )
        )

    def made_up(self, answer: object) -> "Account":
        """The same account with a service that is not called and always gives `answer`."""
        return Account("warm-up", self.base_url, transport=made_up(answer))


FAILURES = (ApiError, httpx.HTTPError, ValueError, TypeError, AttributeError, RecursionError)
"""The exceptions of an SDK call. The last four mean that it could not parse an answer."""


def core_error(error: Exception, service: Service, refused: str) -> PassageError:
    """The core's error for one of `FAILURES`.

    Args:
        refused: the message for a refused request. Requests are so simple that only the model can be wrong.
    """
    if not isinstance(error, ApiError):
        return service.from_transport(error)
    status = error.status_code or 0
    known = service.from_status(status, error.headers or {}, error.body)
    if not isinstance(known, RequestRefused) or status not in (400, 404, 422):
        return known
    if not isinstance(error.body, dict):  # Cohere's own refusals are JSON objects
        return service.answered_by_another(status, known.detail or "")
    return RequestRefused(refused, upstream=service.upstream, detail=known.detail)
