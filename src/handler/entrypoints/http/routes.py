"""The routes: which path asks what. The same ones whatever kind of API is in front."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from time import perf_counter
from typing import Any
from urllib.parse import unquote

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router

from handler import contracts
from handler.config import validation as suitability
from handler.config.profiles import Profile
from handler.contracts.base import json_safe
from handler.core.deadline import Deadline
from handler.core.errors import InvalidRequest, NotFound, PassageError
from handler.core.model import CollectionInfo, Point
from handler.core.retrieve import Retriever
from handler.entrypoints.http import request as http_input
from handler.entrypoints.http.status import retry_after, status
from handler.service.answering import Answered, Services, answer, as_json, failure

JSON = "application/json"
PLAIN = "text/plain; charset=utf-8"
PATHS: dict[str, tuple[str, ...]] = {
    "/query": ("GET", "POST"),
    "/profiles": ("GET",),
    "/profiles/{profile}/query": ("GET", "POST"),
    "/profiles/{profile}/collection": ("GET",),
    "/profiles/{profile}/chunks/{id}": ("GET",),
    "/health": ("GET",),
    "/ready": ("GET",),
    "/openapi.json": ("GET",),
    "/docs": ("GET",),
}
"""The paths there are, and the methods of each. HEAD is answered wherever GET is."""

LEFT_OUT = "X-Passage-Results-Left-Out"
"""Says of an answer how many passages it had to do without to be small enough for Lambda."""


def routes(services: Services, limit: float | None, response_bytes: int) -> Router:
    """The router for one container.

    Args:
        limit: seconds after which the API in front gives up.
        response_bytes: the most a response through it may have.
    """
    router = Router()  # type: ignore[no-untyped-call]  # Powertools publishes no type for it
    _add_queries(router, services, limit, response_bytes)
    _add_collections(router, services, limit)
    _add_service(router, services, limit)
    return router


def _add_queries(router: Router, services: Services, limit: float | None, response_bytes: int) -> None:
    def ask(name: str | None, *, in_url: bool) -> Response[str]:
        started = perf_counter()
        fields: Mapping[str, Any] = {}
        profile = services.profile(name)
        event = router.current_event.raw_event
        try:
            fields = http_input.query_string(event, profile) if in_url else http_input.body(event)
            answered = answer(fields, profile, services, services.deadline(router.lambda_context, limit))
            return _answer_response(answered.fitting(response_bytes), router.current_event.headers.get("accept") or "")
        except Exception as error:  # noqa: BLE001 - so that the error has this profile's contract, not the default one's
            return failure_response(error, services, profile, fields, started)

    @router.post("/query")
    def post_query() -> Response[str]:
        return ask(None, in_url=False)

    @router.get("/query")
    def get_query() -> Response[str]:
        return ask(None, in_url=True)

    @router.post("/profiles/<profile>/query")
    def post_profile_query(profile: str) -> Response[str]:
        return ask(profile, in_url=False)

    @router.get("/profiles/<profile>/query")
    def get_profile_query(profile: str) -> Response[str]:
        return ask(profile, in_url=True)


def _add_collections(router: Router, services: Services, limit: float | None) -> None:
    def about(name: str, look: Callable[[Retriever, Profile, Deadline], dict[str, Any]]) -> Response[str]:
        profile = services.profile(name)
        try:
            deadline = services.deadline(router.lambda_context, limit)
            return _json(look(services.retriever(profile), profile, deadline))
        except Exception as error:  # noqa: BLE001 - see `ask`
            return failure_response(error, services, profile)

    @router.get("/profiles")
    def list_profiles() -> Response[str]:
        served = [_profile(services.profile(profile.name)) for profile in contracts.served()[0]]
        return _json({"default": services.profile(None).name, "profiles": served})

    @router.get("/profiles/<profile>/collection")
    def collection(profile: str) -> Response[str]:
        return about(profile, lambda retriever, found, deadline: _collection(found, retriever.describe(deadline)))

    @router.get("/profiles/<profile>/chunks/<chunk>")
    def chunk(profile: str, chunk: str) -> Response[str]:
        def look(retriever: Retriever, found: Profile, deadline: Deadline) -> dict[str, Any]:
            with_vectors = _flag(http_input.parameters(router.current_event.raw_event), "with_vectors")
            stored = contracts.find(found.contract).stored_id(unquote(chunk))
            point, took_ms = retriever.fetch(stored, deadline, with_vectors=with_vectors)
            return _chunk(point, took_ms)

        return about(profile, look)


def _add_service(router: Router, services: Services, limit: float | None) -> None:
    @router.get("/health")
    def health() -> Response[str]:
        return _json({"status": "ok"})

    @router.get("/ready")
    def ready() -> Response[str]:
        profile = services.profile(None)
        info = services.ready(profile, services.deadline(router.lambda_context, limit))
        return _json({"status": "ready", "profile": profile.name, "collection": asdict(info)})

    @router.get("/openapi.json")
    def openapi() -> Response[str]:
        from handler.entrypoints.http.openapi.document import document  # noqa: PLC0415 - nothing a question needs

        return _json(document(services.profile(None).name, services.profile))

    @router.get("/docs")
    def docs() -> Response[str]:
        from handler.entrypoints.http.openapi.document import page  # noqa: PLC0415 - nothing a question needs

        return Response(200, "text/html; charset=utf-8", page(services.profile(None).name, services.profile))


def failure_response(
    error: Exception,
    services: Services,
    profile: Profile | None = None,
    fields: Mapping[str, Any] | None = None,
    started: float | None = None,
) -> Response[str]:
    """An error as its status, the contract's body and, where waiting helps, Retry-After."""
    failed = failure(error, services, profile, fields, started)
    seconds = retry_after(failed.error)
    headers = {} if seconds is None else {"Retry-After": str(seconds)}
    return Response(status(failed.error), JSON, as_json(failed.body), headers=headers)


