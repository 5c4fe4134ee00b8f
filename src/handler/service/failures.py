"""A failure: logged, counted, and given the shape of a contract. The only place where an error meets a contract."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from time import perf_counter
from typing import Any

from pydantic import BaseModel

from handler import telemetry
from handler.contracts import registry
from handler.contracts.base import ErrorContext, to_json
from handler.core.embedding import normalised
from handler.core.errors import InternalError, PassageError
from handler.service.services import Served, Services


@dataclass(frozen=True)
class Failure:
    """An error, and the body that a profile's contract gives it."""

    error: PassageError
    body: BaseModel
    profile: str

    @cached_property
    def text(self) -> str:
        """The body as JSON."""
        return to_json(self.body)


def failure(
    error: Exception,
    services: Services,
    served: Served | None = None,
    fields: Mapping[str, Any] | None = None,
    started: float | None = None,
) -> Failure:
    """Log and count an error, and render it in the profile's contract (the default profile's without one).

    Args:
        fields: what the caller sent, as far as it could be read.
        started: when the request came in, on the performance counter's clock, in seconds.
    """
    known = error if isinstance(error, PassageError) else InternalError()
    if served is None:
        with suppress(Exception):  # without a usable default profile, `error` is about the settings already
            served = services.served(None)
    sent = fields or {}
    name = "unknown" if served is None else served.profile.name
    # A profile that cannot be resolved must not put question text into the log.
    log_text = served is not None and served.log_query_text
    with telemetry.hiding([] if log_text else _texts(sent)):
        telemetry.failed(name, error, code=known.code, detail=known.detail, known=known is error, blame=known.blame)
    contract = registry.load(registry.NAMES[0]) if served is None else served.contract
    context = ErrorContext(
        at=datetime.now(UTC),
        elapsed_ms=0.0 if started is None else (perf_counter() - started) * 1000,
        fields=sent,
        profile=None if served is None else served.profile,
    )
    return Failure(error=known, body=contract.render_error(known, context), profile=name)


def text_forms(text: str) -> tuple[str, ...]:
    """A question as it was sent, and as it is sent on: the forms that a log may have to hide."""
    return tuple(dict.fromkeys((text, text.strip(), normalised(text)))) if len(text.strip()) > 2 else ()


def _texts(fields: Mapping[str, Any]) -> list[str]:
    """The texts of a request that must stay out of the log: an upstream may repeat them in its error."""
    return [form for text in fields.values() if isinstance(text, str) for form in text_forms(text)]
