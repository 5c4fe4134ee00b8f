"""Keys in Secrets Manager or Parameter Store: read at first use, cached, read again when refused."""

import json
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from aiohttp import web

from entrypoints.aws import REGION, Aws
from handler.adapters.aws import secrets
from handler.config.settings import Settings
from handler.config.values import SecretReference
from handler.core.errors import ConfigurationError
from passage.emulators.server import EmulatedService
from tools.doubles import EmulatorServer, Fault, cohere_emulator
from tools.qdrant.emulator import qdrant_emulator
from wire.function import COHERE_KEY, Function, Output, Start, asked

pytestmark = pytest.mark.usefixtures("dense")

OLD, NEW, QDRANT_KEY = "old-key-51b0c2", "new-key-9d3e7f", "qdrant-key-b2d84e60"
GET_SECRET, GET_PARAMETER = "GetSecretValue", "GetParameter"

_numbers = count(1)


class Secret:
    """A new secret in Secrets Manager."""

    def __init__(self, aws: Aws, text: str) -> None:
        self._client = aws.client("secretsmanager")
        self.name = f"passage/key-{next(_numbers)}"
        self.arn: str = self._client.create_secret(Name=self.name, SecretString=text)["ARN"]

    def rotate(self, text: str) -> None:
        self._client.put_secret_value(SecretId=self.name, SecretString=text)


@pytest.fixture
def new_key_only() -> Iterator[EmulatorServer]:
    """Cohere after the key was rotated there: the old one is refused."""
    with cohere_emulator(api_key=NEW) as emulator:
        yield emulator


@pytest.fixture
def begin(start: Start) -> Start:
    """Starts a container with the Cohere key in a secret, which needs the key for every question."""

    def make(**changes: str | None) -> Function:
        return start(**{"COHERE_API_KEY": None, "EMBEDDING_CACHE_SIZE": "0", **changes})

    return make


def sent_keys(cohere: EmulatorServer) -> list[str]:
    return [request.headers["authorization"].removeprefix("Bearer ") for request in asked(cohere, "embed")]


@pytest.mark.parametrize("by", ["name", "arn"])
def test_secrets_manager_key_is_used_and_read_once(by: str, aws: Aws, begin: Start, cohere: EmulatorServer) -> None:
    secret = Secret(aws, f"{COHERE_KEY}\n")
    function = begin(COHERE_API_KEY_SECRET=getattr(secret, by))
    for _ in range(3):
        assert function.ask().results
    assert sent_keys(cohere) == [COHERE_KEY] * 3
    assert aws.asked(GET_SECRET) == 1


def test_a_key_from_parameter_store_is_decrypted(aws: Aws, begin: Start, cohere: EmulatorServer) -> None:
    name = f"/passage/key-{next(_numbers)}"
    aws.client("ssm").put_parameter(Name=name, Value=COHERE_KEY, Type="SecureString")
    function = begin(COHERE_API_KEY_SECRET=f"ssm:{name}")
    assert function.ask().results
    arn = f"arn:aws:ssm:{REGION}:123456789012:parameter{name}"
    assert begin(COHERE_API_KEY_SECRET=arn).ask().results
    assert sent_keys(cohere) == [COHERE_KEY] * 2
    assert aws.asked(GET_PARAMETER) == 2


def test_one_secret_may_hold_both_keys_as_a_json_object(aws: Aws, start: Start, tmp_path: Any) -> None:
    secret = Secret(aws, json.dumps({"cohere": COHERE_KEY, "qdrant": QDRANT_KEY}))
    with qdrant_emulator(tmp_path, api_key=QDRANT_KEY) as qdrant:
        answer = start(
            COHERE_API_KEY=None,
            COHERE_API_KEY_SECRET=f"{secret.arn}#cohere",
            QDRANT_API_KEY_SECRET=f"{secret.name}#qdrant",
            QDRANT_URL=qdrant.url,
        ).ask()
        assert "no collection" in answer.json["error"], "both let it in"
        assert {request.headers["api-key"] for request in qdrant.requests} == {QDRANT_KEY}


