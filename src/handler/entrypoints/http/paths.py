"""The API's version, its paths with their methods, and Passage's response header."""

API_VERSION = "0.1.0"

PATHS: dict[str, tuple[str, ...]] = {
    "/query": ("GET", "POST"),
    "/profiles": ("GET",),
    "/profiles/{profile}/query": ("GET", "POST"),
    "/profiles/{profile}/collection": ("GET",),
    "/profiles/{profile}/chunks/{id}": ("GET",),
    "/feedback": ("POST",),
    "/health": ("GET",),
    "/ready": ("GET",),
    "/openapi.json": ("GET",),
    "/docs": ("GET",),
}
"""Wherever GET is listed, HEAD works, too."""

MCP_PATHS: dict[str, tuple[str, ...]] = {"/mcp": ("POST",), "/profiles/{profile}/mcp": ("POST",)}
"""MCP describes itself to its clients, so the OpenAPI document leaves these paths out."""

MCP_HEADERS = ("MCP-Protocol-Version", "Mcp-Method", "Mcp-Name")
"""The headers of MCP's requests, which a page may send."""

LEFT_OUT = "X-Passage-Results-Left-Out"
"""The response header that counts results dropped to fit the response limit."""


def methods(path: str) -> tuple[str, ...]:
    """The methods of a path; none when it is unknown."""
    parts = _parts(path)
    for known, allowed in {**PATHS, **MCP_PATHS}.items():
        names = known.split("/")
        if len(names) == len(parts) and all(
            (part and name.startswith("{")) or part == name for name, part in zip(names, parts, strict=True)
        ):
            return (*allowed, "HEAD") if "GET" in allowed else allowed
    return ()


def is_mcp(path: str) -> bool:
    """Whether it is the path of an MCP endpoint."""
    return _parts(path)[-1] == "mcp" and bool(methods(path))


def profile_in(path: str) -> str | None:
    """The profile that a path names; None for a path of no profile."""
    parts = _parts(path)
    return parts[2] if parts[1:2] == ["profiles"] and len(parts) > 2 else None


def _parts(path: str) -> list[str]:
    return (path.rstrip("/") or "/").split("/")
