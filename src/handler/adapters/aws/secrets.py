"""Cached keys: read from Secrets Manager or Parameter Store at first use, and again when due or refused."""

import threading
import time
from collections.abc import Callable, Mapping

from handler import telemetry
from handler.adapters.aws import secret_source
from handler.adapters.aws.secret_fields import field_of
from handler.config.values import SecretReference, usable_key
from handler.core.deadline import at_most
from handler.core.errors import ConfigurationError, PassageError, Upstream

RENEW_SECONDS = 60.0
"""The least time between two reads because of a refused key: a wrong key must not become a load."""

RETRY_SECONDS = 30.0
"""The time until a failed renewal is tried again. The old key is used meanwhile."""

MOST_SECONDS = 5.0
"""The most time for a read that a request could do without."""


class CachedKey:
    """One key, cached for `ttl` seconds.

    Args:
        variable: the setting that names the secret, for messages.
        upstream: the service that takes the key.
        environ: the function's, which says how to reach the Lambda extension.
    """

    def __init__(
        self, reference: SecretReference, *, variable: str, upstream: Upstream, ttl: float, environ: Mapping[str, str]
    ) -> None:
        self._reference = reference
        self._variable = variable
        self._upstream: Upstream = upstream
        self._ttl = ttl
        self._environ = environ
        self._lock = threading.Lock()
        self._value: str | None = None
        self._due = 0.0
        self._renewable = 0.0

    def value(self) -> str:
        """The key.

        Raises:
            ConfigurationError: the secret does not exist, may not be read, or holds no key.
            UpstreamUnavailable: the secret could not be read temporarily.
        """
        with self._lock:
            if self._value is None:
                self._take(self._read(self._read_cached))
            elif time.monotonic() >= self._due:
                try:
                    with at_most(MOST_SECONDS):
                        self._take(self._read(self._read_cached))
                except PassageError as error:
                    self._due = time.monotonic() + RETRY_SECONDS
                    telemetry.log_not_renewed("a key could not be read again", error)
            assert self._value is not None  # noqa: S101 - taken or raised
            return self._value

    def renewed(self, refused: str) -> bool:
        """Whether the secret holds another key than the refused one. It is read at most once in `RENEW_SECONDS`."""
        with self._lock:
            if self._value is not None and self._value != refused:
                return True  # another request found it
            now = time.monotonic()
            if now < self._renewable:
                return False
            self._renewable = now + RENEW_SECONDS
            try:
                with at_most(MOST_SECONDS):
                    self._take(self._read(self._read_fresh))
            except PassageError as error:
                telemetry.log_not_renewed("a refused key could not be read again", error)
                return False
            return self._value != refused

    def prefetch(self) -> None:
        """Read the key before its first use. Errors are only logged here, and raised at first use."""
        with self._lock:
            if self._value is not None:
                return
            try:
                with at_most(MOST_SECONDS):
                    text = self._read(self._read_early)
                if text is not None:
                    self._take(text)
            except PassageError as error:
                telemetry.log_not_renewed("a key could not be read ahead of its use", error)

    def restored(self) -> None:
        """Forget times from before a snapshot: the clock has jumped."""
        with self._lock:
            self._due = self._renewable = 0.0

    def _take(self, text: str | None) -> None:
        try:
            key = usable_key(field_of(text or "", self._reference.field))
        except ValueError as error:
            raise ConfigurationError(f"{self._variable}: the secret {error}.", upstream=self._upstream) from None
        telemetry.keep_secret(key)
        self._value = key
        self._due = time.monotonic() + self._ttl

    def _read(self, read: Callable[[], str | None]) -> str | None:
        try:
            return read()
        except Exception as error:  # boto3's classes are not imported for this
            raise secret_source.unreadable(error, self._variable, self._upstream) from error

    def _read_cached(self) -> str | None:
        _, text = secret_source.from_extension(self._reference, self._environ)
        return text if text is not None else self._read_fresh()

    def _read_fresh(self) -> str | None:
        return secret_source.from_aws(self._reference)  # the extension caches for up to five minutes

    def _read_early(self) -> str | None:
        # The extension listens during INIT but serves nothing yet. Waiting for the first question costs less than
        # importing boto3.
        runs, text = secret_source.from_extension(self._reference, self._environ)
        return text if runs else self._read_fresh()
