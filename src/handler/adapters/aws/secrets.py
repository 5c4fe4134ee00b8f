"""Cached keys: read from Secrets Manager or Parameter Store at first use, and again when due or refused."""

import json
import threading
import time
from collections.abc import Callable, Generator, Mapping
from urllib.parse import quote

import httpx

from handler import telemetry
from handler.adapters.errors import Service
from handler.adapters.transport import for_client
from handler.config.settings import RuntimeSettings
from handler.config.values import SecretReference, usable_key
from handler.core.deadline import at_most
from handler.core.errors import ConfigurationError, PassageError, Upstream, UpstreamUnavailable

RENEW_SECONDS = 60.0
"""The least time between two reads because of a refused key: a wrong key must not become a load."""

RETRY_SECONDS = 30.0
"""The time until a failed renewal is tried again. The old key is used meanwhile."""

MOST_SECONDS = 5.0
"""The most time for a read that a request could do without."""

EXTENSION_PORT = "2773"

MOST_NAMES, NAME_CHARACTERS = 10, 40
"""How many of a secret's fields a message names, and how much of each name."""


class CachedKey(httpx.Auth):
    """One key, cached for `ttl` seconds, which httpx puts into every request.

    After a refusal the request is sent once more, if the secret holds a new key. So a rotation needs no new SDK client
    and no new connection.

    Args:
        variable: the setting that names the secret, for messages.
        upstream: the service that takes the key.
        environ: the function's, which says how to reach the Lambda extension.
        header: the request's header for the key, and what its value has before the key.
    """

    def __init__(
        self,
        reference: SecretReference,
        *,
        variable: str,
        upstream: Upstream,
        ttl: float,
        environ: Mapping[str, str],
        header: tuple[str, str] = ("Authorization", "Bearer "),
    ) -> None:
        self._reference = reference
        self._variable = variable
        self._upstream: Upstream = upstream
        self._ttl = ttl
        self._environ = environ
        self._header, self._prefix = header
        self._lock = threading.Lock()
        self._value: str | None = None
        self._due = 0.0
        self._renewable = 0.0

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        key = self.value()
        request.headers[self._header] = f"{self._prefix}{key}"
        response = yield request
        if response.status_code in (401, 403) and self._has_new_key(refused=key):
            request.headers[self._header] = f"{self._prefix}{self.value()}"
            yield request

    def value(self) -> str:
        """The key.

        Raises:
            ConfigurationError: the secret does not exist, may not be read, or holds no key.
            UpstreamUnavailable: the secret could not be read temporarily.
        """
        with self._lock:
            if self._value is None:
                self._take(self._read(self._from_cache) or "")
            elif time.monotonic() >= self._due and not self._try("a key could not be read again", self._from_cache):
                self._due = time.monotonic() + RETRY_SECONDS
            assert self._value is not None  # noqa: S101 - taken or raised
            return self._value

    def _has_new_key(self, refused: str) -> bool:
        """Whether the secret holds another key than the refused one. It is read at most once in `RENEW_SECONDS`."""
        with self._lock:
            if self._value == refused:  # otherwise another request found a new one
                now = time.monotonic()
                if now < self._renewable:
                    return False
                self._renewable = now + RENEW_SECONDS
                self._try("a refused key could not be read again", self._from_aws)
            return self._value != refused

    def prefetch(self) -> None:
        """Read the key before its first use. Errors are only logged here, and raised at first use."""
        with self._lock:
            if self._value is None:
                self._try("a key could not be read ahead of its use", self._from_cache_if_ready)

    def after_restore(self) -> None:
        """Forget times from before a snapshot: the clock has jumped."""
        with self._lock:
            self._due = self._renewable = 0.0

    def _try(self, failure: str, read: Callable[[], str | None]) -> bool:
        """Take the key that `read` gives, in at most `MOST_SECONDS`. An error is logged as `failure`."""
        try:
            with at_most(MOST_SECONDS):
                text = self._read(read)
            if text is not None:
                self._take(text)
        except PassageError as error:
            telemetry.log_not_renewed(failure, error)
            return False
        return True

    def _take(self, text: str) -> None:
        try:
            key = usable_key(_field_of(text, self._reference.field))
        except ValueError as error:
            raise ConfigurationError(f"{self._variable}: the secret {error}.", upstream=self._upstream) from None
        telemetry.keep_secret(key)
        self._value = key
        self._due = time.monotonic() + self._ttl

    def _read(self, read: Callable[[], str | None]) -> str | None:
        try:
            return read()
        except Exception as error:  # boto3's classes are not imported for this
            raise self._unreadable(error) from error

    def _unreadable(self, error: Exception) -> PassageError:
        from handler.adapters.aws import client as aws  # noqa: PLC0415 - see `_from_aws`

        variable, upstream = self._variable, self._upstream
        if isinstance(error, httpx.HTTPError):
            return Service(upstream, "secret store", variable, "AWS_ENDPOINT_URL").from_transport(error)
        if aws.is_temporary(error):
            message = f"The secret in {variable} could not be read."
            return UpstreamUnavailable(message, upstream=upstream, detail=repr(error))
        return ConfigurationError(
            f"{variable}: the secret could not be read. Check that it exists, and that the function's role may read it "
            "(secretsmanager:GetSecretValue or ssm:GetParameter, and kms:Decrypt for a customer managed key).",
            upstream=upstream,
            detail=repr(error),
        )

    def _from_cache(self) -> str:
        """The secret by the extension, which caches it for up to five minutes; otherwise by boto3."""
        _, text = self._from_extension()
        return text if text is not None else self._from_aws()

    def _from_cache_if_ready(self) -> str | None:
        # The extension listens during INIT but serves nothing yet. Waiting for the first question costs less than
        # importing boto3.
        runs, text = self._from_extension()
        return text if runs else self._from_aws()

    def _from_extension(self) -> tuple[bool, str | None]:
        """Whether the extension runs here, and the secret where it returned one."""
        reference, environ = self._reference, self._environ
        token = environ.get("AWS_SESSION_TOKEN")
        if not token or not RuntimeSettings.from_env(environ).in_lambda:
            return False, None  # on another machine, whatever listens on that port must not get the token
        name = quote(reference.name, safe="")
        path = (
            f"systemsmanager/parameters/get?name={name}&withDecryption=true"
            if reference.in_parameter_store
            else f"secretsmanager/get?secretId={name}"
        )
        url = f"http://localhost:{environ.get('PARAMETERS_SECRETS_EXTENSION_HTTP_PORT', EXTENSION_PORT)}/{path}"
        headers = {"X-Aws-Parameters-Secrets-Token": token}
        try:
            response = for_client().handle_request(httpx.Request("GET", url, headers=headers))
            response.read()
            if response.status_code != 200:
                return True, None  # boto3's error says more
            answer = response.json()
            text = answer["Parameter"]["Value"] if reference.in_parameter_store else answer.get("SecretString")
        except (httpx.HTTPError, httpx.InvalidURL):
            return False, None
        except (ValueError, TypeError, KeyError, AttributeError):
            return True, None
        return True, text if isinstance(text, str) else None

    def _from_aws(self) -> str:
        """The secret by boto3; empty for one that holds no text."""
        from handler.adapters.aws import client as aws  # noqa: PLC0415 - boto3 costs more than the rest of this module

        name, region = self._reference.name, self._reference.region
        if self._reference.in_parameter_store:
            answer = aws.client("ssm", region=region).get_parameter(Name=name, WithDecryption=True)
            text = answer["Parameter"]["Value"]
        else:
            answer = aws.client("secretsmanager", region=region).get_secret_value(SecretId=name)
            _ = answer["ARN"]  # each secret has one: this is no answer of Secrets Manager's without it
            text = answer.get("SecretString")
        return str(text) if text is not None else ""


def _field_of(text: str, field: str) -> str:
    """The key in a secret: the whole text, or one field of a JSON object.

    Raises:
        ValueError: the secret has no such field, or is an object and `field` is empty. The message holds the names of
            its fields, never their values: a secret can hold the keys of other services, too.
    """
    try:
        secret = json.loads(text)
    except (ValueError, RecursionError):
        secret = None
    if not isinstance(secret, dict):
        if field:
            raise ValueError(
                f"is not a JSON object, so it has no field '{field}': leave #{field} out, or store an object"
            )
        return text
    if not field:
        raise ValueError(f"is a JSON object: name the field of the key after a #. {_names_of(secret)}")
    value = secret.get(field)
    if not isinstance(value, str):
        raise ValueError(f"has no text in a field '{field}'. {_names_of(secret)}")
    return value


def _names_of(secret: Mapping[str, object]) -> str:
    names = [name if len(name) <= NAME_CHARACTERS else f"{name[:NAME_CHARACTERS]}…" for name in secret]
    if not names:
        return "It has no fields"
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"Its fields are {', '.join(names[:MOST_NAMES])}{more}"
