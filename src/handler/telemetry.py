"""Logs and metrics. They never fail an answer and never hold a key. This module imports no other of the function's."""

import json
import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Protocol

from aws_lambda_powertools import Logger
from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

NAMESPACE = "Passage"
DEFAULT_SERVICE = "passage"
SERVICE_ONLY = ("Failed.", "Heartbeat", "IndexRefused", "AnsweredByWords")
"""Metrics with these prefixes have the dimension `service` alone: an alarm on one covers all profiles."""
ALSO_BY_SERVICE = ("TotalLatency", "TopScore", "RerankLatency", "RerankFailed")
"""Metrics that alarms or the dashboard's costs need over all profiles as well. Each costs a second custom metric."""
REDACTED = "***"
LINE_BYTES = 8_192
"""The most bytes of a log line. Longer values are cut: an error can hold an upstream's whole answer."""
CUT = "…"
"""The mark of a cut value."""
REQUEST_ID = re.compile(r"[A-Za-z0-9_.:;=@/+-]{1,128}")
"""An API's id of a request: one word of ASCII."""
ERROR_TEXTS = ("message", "detail", "exception")
"""The fields of a log line that hold an error message, from an upstream or Python."""


class KnownError(Protocol):
    """What the log and the metrics need of a `handler.core.errors.PassageError`."""

    @property
    def code(self) -> str: ...
    @property
    def blame(self) -> str: ...
    @property
    def detail(self) -> str | None: ...
    @property
    def unexpected(self) -> BaseException | None: ...
    @property
    def __cause__(self) -> BaseException | None: ...


