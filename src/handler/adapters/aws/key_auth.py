"""HTTP authentication with a cached key, which may be rotated while a client is in use."""

from collections.abc import Generator

import httpx

from handler.adapters.aws.secrets import CachedKey

REFUSED = (401, 403)
"""Statuses for a refused key."""


class KeyAuth(httpx.Auth):
    """Puts the key into every request. After a refusal the request is sent once more, if the secret holds a new key.

    So a rotation needs no new SDK client and no new connection.
    """

    def __init__(self, header: str, scheme: str, key: CachedKey) -> None:
        self._header = header
        self._scheme = scheme
        self._key = key

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        key = self._key.value()
        request.headers[self._header] = f"{self._scheme}{key}"
        response = yield request
        if response.status_code in REFUSED and self._key.renewed(refused=key):
            request.headers[self._header] = f"{self._scheme}{self._key.value()}"
            yield request
