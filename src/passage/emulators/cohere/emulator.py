"""A Cohere-compatible HTTP server for development and tests: embed, rerank, chat, models, check-api-key.

Vectors come from static word embeddings, so they rank sensibly but are not Cohere's. They do not depend on the input
type. Statuses and error bodies are those of the real service.
"""

import asyncio
import hmac
import uuid

from aiohttp import web

from passage.emulators.cohere.chat import read_chat, run_chat
from passage.emulators.cohere.embed import Embedded, EmbedRequest, read_embed, run_embed
from passage.emulators.cohere.models import describe_models
from passage.emulators.cohere.rerank import read_rerank, run_rerank
from passage.emulators.cohere.vectors import ENCODERS
from passage.emulators.replies import json_response
from passage.emulators.server import HOST, EmulatedService, ServiceThread


def cohere_emulator(*, host: str = HOST, port: int = 0) -> ServiceThread:
    """A Cohere emulator, not yet started. See `ServiceThread`."""
    return ServiceThread(cohere_service(), host=host, port=port)


def cohere_service(api_key: str | None = None) -> EmulatedService:
    """Cohere's routes and errors.

    Args:
        api_key: the only accepted key; None accepts any bearer token that is not empty.
    """
    return EmulatedService(
        name="cohere",
        routes=[
            web.post("/v2/embed", _embed_v2),
            web.post("/v1/embed", _embed_v1),
            web.post("/v2/rerank", _rerank_v2),
            web.post("/v1/rerank", _rerank_v1),
            web.post("/v2/chat", _chat_v2),
            web.get("/v1/models", _models),
            web.post("/v1/check-api-key", _check_api_key),
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


async def _embed_v2(request: web.Request) -> web.Response:
    asked = await read_embed(request)
    return json_response(_by_type("2", asked, await asyncio.to_thread(run_embed, asked)))


async def _embed_v1(request: web.Request) -> web.Response:
    asked = await read_embed(request)
    embedded = await asyncio.to_thread(run_embed, asked)
    if asked.types is not None:
        return json_response(_by_type("1", asked, embedded))
    plain = {"embeddings": ENCODERS["float"](embedded.vectors), "response_type": "embeddings_floats"}
    return json_response(_envelope("1", {"input_tokens": embedded.tokens}) | {"texts": asked.texts} | plain)


def _by_type(version: str, asked: EmbedRequest, embedded: Embedded) -> dict[str, object]:
    embeddings = {kind: ENCODERS[kind](embedded.vectors) for kind in asked.types or ["float"]}
    return _envelope(version, {"input_tokens": embedded.tokens}) | {
        "embeddings": embeddings,
        "texts": asked.texts,
        "response_type": "embeddings_by_type",
    }


async def _rerank_v2(request: web.Request) -> web.Response:
    asked = await read_rerank(request)
    results = await asyncio.to_thread(run_rerank, asked)
    return json_response(_envelope("2", {"search_units": asked.search_units}) | {"results": results})


async def _rerank_v1(request: web.Request) -> web.Response:
    asked = await read_rerank(request)
    results = await asyncio.to_thread(run_rerank, asked)
    if asked.return_documents:
        results = [result | {"document": {"text": asked.documents[result["index"]]}} for result in results]
    return json_response(_envelope("1", {"search_units": asked.search_units}) | {"results": results})


async def _chat_v2(request: web.Request) -> web.Response:
    asked = await read_chat(request)
    return json_response({"id": str(uuid.uuid4()), **await asyncio.to_thread(run_chat, asked)})


def _envelope(version: str, billed: dict[str, int]) -> dict[str, object]:
    return {"id": str(uuid.uuid4()), "meta": {"api_version": {"version": version}, "billed_units": billed}}


async def _models(request: web.Request) -> web.Response:
    endpoint = request.query.get("endpoint")
    models = [model for model in describe_models() if endpoint is None or model["endpoints"] == [endpoint]]
    return json_response({"models": models, "next_page_token": None})


async def _check_api_key(_: web.Request) -> web.Response:
    return json_response({"valid": True, "organization_id": "emulated", "owner_id": "emulated"})
