"""Creates the Cohere SDK's client, and maps its failures to the core's errors."""

import re

import httpx
from cohere.core.api_error import ApiError
from cohere.core.client_wrapper import SyncClientWrapper
from cohere.v2.client import V2Client

from handler.adapters.account import Account
from handler.adapters.errors import DETAIL_CHARACTERS, Service
from handler.core.errors import InvalidRequest, PassageError, RequestRefused

PLACEHOLDER = "in-the-account"
"""The key given to the SDK, which requires one. The account puts the real key into each request."""


def client(account: Account) -> V2Client:
    """The SDK's client of the API's version 2.

    `cohere.ClientV2` adds version 1 of the API, and importing that doubles this module's import time.
    """
    return V2Client(
        client_wrapper=SyncClientWrapper(
            token=PLACEHOLDER,
            base_url=account.url,
            httpx_client=account.http,
            max_retries=0,  # retries are the core's
        )
    )


TEXT_REFUSED = 498
"""The status for a text with a token of Cohere's deny-list (Cohere, "Errors": 498, invalid token)."""

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
    if status == TEXT_REFUSED and isinstance(error.body, dict):
        return InvalidRequest(
            f"The {service.name} does not accept a word of the text: ask in other words.",
            upstream=service.upstream,
            detail=f"HTTP {status}: a deny-listed token",
        )
    if status == 429 and re.search(r"/\s*month\b", str(error.body)):
        return RequestRefused(
            f"The trial key in {service.key_variable} has used up its calls of this month: set a production key.",
            upstream=service.upstream,
            detail=f"HTTP {status}: {str(error.body)[:DETAIL_CHARACTERS]}",
        )
    known = service.from_status(status, error.headers or {}, error.body)
    if not isinstance(known, RequestRefused) or status not in (400, 404, 422):
        return known
    if not isinstance(error.body, dict):  # Cohere's own refusals are JSON objects
        return service.answered_by_another(status, known.detail or "")
    return RequestRefused(refused, upstream=service.upstream, detail=known.detail)
