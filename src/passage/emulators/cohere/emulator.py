"""A Cohere-compatible HTTP server for development and tests: embed, rerank and chat of the API's version 2.

Vectors come from static word embeddings, so they rank sensibly but are not Cohere's. They do not depend on the input
type. Statuses and error bodies are those of the real service.
"""

import asyncio
import hmac
import uuid

from aiohttp import web

from passage.emulators.cohere.chat import read_chat, run_chat
from passage.emulators.cohere.embed import ENCODERS, read_embed, run_embed
from passage.emulators.cohere.rerank import read_rerank, run_rerank
from passage.emulators.server import EmulatedService, ServiceThread, json_response


def cohere_emulator() -> ServiceThread:
    """A Cohere emulator, not yet started. See `ServiceThread`."""
    return ServiceThread(cohere_service())


def cohere_service(api_key: str | None = None) -> EmulatedService:
    """Cohere's routes and errors.

    Args:
        api_key: the only accepted key; None accepts any bearer token that is not empty.
    """
    return EmulatedService(
        name="cohere",
        routes=[
            web.post("/v2/embed", _embed),
            web.post("/v2/rerank", _rerank),
            web.post("/v2/chat", _chat),
        ],
        error_body=_error_body,
        authorize=lambda request: _authorize(request, api_key),
    )


def _error_body(_: int, message: str) -> object:
    return {"id": str(uuid.uuid4()), "message": message}


def _authorize(request: web.Request, api_key: str | None) -> web.Response | None:
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    token = given.strip().encode(errors="surrogateescape")
    if scheme.lower() != "bearer" or not token:
        return json_response(_error_body(401, "no api key supplied"), 401)
    if api_key is not None and not hmac.compare_digest(token, api_key.encode()):
        return json_response(_error_body(401, "invalid api token"), 401)
    return None


async def _embed(request: web.Request) -> web.Response:
    asked = await read_embed(request)
    embedded = await asyncio.to_thread(run_embed, asked)
    embeddings = {kind: ENCODERS[kind](embedded.vectors) for kind in asked.types or ["float"]}
    answer = {"embeddings": embeddings, "texts": asked.texts, "response_type": "embeddings_by_type"}
    return json_response(_envelope({"input_tokens": embedded.tokens}) | answer)


async def _rerank(request: web.Request) -> web.Response:
    asked = await read_rerank(request)
    results = await asyncio.to_thread(run_rerank, asked)
    return json_response(_envelope({"search_units": asked.search_units}) | {"results": results})


async def _chat(request: web.Request) -> web.Response:
    asked = await read_chat(request)
    return json_response({"id": str(uuid.uuid4()), **await asyncio.to_thread(run_chat, asked)})


def _envelope(billed: dict[str, int]) -> dict[str, object]:
    return {"id": str(uuid.uuid4()), "meta": {"api_version": {"version": "2"}, "billed_units": billed}}
