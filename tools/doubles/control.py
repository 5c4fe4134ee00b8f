"""Routes for switching faults on and inspecting requests while an emulator runs."""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any

from aiohttp import web

from passage.emulators.server import json_response, parse_json
from tools.doubles.faults import KINDS, STAGES, Fault, FaultPlan
from tools.doubles.recording import RecordedRequest

PREFIX = "/_emulator/"


def _number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_ALLOWED: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "kind": (lambda value: value in KINDS, "one of " + ", ".join(KINDS)),
    "status": (_whole, "an HTTP status, 200 to 599"),
    "retry_after": (lambda value: value is None or _number(value), "seconds or null"),
    "delay_ms": (_number, "milliseconds"),
    "body": (lambda value: value is None or isinstance(value, str), "a string or null"),
    "at": (lambda value: value in STAGES, "one of " + ", ".join(STAGES)),
    "times": (_whole, "a whole number, 0 for until cleared"),
    "path": (lambda value: isinstance(value, str), "a string"),
}
_REQUIRED = [field.name for field in fields(Fault) if field.default is MISSING]


def parse_faults(data: Any) -> list[Fault]:
    """Read a fault or a list of faults from JSON. Raises ValueError, which names the allowed values."""
    return [_parse_fault(item) for item in (data if isinstance(data, list) else [data])]


def _parse_fault(item: Any) -> Fault:
    allowed = "; ".join(f"{name}: {form}" for name, (_, form) in _ALLOWED.items())
    if not isinstance(item, dict):
        raise ValueError(f"a fault is a JSON object with these keys: {allowed}")
    for name in _REQUIRED:
        if name not in item:
            raise ValueError(f"{name} is missing; a fault has these keys: {allowed}")
    for name, value in item.items():
        if name not in _ALLOWED:
            raise ValueError(f"{name!r} is not a key of a fault; allowed are {allowed}")
        check, form = _ALLOWED[name]
        if not check(value):
            raise ValueError(f"{name} is {form}; got {value!r}")
    return Fault(**item)


def control_routes(faults: FaultPlan, requests: list[RecordedRequest]) -> list[web.RouteDef]:
    """The control routes of one emulator, bound to its plan and its record."""

    async def add(request: web.Request) -> web.Response:
        try:
            parsed = parse_faults(parse_json(await request.read()))
        except ValueError as error:
            return json_response({"error": str(error)}, 400)
        for fault in parsed:
            faults.add(fault)
        return json_response({"added": len(parsed)})

    async def clear(_: web.Request) -> web.Response:
        faults.clear()
        return json_response({"cleared": True})

    async def show(_: web.Request) -> web.Response:
        return json_response({"requests": [request.shown() for request in list(requests)]})

    return [
        web.post(PREFIX + "faults", add),
        web.delete(PREFIX + "faults", clear),
        web.get(PREFIX + "requests", show),
    ]
