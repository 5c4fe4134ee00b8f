"""Logs and metrics. They never fail an answer and never hold a key. This module imports no other of the function's."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

NAMESPACE = "Passage"
DEFAULT_SERVICE = "passage"
SERVICE_ONLY = "Failed."
"""Metrics with this prefix have the dimension `service` alone: an alarm on one covers all profiles."""
ALSO_BY_SERVICE = ("TotalLatency", "TopScore")
"""Metrics that alarms need over all profiles as well. Each costs a second custom metric."""
REDACTED = "***"
TRACEBACK_CHARACTERS = 8_000
ERROR_TEXTS = ("message", "detail", "exception")
"""The fields of a log line that hold an error message, from an upstream or Python."""


class _RedactingFormatter(LambdaPowertoolsFormatter):
    """Powertools' JSON formatter. It redacts every registered secret in the whole line, tracebacks included."""

    secrets: frozenset[str] = frozenset()
    hidden: tuple[str, ...] = ()

    def format(self, record: Any) -> str:
        line = super().format(record)
        for secret in self.secrets:
            line = line.replace(secret, REDACTED)
        return line

    def serialize(self, log: Any) -> str:
        """Question text may match any field, so it is redacted only in `message`, `detail` and `exception`."""
        blanked = {
            key: self._blanked(value) for key, value in log.items() if key in ERROR_TEXTS and isinstance(value, str)
        }
        return super().serialize({**log, **blanked})

    def _blanked(self, text: str) -> str:
        for hidden in self.hidden:
            text = text.replace(hidden, REDACTED)
        return text

    def formatException(self, ei: Any) -> str:  # noqa: N802 - logging's own name
        """The traceback, cut at the front if it is long: it can hold an upstream's whole answer."""
        text = super().formatException(ei)
        return text if len(text) <= TRACEBACK_CHARACTERS else f"…{text[-TRACEBACK_CHARACTERS:]}"


_formatter = _RedactingFormatter(use_rfc3339=True, serialize_stacktrace=False)


def _logger() -> Logger:
    """Powertools' logger. A wrong log level or sample rate must not fail every answer."""
    try:
        return Logger(service=DEFAULT_SERVICE, logger_formatter=_formatter)
    except Exception as error:  # noqa: BLE001 - see above
        plain = Logger(service=DEFAULT_SERVICE, logger_formatter=_formatter, level="INFO", sampling_rate=0.0)
        plain.warning("the log level or sample rate set in the environment is invalid", extra={"cause": repr(error)})
        return plain


logger = _logger()


class _State:
    """State of the container: the service's name, and whether no invocation has come yet."""

    service: str = DEFAULT_SERVICE
    cold: bool = True


def configure(service: str, secrets: Iterable[str]) -> None:
    """Set the service's name in logs and metrics, and redact `secrets` from now on."""
    _State.service = service
    logger.append_keys(service=service)
    _formatter.secrets = frozenset(form for secret in secrets if secret for form in _written(secret))


def keep_secret(secret: str) -> None:
    """Redact `secret` from now on, besides the secrets registered before."""
    _formatter.secrets = _formatter.secrets | frozenset(_written(secret))


def restored() -> None:
    """A snapshot was restored: the next invocation is this container's first."""
    _State.cold = True


def not_renewed(what: str, *, code: str, detail: str | None) -> None:
    """Log that a key or an index could not be read again. An old one stays in use; without one, its use tries again."""
    logger.warning(what, extra={"code": code, "detail": detail})


def _written(secret: str) -> Iterator[str]:
    """The forms of a secret in a line of JSON."""
    return (json.dumps(text)[1:-1] for text in _forms(secret))


def _forms(secret: str) -> tuple[str, ...]:
    """The forms of a secret in a text: plain, as Python's repr, or within JSON."""
    return secret, repr(secret)[1:-1], json.dumps(secret)[1:-1]


@contextmanager
def invocation(request_id: str | None) -> Iterator[None]:
    """Give every log line written inside the block its request's id."""
    logger.append_keys(request_id=request_id, cold_start=_State.cold)
    try:
        yield
    finally:
        if _State.cold:
            _emit("none", {})  # a cold start counts also for an invocation without a question, such as a health check
        logger.remove_keys(["request_id", "api_request_id", "cold_start"])


def correlate(api_request_id: object) -> None:
    """Give the invocation's log lines the id that API Gateway returns to the caller with the answer."""
    logger.append_keys(api_request_id=api_request_id)


@contextmanager
def hiding(texts: Iterable[str]) -> Iterator[None]:
    """Redact `texts` in error texts that are logged inside the block."""
    _formatter.hidden = tuple(form for text in texts for form in _forms(text))
    try:
        yield
    finally:
        _formatter.hidden = ()