def _answer_response(answered: Answered, accept: str) -> Response[str]:
    """An answer in the kind its caller prefers."""
    contract = answered.contract
    headers = {LEFT_OUT: str(answered.left_out)} if answered.left_out else {}
    if contract.plain is not None and http_input.prefers_plain_text(accept):
        return Response(200, PLAIN, contract.plain(answered.body), headers=headers)
    return Response(200, JSON, answered.json(), headers=headers)


def _json(value: Any) -> Response[str]:
    return Response(200, JSON, json.dumps(value, ensure_ascii=False, allow_nan=False))


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
    """Seed 001's CollectionInfo, with the model the collection records and what makes it unfit for the profile."""
    return {**asdict(info), "problems": [str(problem) for problem in suitability.problems(profile, info)]}


def _chunk(point: Point, took_ms: float) -> dict[str, Any]:
    """Seed 001's RetrievalResult for a point that was asked for by its id, so that there is nothing to score."""
    return {
        "id": point.id,
        "payload": json_safe(point.payload),
        "vector": None if point.vector is None else list(point.vector),
        "retrieval_time_ms": took_ms,
    }


def _flag(parameters: Mapping[str, str], name: str) -> bool:
    value = parameters.get(name, "false")
    if value not in ("true", "false"):
        raise InvalidRequest(f"'{name}' is true or false.")
    return value == "true"


def no_such_route(method: str, path: str, services: Services) -> Response[str]:
    """404, or 405 with Allow where only the method is unknown; under a profile's path, in that profile's contract."""
    parts = (path.rstrip("/") or "/").split("/")
    methods = _methods(parts)
    profile = None
    if parts[1:2] == ["profiles"] and len(parts) > 2:
        with suppress(PassageError):
            profile = services.profile(parts[2])
    if not methods:
        known = ", ".join(PATHS)
        return failure_response(NotFound(f"There is no such path. Known paths are {known}."), services, profile)
    if method in methods:  # a character that no name of ours has kept the path from matching
        return failure_response(NotFound("There is no such profile or chunk."), services, profile)
    allowed = ", ".join(methods)
    response = failure_response(NotFound(f"This path takes {allowed} alone."), services, profile)
    response.status_code = 405
    response.headers["Allow"] = allowed
    return response


def _methods(parts: list[str]) -> tuple[str, ...]:
    """The methods of a path, given in parts; none when it is unknown."""
    for known, methods in PATHS.items():
        names = known.split("/")
        if len(names) == len(parts) and all(
            (part and name.startswith("{")) or part == name for name, part in zip(names, parts, strict=True)
        ):
            return (*methods, "HEAD")
    return ()
