"""Amazon Bedrock's InvokeModel for Cohere's embedding and reranking models, for development and tests.

Vectors and relevances are those of the Cohere emulator. A request must have a signature for this service, but the
signature is not verified.
"""

import asyncio
import re
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from handler.config.providers import Model
from passage.emulators.cohere.embed import ENCODERS, EmbedRequest, run_embed
from passage.emulators.cohere.requests import find_models
from passage.emulators.embedding import replace_lone_surrogates
from passage.emulators.server import ApiError, EmulatedService, json_response
from tools.bedrock.requests import malformed, read_object
from tools.bedrock.rerank import read_rerank, rerank_answer
from tools.doubles.server import EmulatorServer

CODES = {
    400: "ValidationException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    408: "ModelTimeoutException",
    424: "ModelErrorException",
    429: "ThrottlingException",
    500: "InternalServerException",
    503: "ServiceUnavailableException",
}

EMBED_MODELS = find_models("bedrock", embeds=True)
RERANK_MODELS = find_models("bedrock", embeds=False)
INPUT_TYPES = ("search_document", "search_query", "classification", "clustering")
V3_CHARACTERS = 2048
SIDES = {
    False: {"NONE": "NONE", "START": "START", "END": "END"},
    True: {"NONE": "NONE", "LEFT": "START", "RIGHT": "END"},
}
"""A model's values of `truncate`, mapped to those of Cohere's API. v4 has different ones."""

_PROFILE = re.compile(r"^(us|eu|apac|global)\.")
_SIGNED = re.compile(r"AWS4-HMAC-SHA256 Credential=[^/]+/\d{8}/[\w-]+/bedrock/aws4_request, SignedHeaders=")


def bedrock_emulator() -> EmulatorServer:
    """A Bedrock emulator, not yet started."""
    service = EmulatedService(
        name="bedrock",
        routes=[web.post("/model/{model}/invoke", _invoke)],
        error_body=_error_body,
        authorize=_authorize,
    )
    return EmulatorServer(service)


def _error_body(status: int, message: str) -> object:
    return {"__type": CODES.get(status, "InternalServerException"), "message": message}


def _authorize(request: web.Request) -> web.Response | None:
    if _SIGNED.match(request.headers.get("Authorization", "")):
        return None
    return json_response(_error_body(403, "The request is not signed for bedrock."), 403)


async def _invoke(request: web.Request) -> web.Response:
    name = _PROFILE.sub("", request.match_info["model"])
    if name in RERANK_MODELS:
        return json_response(await asyncio.to_thread(rerank_answer, read_rerank(read_object(await request.read()))))
    model = EMBED_MODELS.get(name)
    if model is None:
        raise ApiError(400, "The provided model identifier is invalid.")
    asked = _read(read_object(await request.read()), model, newest=len(model.dimensions) > 1)
    embedded = await asyncio.to_thread(run_embed, asked)
    embeddings = {kind: ENCODERS[kind](embedded.vectors) for kind in asked.types or ["float"]}
    answer = {"id": "emulated", "texts": asked.texts}
    if asked.types is None:
        return json_response({**answer, "embeddings": embeddings["float"], "response_type": "embeddings_floats"})
    return json_response({**answer, "embeddings": embeddings, "response_type": "embeddings_by_type"})


def _read(fields: Mapping[str, Any], model: Model, *, newest: bool) -> EmbedRequest:
    allowed = {"input_type", "texts", "truncate", "embedding_types"} | ({"output_dimension"} if newest else set())
    if fields.keys() - allowed:
        raise malformed(f"extraneous key, allowed are {sorted(allowed)}")
    texts = fields.get("texts")
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts) or not texts:
        raise malformed("#/texts: expected an array of strings")
    if len(texts) > model.texts_per_call:
        raise malformed(f"#/texts: expected maximum item count: {model.texts_per_call}, found: {len(texts)}")
    if not newest and any(len(text) > V3_CHARACTERS for text in texts):
        raise malformed(f"#/texts/0: expected maxLength: {V3_CHARACTERS}")
    if fields.get("input_type") not in INPUT_TYPES:
        raise malformed("#/input_type: is not a valid enum value")
    truncate = SIDES[newest].get(fields.get("truncate", "NONE"))
    if truncate is None:
        raise malformed("#/truncate: is not a valid enum value")
    types = fields.get("embedding_types")
    if types is not None and (not isinstance(types, list) or not all(kind in ENCODERS for kind in types)):
        raise malformed("#/embedding_types: is not a valid enum value")
    dimension = fields.get("output_dimension", model.dimensions[0])
    if dimension not in model.dimensions:
        raise malformed("#/output_dimension: is not a valid enum value")
    return EmbedRequest([replace_lone_surrogates(text) for text in texts], model, dimension, types, truncate)
