"""Sends an answer as Qdrant's server sends it to a client that asks for gzip: compressed, in two writes."""

import gzip
import socket

from aiohttp import web


async def compressed(request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
    """The response, compressed and sent if the client asks for gzip; unchanged for any other client.

    The second write waits for the client's acknowledgement of the first (Nagle's algorithm, which TCP_NODELAY turns
    off), and a client may delay that by 40 ms. A client on the same machine waits as it would for a real server.
    """
    body = response.body if isinstance(response, web.Response) else None
    if not isinstance(body, bytes) or not body or "gzip" not in request.headers.get("Accept-Encoding", ""):
        return response
    sent = web.StreamResponse(status=response.status, reason=response.reason, headers=response.headers)
    sent.headers.popall("Content-Length", None)
    sent.headers["Content-Encoding"] = "gzip"
    sent.enable_chunked_encoding()
    transport = request.transport
    connection = None if transport is None else transport.get_extra_info("socket")
    if connection is not None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)
    await sent.prepare(request)
    await sent.write(gzip.compress(body, compresslevel=1))
    await sent.write_eof()
    return sent
