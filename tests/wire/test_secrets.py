"""Keys stay out of every log line, answer, representation and traceback, whatever an upstream does with them."""

import json
import traceback
from typing import Any

import pytest

from handler.config.settings import Settings
from handler.core.errors import ConfigurationError
from passage.local.environment import LocalContext
from tools.doubles import EmulatorServer, Fault, cohere_emulator
from tools.qdrant.emulator import qdrant_emulator
from wire.function import COHERE_KEY, Answer, Function, Output, Start

QDRANT_KEY = "qdrant-key-b2d84e60"

pytestmark = pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")


@pytest.fixture
def function(start: Start) -> Function:
    return start(QDRANT_API_KEY=QDRANT_KEY)


def assert_no_key(answer: Answer, output: Output, *keys: str) -> None:
    for key in (COHERE_KEY, QDRANT_KEY, *keys):
        assert key not in answer.text
        assert key not in str(answer.headers)
        assert key not in output.text
    assert output.logs, "it is the lines that were written that were looked at"


ECHOES: dict[str, dict[str, Any]] = {
    "401": {"kind": "status", "status": 401, "body": "KEY is not valid"},
    "403": {"kind": "status", "status": 403, "body": '{"message": "KEY may not do this"}'},
    "400": {"kind": "status", "status": 400, "body": '{"message": "bad header Bearer KEY"}'},
    "404": {"kind": "status", "status": 404, "body": '{"status": {"error": "nothing for KEY"}}'},
    "429": {"kind": "status", "status": 429, "body": '{"message": "KEY has used up its quota"}', "retry_after": 1},
    "500": {"kind": "status", "status": 500, "body": "<pre>authorization: Bearer KEY</pre>"},
    "no JSON": {"kind": "malformed", "body": "KEY"},
    "another shape": {"kind": "malformed", "body": '{"result": "KEY", "embeddings": "KEY", "status": "KEY"}'},
    "another shape, deeper": {"kind": "malformed", "body": '{"result": {"points": [{"id": "KEY", "score": "KEY"}]}}'},
}


@pytest.mark.parametrize("how", ECHOES.values(), ids=ECHOES.keys())
@pytest.mark.parametrize("service", ["cohere", "qdrant"])
def test_key_echoed_by_an_upstream_is_not_logged_or_answered(
    service: str,
    how: dict[str, Any],
    request: pytest.FixtureRequest,
    function: Function,
    output: Output,
    sleeps: list[float],
) -> None:
    emulator: EmulatorServer = request.getfixturevalue(service)
    body = how["body"].replace("KEY", {"cohere": COHERE_KEY, "qdrant": QDRANT_KEY}[service])
    emulator.faults.add(Fault(**how | {"body": body, "times": 0}))
    answer = function.post({"text": "What is a twin?"}, context=LocalContext())
    assert answer.status >= 429
    assert_no_key(answer, output)


def test_key_in_an_exception_is_not_logged_or_answered(
    function: Function, output: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError(f"Authorization: Bearer {COHERE_KEY}")

    monkeypatch.setattr("handler.adapters.cohere.CohereEmbedder.embed", broken)
    answer = function.ask()
    assert answer.status == 500
    assert_no_key(answer, output)


def test_success_and_bad_input_show_no_key(function: Function, output: Output) -> None:
    assert_no_key(function.ask(), output)
    assert_no_key(function.post({"text": ""}), output)
    assert_no_key(function.get("/ready"), output)


@pytest.mark.parametrize("padded", ["{}\n", " {}", "{}\r\n", "\t{} "])
def test_white_space_around_a_key_is_not_part_of_it(
    padded: str, start: Start, output: Output, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A secret read from a file ends in a line break, which no HTTP header can hold."""
    with (
        cohere_emulator(api_key=COHERE_KEY) as cohere,
        qdrant_emulator(tmp_path_factory.mktemp("locked"), api_key=QDRANT_KEY) as qdrant,
    ):
        answer = start(
            COHERE_BASE_URL=cohere.url,
            COHERE_API_KEY=padded.format(COHERE_KEY),
            QDRANT_URL=qdrant.url,
            QDRANT_API_KEY=padded.format(QDRANT_KEY),
        ).ask()
        assert "no collection" in answer.json["error"], "both let it in"
    assert_no_key(answer, output)


@pytest.mark.parametrize("key", ["clé-d0a7c1", "two words-d0a7c1", "line\nbreak-d0a7c1", "nul\0-d0a7c1"])
@pytest.mark.parametrize("variable", ["COHERE_API_KEY", "QDRANT_API_KEY"])
def test_key_unfit_for_a_header_is_an_error_naming_the_variable(
    variable: str, key: str, start: Start, output: Output, sleeps: list[float]
) -> None:
    answer = start(**{variable: key}).ask()
    assert answer.status == 500
    assert variable in answer.json["error"]
    assert_no_key(answer, output, key, json.dumps(key)[1:-1], "d0a7c1")


@pytest.mark.parametrize("key", ['quo"te-d0a7c1', "back\\slash-d0a7c1"])
def test_key_escaped_by_json_is_redacted_too(key: str, cohere: EmulatorServer, start: Start, output: Output) -> None:
    cohere.faults.add(Fault("status", status=401, body=json.dumps({"message": f"{key} is not valid"})))
    answer = start(COHERE_API_KEY=key).ask()
    assert answer.status == 500
    assert_no_key(answer, output, key, "d0a7c1")


def test_refused_settings_show_no_value_in_their_traceback() -> None:
    environ = {"COHERE_API_KEY": COHERE_KEY, "QDRANT_API_KEY": QDRANT_KEY, "QDRANT_URL": f"https://{QDRANT_KEY}@host"}
    with pytest.raises(ConfigurationError) as refused:
        Settings.from_env(environ | {"STORE": "postgres", "REQUEST_TIMEOUT_MS": COHERE_KEY})
    shown = "".join(traceback.format_exception(refused.value))
    assert COHERE_KEY not in shown
    assert QDRANT_KEY not in shown


def test_key_put_into_the_url_is_refused_and_not_repeated(start: Start, output: Output) -> None:
    answer = start(QDRANT_URL=f"https://user:{QDRANT_KEY}@example.org").ask()
    assert answer.status == 500
    assert "QDRANT_URL" in answer.json["error"]
    assert_no_key(answer, output)