def retrying(upstream: str, code: str, delay: float) -> None:
    """A first attempt failed with `code`; the second follows in `delay` seconds."""
    logger.warning("retrying", extra={"upstream": upstream, "code": code, "delay_ms": round(delay * 1000)})


def retrieved(profile: str, figures: dict[str, Any], metrics: dict[str, float]) -> None:
    """One answered question: a log line with `figures`, and `metrics` by name (a Latency is in milliseconds)."""
    logger.info("retrieved", extra={"profile": profile, **figures})
    _emit(profile, metrics)


def feedback(profile: str, figures: Mapping[str, Any], *, helpful: bool) -> None:
    """One reader's feedback on a passage: a log line with `figures`, and a metric by profile."""
    logger.info("feedback", extra={"profile": profile, **figures})
    _emit(profile, {"Helpful": 1} if helpful else {"NotHelpful": 1})


def notice(profile: str, message: str, figures: Mapping[str, Any]) -> None:
    """Log a warning about an answered question, for the operator."""
    logger.warning(message, extra={"profile": profile, **figures})


def not_reranked(
    profile: str, error: BaseException, *, code: str, detail: str | None, known: bool, temporary: bool
) -> None:
    """Log a failed reranking. The question was answered without it.

    Args:
        known: see `failed`.
        temporary: the upstream recovers by itself; other failures are for the operator to fix.
    """
    extra = _facts(profile, error, code, detail)
    message = f"not reranked: {error}"
    if temporary:
        logger.warning(message, extra=extra)
    else:
        logger.error(message, extra=extra, exc_info=None if known else error)


def failed(profile: str, error: BaseException, *, code: str, detail: str | None, known: bool, blame: str) -> None:
    """Log one failed question, and count it by its code and by who has to act on it.

    Args:
        known: `error` is a PassageError, so its message and detail suffice; any other is logged with its traceback.
        blame: `PassageError.blame`. A caller's mistake is logged as a warning, anything else as an error.
    """
    extra = _facts(profile, error, code, detail)
    if blame == "caller":
        logger.warning(str(error), extra=extra)
    else:
        logger.error(str(error), extra=extra, exc_info=None if known else error)
    _emit(profile, {f"Error.{code}": 1, f"Failed.{blame.capitalize()}": 1})


def _facts(profile: str, error: BaseException, code: str, detail: str | None) -> dict[str, Any]:
    """The fields of a line about an error."""
    cause = type(error.__cause__).__name__ if error.__cause__ else None
    return {"profile": profile, "code": code, "detail": detail, "cause": cause}


class _Record(EphemeralMetrics):
    """One line of Embedded Metric Format with two directives: one by profile, one for the service as a whole."""

    def serialize_metric_set(self, *args: Any, **kwargs: Any) -> Any:
        """Powertools applies one list of dimensions to every metric; here each metric has its own."""
        line = super().serialize_metric_set(*args, **kwargs)
        (directive,) = line["_aws"]["CloudWatchMetrics"]
        metrics = directive["Metrics"]
        by_profile = [metric for metric in metrics if not metric["Name"].startswith(SERVICE_ONLY)]
        by_service = [metric for metric in metrics if metric["Name"].startswith((SERVICE_ONLY, *ALSO_BY_SERVICE))]
        line["_aws"]["CloudWatchMetrics"] = [
            {**directive, "Dimensions": [dimensions], "Metrics": metrics}
            for dimensions, metrics in ((["service", "profile"], by_profile), (["service"], by_service))
            if metrics
        ]
        return line


def _emit(profile: str, metrics: dict[str, float]) -> None:
    """Write one record in CloudWatch's Embedded Metric Format."""
    # An exception here would turn a good answer into an error, so it is only logged.
    try:
        record = _Record(namespace=NAMESPACE, service=_State.service)
        record.add_dimension("profile", profile)
        if _State.cold:
            metrics = {**metrics, "ColdStart": 1}
            _State.cold = False
        for name, value in metrics.items():
            if math.isfinite(value):  # a NaN is not JSON, and one would lose the whole record
                record.add_metric(name, _unit(name), value)
        record.flush_metrics()
    except Exception as error:  # noqa: BLE001 - see above
        with suppress(Exception):
            logger.warning("metrics were not written", extra={"cause": repr(error)})


def _unit(name: str) -> MetricUnit:
    if name.endswith("Latency"):
        return MetricUnit.Milliseconds
    return MetricUnit.NoUnit if name == "TopScore" else MetricUnit.Count
