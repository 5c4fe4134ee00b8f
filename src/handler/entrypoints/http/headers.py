"""The API's version and its own headers."""

API_VERSION = "0.1.0"

MCP_HEADERS = ("MCP-Protocol-Version", "Mcp-Method", "Mcp-Name")
"""The headers of MCP's requests, which a page may send."""

LEFT_OUT = "X-Passage-Results-Left-Out"
"""The response header that counts results dropped to fit the response limit."""

ERROR_CODE = "X-Error-Code"
"""The response header with an error's code: the same codes under every contract (`handler.core.errors`)."""
