"""Logs, counts and renders failures. The only module that turns an error into a contract's body."""

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
from handler.contracts.base import ErrorContext
from handler.contracts.fields import to_json
from handler.core.embedding import normalise
from handler.core.errors import PassageError, to_known
from handler.service.services import FindServed, Served


@dataclass(frozen=True)
class Failure:
    """An error and its body in the profile's contract."""

    error: PassageError
    body: BaseModel
    profile: str

    @cached_property
    def text(self) -> str:
        """The body as JSON."""
        return to_json(self.body)


def failure(
    error: Exception,
    find: FindServed,
    served: Served | None = None,
    fields: Mapping[str, Any] | None = None,
    started: float | None = None,
) -> Failure:
    """Log and count an error, and render it in the profile's contract (the default profile's without one).

    Args:
        fields: what the caller sent, as far as it could be read.
        started: when the request came in, on the performance counter's clock, in seconds.
    """
    known = to_known(error)
    if served is None:
        with suppress(Exception):  # if the default profile cannot be loaded, `error` already says so
            served = find(None)
    sent = fields or {}
    profile = served.profile if served else None
    name = profile.name if profile else "unknown"
    # An upstream's error may repeat the question. A profile that cannot be resolved must not put it into the log.
    texts = [text for text in sent.values() if isinstance(text, str)]
    private = [] if served and served.settings.log_query_text else texts
    with telemetry.hiding(form for text in private for form in text_forms(text)):
        telemetry.log_failure(name, known)
    contract = served.contract if served else registry.load(registry.NAMES[0])
    elapsed_ms = 0.0 if started is None else (perf_counter() - started) * 1000
    context = ErrorContext(at=datetime.now(UTC), elapsed_ms=elapsed_ms, fields=sent, profile=profile)
    return Failure(error=known, body=contract.render_error(known, context), profile=name)


def text_forms(text: str) -> tuple[str, ...]:
    """The forms of a question that a log must hide: as it was sent, and as it is passed to services.

    A form of one or two characters tells nothing, and would match all over an error message.
    """
    return tuple(form for form in {text, text.strip(), normalise(text)} if len(form.strip()) > 2)