class _RedactingFormatter(LambdaPowertoolsFormatter):
    """Powertools' JSON formatter. It redacts secrets and question texts, tracebacks included, and bounds each line."""

    secrets: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()

    def serialize(self, log: Any) -> str:
        """The line as JSON. Secrets are redacted in every field.

        Question text may match any field, so it is redacted only in `message`, `detail` and `exception`.
        """
        line = self._json(log)
        if len(line.encode()) <= LINE_BYTES and not any(form in line for form in self.secrets | self.hidden):
            return line
        fields = {key: self._redact(key, value) for key, value in log.items()}
        line = self._json(fields)
        return line if len(line.encode()) <= LINE_BYTES else self._json(self._shorten(fields))

    def _json(self, value: Any) -> str:
        """`value` as JSON. A lone surrogate, which UTF-8 cannot encode, becomes its escape."""
        return super().serialize(value).encode(errors="backslashreplace").decode()

    def _redact(self, key: str, value: Any) -> Any:
        text = value if isinstance(value, str) else self._json(value)
        redacted = _without(self.secrets | self.hidden if key in ERROR_TEXTS else self.secrets, text)
        return value if redacted == text else redacted

    def _shorten(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The fields, of which the longest are cut until the line fits. A traceback keeps its end."""
        shortened, left = dict(fields), LINE_BYTES
        sizes = {key: self._size(key, value) for key, value in fields.items()}
        for done, key in enumerate(sorted(sizes, key=sizes.__getitem__)):
            share = left // (len(sizes) - done)
            if sizes[key] > share:
                shortened[key] = self._cut(key, fields[key], share)
            left -= min(sizes[key], share)
        return shortened

    def _cut(self, key: str, value: Any, size: int) -> str:
        text = value if isinstance(value, str) else self._json(value)

        def first(count: int) -> str:
            return f"{CUT}{text[-count:]}" if key == "exception" else f"{text[:count]}{CUT}"

        return first(bisect_right(range(1, size), size, key=lambda count: self._size(key, first(count))))

    def _size(self, key: str, value: Any) -> int:
        return len(self._json({key: value}).encode())


def _without(texts: Iterable[str], text: str) -> str:
    """`text` with each of `texts` redacted, the longest first. What is redacted is not searched again."""
    parts = [text]
    for each in sorted((each for each in texts if each in text), key=len, reverse=True):
        parts = [part for whole in parts for part in whole.split(each)]
    return REDACTED.join(parts)


# Powertools would read a message that is JSON as a value, whose texts are not redacted.
_formatter = _RedactingFormatter(use_rfc3339=True, serialize_stacktrace=False, json_deserializer=str)


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


def configure(service: str, secrets: Iterable[str], level: str | None = None) -> None:
    """Set the service's name in logs and metrics and the log's level, and redact `secrets` from now on."""
    _State.service = service
    if level is not None:
        logger.setLevel(level)
    logger.append_keys(service=service)
    _formatter.secrets = frozenset(form for secret in secrets for form in _forms(secret))


def keep_secret(secret: str) -> None:
    """Redact `secret` from now on, besides the secrets registered before."""
    _formatter.secrets = _formatter.secrets | _forms(secret)


def forget_invocations() -> None:
    """A snapshot was restored: the next invocation is this container's first."""
    _State.cold = True


def log_not_renewed(what: str, error: KnownError) -> None:
    """Log that a key or an index could not be read again. An old one stays in use; without one, its use tries again."""
    logger.warning(what, extra={"code": error.code, "detail": error.detail})


def log_refused_index(error: KnownError, *, temporary: bool) -> None:
    """Log that a new index could not be taken, and the old one stays. Unless that is temporary, also count it."""
    log_not_renewed("a new index could not be taken; the old one stays", error)
    if not temporary:
        _emit("none", {"IndexRefused": 1})


def log_heartbeat(figures: Mapping[str, Any]) -> None:
    """The heartbeat's question was answered with a passage."""
    logger.info("heartbeat", extra=dict(figures))
    _emit("none", {"Heartbeat": 1})


def log_heartbeat_failure(error: KnownError) -> None:
    """The heartbeat's question failed."""
    _log_error("heartbeat: ", "none", error)
    _emit("none", {"Heartbeat": 0})


def _forms(text: str) -> frozenset[str]:
    """The forms of a text in another: plain, as Python's repr, or within JSON, and each of them within a log line.

    A blank text has none.
    """
    if not text.strip():
        return frozenset()
    forms = (text, repr(text)[1:-1], json.dumps(text)[1:-1])
    lines = (json.dumps(form, ensure_ascii=False).encode(errors="backslashreplace").decode() for form in forms)
    return frozenset((*forms, *(line[1:-1] for line in lines)))


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
    """Give the invocation's log lines the id that API Gateway returns to the caller with the answer.

    A caller who invokes the function directly can put any text in its place, also the question. That is left out.
    """
    if isinstance(api_request_id, str) and REQUEST_ID.fullmatch(api_request_id):
        logger.append_keys(api_request_id=api_request_id)


@contextmanager
def hiding(texts: Iterable[str]) -> Iterator[None]:
    """Redact `texts` in error texts that are logged inside the block, besides those of an outer block."""
    outer = _formatter.hidden
    _formatter.hidden = outer.union(*map(_forms, texts))
    try:
        yield
    finally:
        _formatter.hidden = outer


def log_retry(upstream: str, code: str, delay: float) -> None:
    """A first attempt failed with `code`; the second follows in `delay` seconds."""
    logger.warning("retrying", extra={"upstream": upstream, "code": code, "delay_ms": round(delay * 1000)})


def log_retrieval(profile: str, figures: dict[str, Any], metrics: dict[str, float]) -> None:
    """One answered question: a log line with `figures`, and `metrics` by name (a Latency is in milliseconds)."""
    logger.info("retrieved", extra={"profile": profile, **figures})
    _emit(profile, metrics)


def log_feedback(profile: str, figures: Mapping[str, Any], *, helpful: bool) -> None:
    """One reader's feedback on a passage: a log line with `figures`, and a metric by profile."""
    logger.info("feedback", extra={"profile": profile, **figures})
    _emit(profile, {"Helpful": 1} if helpful else {"NotHelpful": 1})


def log_notice(profile: str, message: str, figures: Mapping[str, Any]) -> None:
    """Log a warning about an answered question, for the operator."""
    logger.warning(message, extra={"profile": profile, **figures})


def log_rerank_failure(profile: str, error: KnownError) -> None:
    """Log a failed reranking. The question was answered without it."""
    _log_error("not reranked: ", profile, error, harmless="upstream")


def log_answer_by_words(profile: str, error: KnownError) -> None:
    """Log and count a question whose embedding failed. It was answered by words.

    An error that is not temporary is also counted as any other is, because the operator has to act on it.
    """
    _log_error("answered by words: ", profile, error, harmless="upstream")
    _emit(profile, {"AnsweredByWords": 1, **({} if error.blame == "upstream" else _counts(error))})


def log_titles(profile: str, total_ms: float) -> None:
    """One search in titles: a metric, and a log line only at the level DEBUG, as there is one for each key press."""
    logger.debug("titles", extra={"profile": profile, "total_ms": round(total_ms, 1)})
    _emit(profile, {"TitlesLatency": total_ms})


def log_failure(profile: str, error: KnownError) -> None:
    """Log one failed question, and count it by its code and by who has to act on it."""
    _log_error("", profile, error, harmless="caller")
    _emit(profile, _counts(error))


def _counts(error: KnownError) -> dict[str, float]:
    code, blame = error.code, error.blame
    return {f"Error.{code}": 1, f"Failed.{blame.capitalize()}": 1}


def _log_error(before: str, profile: str, error: KnownError, harmless: str = "") -> None:
    """Write a line about an error: a warning where `harmless` is to blame, because the operator need not act on it.

    An unexpected exception is logged with its own message and its traceback.
    """
    raised = error.unexpected or error
    cause = type(raised.__cause__).__name__ if raised.__cause__ else None
    extra = {"profile": profile, "code": error.code, "detail": error.detail, "cause": cause}
    if error.blame == harmless:
        logger.warning(f"{before}{raised}", extra=extra)
    else:
        logger.error(f"{before}{raised}", extra=extra, exc_info=error.unexpected)


class _Record(EphemeralMetrics):
    """One line of Embedded Metric Format with two directives: one by profile, one for the service as a whole."""

    def serialize_metric_set(self, *args: Any, **kwargs: Any) -> Any:
        """Powertools applies one list of dimensions to every metric; here each metric has its own."""
        line = super().serialize_metric_set(*args, **kwargs)
        (directive,) = line["_aws"]["CloudWatchMetrics"]
        metrics = directive["Metrics"]
        by_profile = [metric for metric in metrics if not metric["Name"].startswith(SERVICE_ONLY)]
        by_service = [metric for metric in metrics if metric["Name"].startswith((*SERVICE_ONLY, *ALSO_BY_SERVICE))]
        groups = ((["service", "profile"], by_profile), (["service"], by_service))
        line["_aws"]["CloudWatchMetrics"] = [
            {**directive, "Dimensions": [dimensions], "Metrics": group} for dimensions, group in groups if group
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
