"""The handlers that show a profile, its collection or a chunk, and whether the function works."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any
from urllib.parse import unquote

from aws_lambda_powertools.event_handler import Response

from handler.config import validation
from handler.config.profiles import Profile
from handler.contracts.fields import json_id
from handler.core.deadline import Deadline
from handler.core.model import CollectionInfo
from handler.entrypoints.http.call import Call, json_response
from handler.entrypoints.http.status import failure_response
from handler.service.failures import failure
from handler.service.services import Served, StoredChunk, find_chunk


def profiles(call: Call) -> Response[str]:
    """All usable profiles, and the name of the default one."""
    served = [_profile(each.profile) for each in call.services.usable_profiles()]
    return json_response({"default": call.services.served(None).profile.name, "profiles": served})


def collection(call: Call, profile: str) -> Response[str]:
    """A profile's collection, and where the two disagree."""
    return _about(call, profile, lambda served, until: _collection(served.profile, served.retriever.describe(until)))


def chunk(call: Call, profile: str, chunk_id: str) -> Response[str]:
    """One chunk, by its point id or by the chunk id that the profile's contract shows."""

    def look(served: Served, until: Deadline) -> dict[str, Any]:
        stored = find_chunk(served, unquote(chunk_id), until, with_vectors=call.flag("with_vectors"))
        return _chunk(stored)

    return _about(call, profile, look)


def health(_: Call) -> Response[str]:
    """Whether the function runs."""
    return json_response({"status": "ok"})


def ready(call: Call) -> Response[str]:
    """Whether the default profile's collection can be searched."""
    served = call.services.served(None)
    info = call.services.readiness.check(served.profile, served.retriever, call.deadline())
    return json_response({"status": "ready", "profile": served.profile.name, "collection": asdict(info)})


def _about(call: Call, name: str, look: Callable[[Served, Deadline], dict[str, Any]]) -> Response[str]:
    served = call.services.served(name)
    try:
        return json_response(look(served, call.deadline()))
    except Exception as error:  # noqa: BLE001 - so that the error has this profile's contract, not the default one's
        return failure_response(failure(error, call.services.served, served))


def _profile(profile: Profile) -> dict[str, Any]:
    return {
        "name": profile.name,
        "contract": profile.contract,
        "collection": profile.collection.name,
        "dimension": profile.collection.dimension,
        "embedding_model": profile.embedding.model,
        "query": f"/profiles/{profile.name}/query",
    }


def _collection(profile: Profile, info: CollectionInfo) -> dict[str, Any]:
    """Seed 001's CollectionInfo, with the model that the collection records and its mismatches with the profile."""
    return {**asdict(info), "problems": [str(problem) for problem in validation.problems(profile, info)]}


def _chunk(stored: StoredChunk) -> dict[str, Any]:
    """Seed 001's RetrievalResult for a point fetched by id: the score is that of a whole match."""
    return {
        "id": json_id(stored.id),
        "score": 1.0,
        "payload": stored.payload,
        "vector": None if stored.vector is None else list(stored.vector),
        "retrieval_time_ms": stored.took_ms,
    }