def test_refused_key_is_read_again_and_the_question_answered(
    aws: Aws, begin: Start, new_key_only: EmulatorServer, output: Output
) -> None:
    secret = Secret(aws, OLD)
    function = begin(COHERE_API_KEY_SECRET=secret.name, COHERE_BASE_URL=new_key_only.url)
    function.container.warm()
    secret.rotate(NEW)
    assert function.ask().results
    assert sent_keys(new_key_only) == [OLD, NEW]
    assert aws.asked(GET_SECRET) == 2
    assert function.ask().results
    assert sent_keys(new_key_only) == [OLD, NEW, NEW]
    assert aws.asked(GET_SECRET) == 2
    assert OLD not in output.text
    assert NEW not in output.text


@pytest.mark.usefixtures("sleeps")
@pytest.mark.parametrize("reference", ["passage/key", "ssm:/passage/key"])
@pytest.mark.parametrize("body", ["null", "[]", '"x"', "7", "{}", "<html>"])
def test_answer_that_is_no_secret_is_503(body: str, reference: str, aws: Aws, begin: Start) -> None:
    aws.door.faults.add(Fault("status", status=200, body=body, times=0))
    assert begin(COHERE_API_KEY_SECRET=reference).ask().status == 503


def test_refused_key_of_the_store_is_read_again(aws: Aws, start: Start, tmp_path: Any) -> None:
    secret = Secret(aws, OLD)
    with qdrant_emulator(tmp_path, api_key=NEW) as qdrant:
        function = start(QDRANT_API_KEY_SECRET=secret.name, QDRANT_URL=qdrant.url)
        function.container.warm()
        secret.rotate(NEW)
        answer = function.ask()
        assert "no collection" in answer.json["error"], "it let the new key in"
        assert [request.headers["api-key"] for request in qdrant.requests][:2] == [OLD, NEW]


