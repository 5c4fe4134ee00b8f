"""Keys that are kept in Secrets Manager or Parameter Store: read when they are needed, cached, and read again."""

import json
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import quote

import httpx

from handler import telemetry
from handler.adapters.errors import Service
from handler.adapters.transport import for_client
from handler.config.settings import RuntimeSettings
from handler.config.values import SecretReference, usable_key
from handler.core import deadline as deadlines
from handler.core.deadline import Deadline
from handler.core.errors import ConfigurationError, PassageError, Upstream, UpstreamUnavailable

REFUSED = (401, 403, 498)
"""What a service answers to a key it does not take; 498 is Cohere's "invalid token"."""

RENEW_SECONDS = 60.0
"""How soon a refused key is read again after the last time: a key that is wrong must not become a load."""

RETRY_SECONDS = 30.0
"""How soon a key past its time is read again when that failed; meanwhile the one at hand is used."""

MOST_SECONDS = 5.0
"""What reading a key may take where there is something to go on with without it."""

EXTENSION_PORT = "2773"

MOST_NAMES, NAME_CHARACTERS = 10, 40
"""Of a secret's fields that a message names, and of each name."""


class KeptKey:
    """One key.

    Args:
        variable: the setting that says where it is kept, for messages.
        upstream: the service it opens.
        ttl: seconds after which it is read again.
        environ: the function's; where the AWS Parameters and Secrets Lambda Extension is found.
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
            ConfigurationError: it is not there, may not be read, or is none.
            UpstreamUnavailable: it could not be read for a passing reason.
        """
        with self._lock:
            if self._value is None:
                self._take(self._read(self._cached))
            elif time.monotonic() >= self._due:
                try:
                    with _at_most(MOST_SECONDS):
                        self._take(self._read(self._cached))
                except PassageError as error:
                    self._due = time.monotonic() + RETRY_SECONDS
                    telemetry.kept("a key could not be read again", code=error.code, detail=error.detail)
            assert self._value is not None  # noqa: S101 - taken or raised
            return self._value

    def renewed(self, refused: str) -> bool:
        """Whether there is another key than the one that was refused; it is looked for at most once a minute."""
        with self._lock:
            if self._value is not None and self._value != refused:
                return True  # another request found it
            now = time.monotonic()
            if now < self._renewable:
                return False
            self._renewable = now + RENEW_SECONDS
            try:
                with _at_most(MOST_SECONDS):
                    self._take(self._read(self._fresh))
            except PassageError as error:
                telemetry.kept("a refused key could not be read again", code=error.code, detail=error.detail)
                return False
            return self._value != refused

    def prefetch(self) -> None:
        """Read the key ahead of its first use. What goes wrong is for that use to say."""
        with self._lock:
            if self._value is not None:
                return
            try:
                with _at_most(MOST_SECONDS):
                    text = self._read(self._early)
                if text is not None:
                    self._take(text)
            except PassageError as error:
                telemetry.kept("a key could not be read ahead of its use", code=error.code, detail=error.detail)

    def restored(self) -> None:
        """A snapshot was restored: what the clock said before it means nothing now."""
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

    def _cached(self) -> str | None:
        answered, text = self._from_extension()
        return text if answered and text is not None else self._from_aws()

    def _fresh(self) -> str | None:
        return self._from_aws()  # the extension would give what it gave before, for up to five minutes

    def _early(self) -> str | None:
        # While the function starts, the extension listens but does not serve yet: waiting for the first question is
        # cheaper than importing boto3.
        answered, text = self._from_extension()
        return text if answered else self._from_aws()

    def _from_extension(self) -> tuple[bool, str | None]:
        """Whether the extension is there, and the secret if it gave it."""
        token = self._environ.get("AWS_SESSION_TOKEN")
        if not token or not RuntimeSettings.from_env(self._environ).in_lambda:
            return False, None  # whatever listens there on another machine must not get the token
        name = quote(self._reference.name, safe="")
        path = (
            f"systemsmanager/parameters/get?name={name}&withDecryption=true"
            if self._reference.in_parameter_store
            else f"secretsmanager/get?secretId={name}"
        )
        port = self._environ.get("PARAMETERS_SECRETS_EXTENSION_HTTP_PORT", EXTENSION_PORT)
        request = httpx.Request(
            "GET", f"http://localhost:{port}/{path}", headers={"X-Aws-Parameters-Secrets-Token": token}
        )
        try:
            response = for_client().handle_request(request)
            response.read()
            if response.status_code != 200:
                return True, None  # boto3 tells better what is wrong
            answer = response.json()
            found = answer["Parameter"]["Value"] if self._reference.in_parameter_store else answer.get("SecretString")
        except (httpx.HTTPError, httpx.InvalidURL):
            return False, None
        except (ValueError, TypeError, KeyError, AttributeError):
            return True, None
        return True, found if isinstance(found, str) else None

    def _from_aws(self) -> str | None:
        from handler.adapters.aws import client as aws  # noqa: PLC0415 - boto3 costs more than the rest of this module

        reference = self._reference
        if reference.in_parameter_store:
            answer = aws.client("ssm", region=reference.region).get_parameter(Name=reference.name, WithDecryption=True)
            found = answer["Parameter"]["Value"]
        else:
            answer = aws.client("secretsmanager", region=reference.region).get_secret_value(SecretId=reference.name)
            found = answer.get("SecretString")
        return str(found) if found is not None else None

    def _read(self, source: Callable[[], str | None]) -> str | None:
        try:
            return source()
        except Exception as error:  # boto3's classes are not to be imported for this
            from handler.adapters.aws import client as aws  # noqa: PLC0415 - see `_from_aws`

            if isinstance(error, httpx.HTTPError):
                raise Service(
                    self._upstream, "place where keys are stored", self._variable, "AWS_ENDPOINT_URL"
                ).from_transport(error) from error
            if aws.passing(error):
                raise UpstreamUnavailable(
                    "A key could not be read from where it is kept.", upstream=self._upstream, detail=repr(error)
                ) from error
            raise ConfigurationError(
                f"{self._variable}: the secret could not be read. Check that it exists, and that the function's role "
                "may read it (secretsmanager:GetSecretValue or ssm:GetParameter, and kms:Decrypt for a key of your "
                "own).",
                upstream=self._upstream,
                detail=repr(error),
            ) from error


def field_of(text: str, field: str) -> str:
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
    found = secret.get(field)
    if not isinstance(found, str):
        raise ValueError(f"has no text in a field '{field}'. {_names_of(secret)}")
    return found


def _names_of(secret: Mapping[str, object]) -> str:
    names = [name if len(name) <= NAME_CHARACTERS else f"{name[:NAME_CHARACTERS]}…" for name in secret]
    if not names:
        return "It has no fields"
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"Its fields are {', '.join(names[:MOST_NAMES])}{more}"


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """The running deadline, or a sooner one."""
    running = deadlines.current()
    with deadlines.running(running.capped(seconds) if running else Deadline.after(seconds)):
        yield


class KeyAuth(httpx.Auth):
    """Puts a key into every request; one that is refused is sent once more if the key has changed meanwhile.

    The SDKs above need not know that there are two keys: their clients and connections stay.
    """

    def __init__(self, header: str, scheme: str, key: KeptKey) -> None:
        self._header = header
        self._scheme = scheme
        self._key = key

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        key = self._key.value()
        request.headers[self._header] = f"{self._scheme}{key}"
        response = yield request
        if response.status_code in REFUSED and self._key.renewed(refused=key):
            request.headers[self._header] = f"{self._scheme}{self._key.value()}"
            yield request
