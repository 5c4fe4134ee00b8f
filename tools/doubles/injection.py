"""Simulates a planned fault on the wire."""

import asyncio
from http import HTTPStatus

from aiohttp import web

from passage.emulators.server import Answer, ErrorBody, json_response
from tools.doubles.faults import CUT_OFF_JSON, Fault


async def inject(fault: Fault, request: web.Request, answer: Answer, error_body: ErrorBody) -> web.StreamResponse:
    """Answer a request with the fault. `answer` makes the normal answer, `error_body` the service's error body."""
    if fault.delay_ms:
        await asyncio.sleep(fault.delay_ms / 1000)
    match fault.kind:
        case "slow":
            return await answer()
        case "status":
            return _status(fault, error_body)
        case "malformed":
            text = CUT_OFF_JSON if fault.body is None else fault.body
            return web.Response(body=text.encode("utf-8", "surrogatepass"), content_type="application/json")
        case "drop" if fault.at == "request":
            return _hang_up(request, b"")
        case "drop":
            return _hang_up(request, _half(await answer()))


def _status(fault: Fault, error_body: ErrorBody) -> web.Response:
    headers = {} if fault.retry_after is None else {"Retry-After": f"{fault.retry_after:g}"}
    if fault.body is not None:
        return web.Response(text=fault.body, status=fault.status, headers=headers, content_type="application/json")
    try:
        phrase = HTTPStatus(fault.status).phrase
    except ValueError:
        phrase = "injected fault"
    return json_response(error_body(fault.status, phrase.lower()), fault.status, headers)


def _half(response: web.StreamResponse) -> bytes:
    """The first bytes of a response: every header, half of the promised body."""
    body = response.body if isinstance(response, web.Response) and isinstance(response.body, bytes) else b"{}"
    head = (
        f"HTTP/1.1 {response.status} {response.reason}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode("ascii") + body[: len(body) // 2]


def _hang_up(request: web.Request, last_words: bytes) -> web.Response:
    transport = request.transport
    if transport is not None:
        if last_words:
            transport.write(last_words)
            transport.close()  # flushes first; abort() would discard the half answer
        else:
            transport.abort()
    return web.Response()  # never leaves: the connection is gone