def test_unchanged_refused_key_is_read_again_once_a_minute(
    aws: Aws, begin: Start, new_key_only: EmulatorServer, output: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = Secret(aws, OLD)
    function = begin(COHERE_API_KEY_SECRET=secret.name, COHERE_BASE_URL=new_key_only.url)
    for _ in range(3):
        answer = function.ask()
        assert answer.status == 500
        assert OLD not in answer.text
    assert {line["code"] for line in output.logs if line["level"] == "ERROR"} == {"CREDENTIALS_REFUSED"}
    assert sent_keys(new_key_only) == [OLD] * 3, "not tried again with the same key"
    assert aws.asked(GET_SECRET) == 2, "the first time, and once more within the minute"
    secret.rotate(NEW)
    assert function.ask().status == 500, "the minute is not over"
    now = secrets.time.monotonic()
    monkeypatch.setattr(secrets.time, "monotonic", lambda: now + secrets.RENEW_SECONDS)
    assert function.ask().results


def test_key_refused_twice_gets_no_third_attempt(aws: Aws, begin: Start, cohere: EmulatorServer) -> None:
    secret = Secret(aws, OLD)
    function = begin(COHERE_API_KEY_SECRET=secret.name)
    function.container.warm()
    secret.rotate(NEW)
    assert function.ask().status == 500
    assert sent_keys(cohere) == [OLD, NEW]


def test_refused_key_that_cannot_be_read_again_stays_refused(
    aws: Aws, begin: Start, new_key_only: EmulatorServer, output: Output
) -> None:
    function = begin(COHERE_API_KEY_SECRET=Secret(aws, OLD).name, COHERE_BASE_URL=new_key_only.url)
    function.container.warm()
    aws.door.faults.add(Fault("status", status=500))
    assert function.ask().status == 500
    assert "CREDENTIALS_REFUSED" in {line.get("code") for line in output.logs}


def test_expired_key_is_read_again_and_kept_on_failure(
    aws: Aws, begin: Start, output: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = Secret(aws, COHERE_KEY)
    function = begin(COHERE_API_KEY_SECRET=secret.name, SECRETS_TTL_SECONDS="60")
    assert function.ask().results
    now = secrets.time.monotonic()
    monkeypatch.setattr(secrets.time, "monotonic", lambda: now + 61)
    aws.door.faults.add(Fault("status", status=500))
    assert function.ask(k=1).results
    assert function.ask(k=1).results
    assert aws.asked(GET_SECRET) == 2, "a failure is not repeated at once"
    assert "a key could not be read again" in [line["message"] for line in output.logs]
    monkeypatch.setattr(secrets.time, "monotonic", lambda: now + 61 + secrets.RETRY_SECONDS)
    assert function.ask(k=1).results
    assert aws.asked(GET_SECRET) == 3


@pytest.mark.parametrize(
    ("text", "field", "says"),
    [
        ("", "#cohere", "is not a JSON object"),
        ("[1]", "#cohere", "is not a JSON object"),
        ("{}", "#cohere", "no text in a field 'cohere'. It has no fields"),
        ('{"cohere": 5}', "#cohere", "no text in a field 'cohere'. Its fields are cohere"),
        ('{"Cohere": "key-d0a7c1", "db": "word-d0a7c1"}', "#cohere", "Its fields are Cohere, db"),
        ('{"cohere":"key-d0a7c1","db":"word-d0a7c1"}', "", "name the field of the key after a #"),
        ('{"cohere": "key-d0a7c1", "db": "word-d0a7c1"}', "", "Its fields are cohere, db"),
        ('["key-d0a7c1"]', "", "holds JSON, not a key"),
        ("two words-d0a7c1", "", "is not a key"),
        ("clé-d0a7c1", "", "is not a key"),
    ],
)
def test_secret_without_a_key_is_an_error_naming_the_variable(
    text: str, field: str, says: str, aws: Aws, begin: Start, output: Output
) -> None:
    answer = begin(COHERE_API_KEY_SECRET=Secret(aws, text or "plain").name + field).ask()
    assert answer.status == 500
    assert answer.json["error"].startswith("COHERE_API_KEY_SECRET: ")
    assert says in answer.json["error"]
    assert "d0a7c1" not in answer.text + output.text


@pytest.mark.parametrize("service", ["cohere", "qdrant"])
def test_refused_key_names_the_variable_of_its_secret(
    service: str, aws: Aws, start: Start, request: pytest.FixtureRequest
) -> None:
    key, secret = f"{service.upper()}_API_KEY", f"{service.upper()}_API_KEY_SECRET"
    request.getfixturevalue(service).faults.add(Fault("status", status=401, times=0))
    answer = start(**{key: None, secret: Secret(aws, "stored-d0a7c1").name}).ask()
    assert answer.status == 500
    assert f"refused the key in {secret}" in answer.json["error"]


def test_json_in_a_key_variable_is_refused_without_repeating_it() -> None:
    with pytest.raises(ConfigurationError, match="COHERE_API_KEY: holds JSON, not a key") as caught:
        Settings.from_env({"QDRANT_URL": "http://h", "COHERE_API_KEY": '{"cohere":"key-d0a7c1"}'})
    assert "d0a7c1" not in str(caught.value)


def test_missing_secret_is_an_error_saying_what_to_check(aws: Aws, begin: Start) -> None:
    for reference in ("passage/nowhere", "ssm:/passage/nowhere"):
        answer = begin(COHERE_API_KEY_SECRET=reference).ask()
        assert answer.status == 500
        for part in ("COHERE_API_KEY_SECRET", "secretsmanager:GetSecretValue", "ssm:GetParameter"):
            assert part in answer.json["error"]
        assert "nowhere" not in answer.text


def test_denied_secret_is_500_and_unavailable_secret_is_503(aws: Aws, begin: Start, sleeps: list[float]) -> None:
    function = begin(COHERE_API_KEY_SECRET=Secret(aws, COHERE_KEY).name)
    denied = json.dumps({"__type": "AccessDeniedException", "Message": "not authorized"})
    aws.door.faults.add(Fault("status", status=400, body=denied))
    assert function.ask().status == 500
    aws.door.faults.add(Fault("status", status=503, times=2))
    assert function.ask().status == 503
    busy = json.dumps({"__type": "ThrottlingException", "message": "slow down"})
    aws.door.faults.add(Fault("status", status=400, body=busy))
    assert function.ask().results, "after one retry"


def test_reading_a_key_ends_with_the_requests_deadline(aws: Aws, begin: Start) -> None:
    function = begin(COHERE_API_KEY_SECRET=Secret(aws, COHERE_KEY).name, REQUEST_TIMEOUT_MS="1500")
    aws.door.faults.add(Fault("slow", delay_ms=60_000))
    assert function.ask().status == 504


def test_warm_up_reads_the_key_and_survives_failures(aws: Aws, begin: Start, output: Output) -> None:
    function = begin(COHERE_API_KEY_SECRET=Secret(aws, COHERE_KEY).name)
    aws.door.faults.add(Fault("status", status=503))
    function.container.warm()
    assert "a key could not be read ahead of its use" in [line["message"] for line in output.logs]
    function.container.warm()
    assert aws.asked(GET_SECRET) == 2
    assert function.ask().results
    assert aws.asked(GET_SECRET) == 2


class Extension:
    """An emulated AWS Parameters and Secrets Lambda Extension: a cache on a local port."""

    def __init__(self) -> None:
        self.secrets: dict[str, str] = {}
        self.ready = True
        routes = [
            web.get("/secretsmanager/get", self._secret),
            web.get("/systemsmanager/parameters/get", self._parameter),
        ]
        self.server = EmulatorServer(EmulatedService("extension", routes, lambda _, text: text, self._authorize))

    @property
    def environ(self) -> dict[str, str]:
        port = self.server.url.rpartition(":")[2]
        return {
            "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
            "AWS_SESSION_TOKEN": "session-token",
            "PARAMETERS_SECRETS_EXTENSION_HTTP_PORT": port,
        }

    def _authorize(self, request: web.Request) -> web.Response | None:
        if not self.ready:
            return web.Response(status=400, text="not ready to serve traffic, please wait")
        refused = request.headers.get("X-Aws-Parameters-Secrets-Token") != "session-token"
        return web.Response(status=401) if refused else None

    async def _secret(self, request: web.Request) -> web.Response:
        found = self.secrets.get(request.query["secretId"])
        return web.Response(status=400) if found is None else web.json_response({"SecretString": found})

    async def _parameter(self, request: web.Request) -> web.Response:
        assert request.query["withDecryption"] == "true"
        found = self.secrets.get(request.query["name"])
        return web.Response(status=400) if found is None else web.json_response({"Parameter": {"Value": found}})


@pytest.fixture
def extension() -> Iterator[Extension]:
    made = Extension()
    with made.server:
        yield made


def test_extension_is_asked_instead_of_aws(aws: Aws, begin: Start, extension: Extension) -> None:
    extension.secrets = {
        "arn:aws:secretsmanager:eu-central-1:1:secret:passage-x": COHERE_KEY,
        "/passage/it": COHERE_KEY,
    }
    for reference in ("arn:aws:secretsmanager:eu-central-1:1:secret:passage-x", "ssm:/passage/it"):
        function = begin(COHERE_API_KEY_SECRET=reference, **extension.environ)
        function.container.warm()
        assert function.ask().results
    assert len(extension.server.requests) == 2
    assert not aws.door.requests


def test_extension_not_ready_is_asked_again_at_first_question(aws: Aws, begin: Start, extension: Extension) -> None:
    extension.secrets = {"passage": COHERE_KEY}
    function = begin(COHERE_API_KEY_SECRET="passage", **extension.environ)
    extension.ready = False
    function.container.warm()
    assert not aws.door.requests, "boto3 is not worth waiting for at INIT"
    extension.ready = True
    assert function.ask().results
    assert not aws.door.requests


def test_secret_missing_in_the_extension_is_read_from_aws(aws: Aws, begin: Start, extension: Extension) -> None:
    function = begin(COHERE_API_KEY_SECRET=Secret(aws, COHERE_KEY).name, **extension.environ)
    assert function.ask().results
    assert aws.asked(GET_SECRET) == 1


def test_refused_key_is_read_again_from_aws_not_the_extension(
    aws: Aws, begin: Start, extension: Extension, new_key_only: EmulatorServer
) -> None:
    secret = Secret(aws, NEW)
    extension.secrets = {secret.name: OLD}
    function = begin(COHERE_API_KEY_SECRET=secret.name, COHERE_BASE_URL=new_key_only.url, **extension.environ)
    assert function.ask().results
    assert sent_keys(new_key_only) == [OLD, NEW]


def test_without_the_extension_aws_is_asked(aws: Aws, begin: Start) -> None:
    with Extension().server as gone:
        port = gone.url.rpartition(":")[2]
    secret = Secret(aws, COHERE_KEY)
    environ = {"AWS_SESSION_TOKEN": "token", "PARAMETERS_SECRETS_EXTENSION_HTTP_PORT": port}
    function = begin(COHERE_API_KEY_SECRET=secret.name, AWS_LAMBDA_INITIALIZATION_TYPE="on-demand", **environ)
    assert function.ask().results


def test_session_token_is_sent_only_in_lambda(aws: Aws, begin: Start, extension: Extension) -> None:
    environ = {**extension.environ, "AWS_LAMBDA_INITIALIZATION_TYPE": None}
    assert begin(COHERE_API_KEY_SECRET=Secret(aws, COHERE_KEY).name, **environ).ask().results
    assert not extension.server.requests


def test_reading_an_expired_key_respects_the_deadline(aws: Aws, begin: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "MOST_SECONDS", 0.2)
    function = begin(COHERE_API_KEY_SECRET=Secret(aws, COHERE_KEY).name)
    assert function.ask().results
    real = secrets.time.monotonic
    monkeypatch.setattr(secrets.time, "monotonic", lambda: real() + 901)
    aws.door.faults.add(Fault("slow", delay_ms=60_000))  # longer than the question has
    assert function.ask().results


def test_exactly_one_of_key_and_secret_must_be_set(start: Start) -> None:
    for variable, key in (("COHERE_API_KEY", COHERE_KEY), ("QDRANT_API_KEY", QDRANT_KEY)):
        both = start(**{variable: key, f"{variable}_SECRET": "passage"}).ask()
        assert both.status == 500
        assert f"{variable}: set it or {variable}_SECRET, not both" in both.json["error"]
        assert key not in both.text
    neither = start(COHERE_API_KEY=None).ask()
    assert neither.status == 500
    assert "COHERE_API_KEY: required, or COHERE_API_KEY_SECRET" in neither.json["error"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("passage/cohere", SecretReference("passage/cohere")),
        (" passage/cohere#key\n", SecretReference("passage/cohere", field="key")),
        ("ssm:/passage/cohere", SecretReference("/passage/cohere", in_parameter_store=True)),
        (
            "arn:aws-cn:ssm:cn-north-1:1:parameter/p#a b",
            SecretReference("arn:aws-cn:ssm:cn-north-1:1:parameter/p", in_parameter_store=True, field="a b"),
        ),
    ],
)
def test_secret_reference_names_service_and_field(text: str, expected: SecretReference) -> None:
    settings = Settings.from_env({"COHERE_API_KEY_SECRET": text, "QDRANT_URL": "https://example.org"})
    assert settings.providers["cohere"].secret == expected


def test_an_arn_names_its_region() -> None:
    parse = SecretReference.parse
    assert parse("arn:aws:secretsmanager:us-east-1:1:secret:p-x").region == "us-east-1"
    assert parse("passage").region is None
    assert parse("ssm:/passage").region is None


@pytest.mark.parametrize("text", ["two words", "passage#", "#key", "passage#a#b", "ssm:", "s://x?y"])
def test_invalid_secret_reference_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="COHERE_API_KEY_SECRET: must be a secret's name or ARN"):
        Settings.from_env({"COHERE_API_KEY_SECRET": text, "QDRANT_URL": "https://example.org"})
