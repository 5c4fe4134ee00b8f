"""The resource that MCP clients show to people: the list of the index's pages."""

from collections.abc import Mapping
from typing import Any

from handler.entrypoints.http.mcp.protocol import INVALID_PARAMS, Refused
from handler.entrypoints.http.mcp.tools import Endpoint, subject
from handler.service.documents import pages

URI = "passage://pages"
MARKDOWN = "text/markdown"


def list_resources(endpoint: Endpoint) -> list[dict[str, Any]]:
    """The definition of the page list; nothing where the index is too large for one."""
    if not _pages(endpoint):
        return []
    words = f"The URL of each page of {subject(endpoint)}. Read one with get_page."
    return [{"uri": URI, "name": "pages", "title": "All pages", "description": words, "mimeType": MARKDOWN}]


def read_resource(params: Mapping[str, Any], endpoint: Endpoint) -> dict[str, Any]:
    """The result of `resources/read`.

    Raises:
        Refused: there is no such resource.
    """
    listed = _pages(endpoint) if params.get("uri") == URI else ()
    if not listed:
        raise Refused(INVALID_PARAMS, "There is no such resource: resources/list has those that there are.")
    text = "".join(f"- <{url}>\n" for url in listed)
    return {"contents": [{"uri": URI, "mimeType": MARKDOWN, "text": text}]}


def _pages(endpoint: Endpoint) -> tuple[str, ...]:
    return pages(endpoint.services.served(endpoint.profile), endpoint.until())
