"""The routes other than /query: profiles, collections, chunks, feedback, health, readiness, OpenAPI and MCP."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from typing import Any
from urllib.parse import unquote

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.api_gateway import Router

from handler.config import validation
from handler.config.profiles import Profile
from handler.contracts.fields import json_id, json_safe
from handler.core.deadline import Deadline
from handler.core.errors import InvalidRequest
from handler.core.model import CollectionInfo, Point
from handler.entrypoints.http.gateways import Gateway
from handler.entrypoints.http.request import parameters
from handler.entrypoints.http.status import JSON, failure_response
from handler.entrypoints.limits import ENVELOPE_BYTES
from handler.service.answering import deadline
from handler.service.failures import failure
from handler.service.services import Served, Services

PAGE_BYTES = 2_500_000
"""About what the page at `/docs` takes in a response: most of it is Swagger UI."""


def routes(services: Services, gateway: Gateway) -> Router:
    """The router for one container behind one kind of API."""
    router = Router()  # type: ignore[no-untyped-call]  # Powertools publishes no type for it
    _add_collections(router, services, gateway)
    _add_service(router, services, gateway)
    _add_mcp(router, services, gateway)
    return router


def _add_collections(router: Router, services: Services, gateway: Gateway) -> None:
    def about(name: str, look: Callable[[Served, Deadline], dict[str, Any]]) -> Response[str]:
        served = services.served(name)
        try:
            return _json(look(served, deadline(services, router.lambda_context, gateway.limit)))
        except Exception as error:  # noqa: BLE001 - so that the error has this profile's contract, not the default one's
            return failure_response(failure(error, services, served))

    @router.get("/profiles")
    def list_profiles() -> Response[str]:
        served = [_profile(each.profile) for each in services.usable_profiles()]
        return _json({"default": services.served(None).profile.name, "profiles": served})

    @router.get("/profiles/<profile>/collection")
    def collection(profile: str) -> Response[str]:
        return about(profile, lambda served, until: _collection(served.profile, served.retriever.describe(until)))

    @router.get("/profiles/<profile>/chunks/<chunk>")
    def chunk(profile: str, chunk: str) -> Response[str]:
        def look(served: Served, until: Deadline) -> dict[str, Any]:
            with_vectors = _flag(parameters(router.current_event.raw_event), "with_vectors")
            stored = served.contract.stored_id(unquote(chunk))
            point, took_ms = served.retriever.fetch(stored, until, with_vectors=with_vectors)
            return _chunk(point, took_ms)

        return about(profile, look)


def _add_service(router: Router, services: Services, gateway: Gateway) -> None:
    def profile(name: str | None) -> Profile:
        return services.served(name).profile

    @router.get("/health")
    def health() -> Response[str]:
        return _json({"status": "ok"})

    @router.get("/ready")
    def ready() -> Response[str]:
        served = services.served(None)
        until = deadline(services, router.lambda_context, gateway.limit)
        info = services.readiness.check(served.profile, served.retriever, until)
        return _json({"status": "ready", "profile": served.profile.name, "collection": asdict(info)})

    @router.post("/feedback")
    def feedback() -> Response[str]:
        from handler.entrypoints.http.feedback import take  # noqa: PLC0415 - no question needs it

        return take(router.current_event.raw_event, services)

    @router.get("/openapi.json")
    def openapi() -> Response[str]:
        from handler.entrypoints.http.openapi.document import document  # noqa: PLC0415 - no question needs it

        return _json(document(profile(None).name, profile))

    # The page is too large for a load balancer as it is. A REST API would hand out the compressed body as base64.
    @router.get("/docs", compress=gateway.response_bytes < PAGE_BYTES)
    def docs() -> Response[str]:
        from handler.entrypoints.http.openapi.document import page  # noqa: PLC0415 - no question needs it

        return Response(200, "text/html; charset=utf-8", page(profile(None).name, profile))


def _add_mcp(router: Router, services: Services, gateway: Gateway) -> None:
    @router.post("/mcp")
    @router.post("/profiles/<profile>/mcp")
    def mcp(profile: str | None = None) -> Response[str]:
        from handler.entrypoints.mcp.endpoint import Endpoint  # noqa: PLC0415 - only agents need it
        from handler.entrypoints.mcp.post import respond  # noqa: PLC0415 - see above

        event = router.current_event
        until = partial(deadline, services, router.lambda_context, gateway.limit)
        endpoint = Endpoint(services, profile, until, gateway.response_bytes - ENVELOPE_BYTES)
        return respond(event.raw_event, event.headers, endpoint)


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
    """Seed 001's CollectionInfo, with the model that the collection records and its mismatches with the profile."""
    return {**asdict(info), "problems": [str(problem) for problem in validation.problems(profile, info)]}


def _chunk(point: Point, took_ms: float) -> dict[str, Any]:
    """Seed 001's RetrievalResult for a point fetched by id, so without a score."""
    return {
        "id": json_id(point.id),
        "payload": json_safe(point.payload),
        "vector": None if point.vector is None else list(point.vector),
        "retrieval_time_ms": took_ms,
    }


def _flag(given: Mapping[str, str], name: str) -> bool:
    value = given.get(name, "false")
    if value not in ("true", "false"):
        raise InvalidRequest(f"'{name}' must be true or false.")
    return value == "true"
