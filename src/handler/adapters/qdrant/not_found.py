"""Explains a 404 from QDRANT_URL: no such collection, a wrong URL, or a server that is too old."""

import json
from contextlib import suppress
from urllib.parse import urlsplit

import httpx

from handler.adapters.errors import Service
from handler.core.errors import ConfigurationError, PassageError

SECONDS = 3.0
"""Seconds for the version request, within the request's deadline."""

LEAST_VERSION = (1, 10)
"""The first version with `/points/query` (Qdrant, release notes of 1.10)."""


def is_missing_collection(body: bytes) -> bool:
    """Whether Qdrant reports that the collection does not exist."""
    return _said(body).startswith("Not found: Collection")


def explain(known: PassageError, service: Service, url: str, transport: httpx.BaseTransport) -> PassageError:
    """The error for a 404 that is not about the collection.

    Args:
        known: the error by its status alone.
        transport: to ask the server for its version.
    """
    if type(known) is ConfigurationError:  # a page, so no Qdrant
        return known
    path = urlsplit(url).path
    detail = known.detail or ""
    if path:
        return service.misconfigured(
            f"is not found under the path {path} of {service.url_variable}: correct it", detail
        )
    version = _version(url, transport)
    if version is None:
        return service.misconfigured(
            f"does not answer at {service.url_variable}, but another server does: correct it", detail
        )
    if version < LEAST_VERSION:
        has, least = (".".join(map(str, numbers)) for numbers in (version, LEAST_VERSION))
        return service.misconfigured(
            f"at {service.url_variable} is Qdrant {has}: Passage needs {least} or newer", detail
        )
    return known


def _said(body: bytes) -> str:
    """Qdrant's message in an error's body; empty for any other body."""
    with suppress(ValueError, RecursionError, TypeError, KeyError):
        return str(json.loads(body)["status"]["error"])
    return ""


def _version(url: str, transport: httpx.BaseTransport) -> tuple[int, int] | None:
    """Major and minor version of the Qdrant at `url`; None when it is no Qdrant, or does not say."""
    request = httpx.Request("GET", f"{url}/", extensions={"timeout": httpx.Timeout(SECONDS).as_dict()})
    with suppress(httpx.HTTPError, ValueError, RecursionError, TypeError, KeyError):
        response = transport.handle_request(request)
        response.read()
        answer = json.loads(response.content)
        if "qdrant" in str(answer["title"]):
            major, minor, *_ = str(answer["version"]).split(".")
            return int(major), int(minor)
    return None
