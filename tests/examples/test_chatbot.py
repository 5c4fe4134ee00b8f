"""The chatbot's function in examples/chatbot: Passage answers its boto3 over HTTP, the emulator its Cohere SDK."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import boto3
import httpx
import pytest
from moto import mock_aws

from conftest import ROOT
from examples.chatbot_served import chatbot_served, forget, loaded
from http_server import Received, Response, http_server
from tools.doubles import EmulatorServer, cohere_emulator
from tools.doubles.faults import Fault

QUESTION = "Which stop category cuts the power at once?"
KEY = "right-and-secret"
PASSAGES = [
    {
        "title": "Emergency stop",
        "text": "Category 0: cut power to the actuators within 0.2 s. Brakes engage.",
        "fit": "good",
    },
    {"title": "紧急停止", "text": "类别0会立即切断执行器的电源。", "fit": "good"},
]


@pytest.fixture(scope="module")
def cohere() -> Iterator[EmulatorServer]:
    with cohere_emulator(api_key=KEY) as running:
        yield running


@pytest.fixture(scope="module")
def api(several_indexes: Any, cohere: EmulatorServer) -> Iterator[str]:
    with chatbot_served(several_indexes, CO_API_KEY=KEY, CO_API_URL=cohere.url) as url:
        yield url


@pytest.fixture
def chatbot(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The function's module with the template's variables, nothing cached, and moto in AWS's place."""
    module = loaded().chatbot
    module._aws.cache_clear()
    for name, value in {"PASSAGE_FUNCTION": "passage", "MODEL": "command-r-08-2024", "CO_API_KEY": KEY}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    with mock_aws():
        yield module
    forget(module)


def direct(module: ModuleType) -> tuple[int, Any]:
    """Status and body of an answer."""
    response = module.handler({"routeKey": "POST /answer", "body": json.dumps({"question": QUESTION})}, None)
    return response["statusCode"], json.loads(response["body"])


def ask(api: str, question: str = QUESTION, route: str = "answer") -> Any:
    response = httpx.post(f"{api}/{route}", json={"question": question}, timeout=30)
    assert response.status_code == 200, response.text
    return response.json()


def test_function_has_at_most_150_lines() -> None:
    (source,) = (ROOT / "examples" / "chatbot" / "function").glob("*.py")
    assert len(source.read_text("utf-8").splitlines()) <= 150


def test_answer_has_pieces_that_passages_support(api: str, cohere: EmulatorServer) -> None:
    found = ask(api)
    assert found["notes"] == []
    assert found["answer"][0] == {"text": "Category 0: cut power to the actuators at once.", "passages": [1]}
    assert "**Category 0**: cut power to the actuators at once." in found["passages"][0]["text"]
    assert ask(api, route="passages") == {"passages": found["passages"], "notes": []}
    sent = json.loads(next(one.body for one in reversed(cohere.requests) if one.path == "/v2/chat"))
    assert [one["id"] for one in sent["documents"]] == ["1", "2", "3", "4", "5"]
    assert sent["messages"][-1] == {"role": "user", "content": QUESTION}


def test_question_without_clear_answer_asks_no_model(api: str, cohere: EmulatorServer) -> None:
    asked = len(cohere.requests)
    found = ask(api, "Which wine goes with roast duck?")
    assert (found["answer"], found["notes"][-1]) == (None, "The documentation has no clear answer.")
    assert found["passages"]
    assert "/v2/chat" not in [one.path for one in cohere.requests[asked:]]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (Fault("status", 401, path="chat"), "the chat model has no valid key"),
        (Fault("status", 429, path="chat", retry_after=60), "too many questions at the moment"),
        (Fault("status", 500, path="chat"), "the chat model cannot be used at the moment"),
        (Fault("status", 404, path="chat"), "the chat model cannot be used at the moment"),
        (Fault("drop", path="chat"), "the chat model cannot be used at the moment"),
        (Fault("drop", path="chat", at="response"), "the chat model cannot be used at the moment"),
        (Fault("malformed", path="chat"), "the chat model cannot be used at the moment"),
        (Fault("malformed", path="chat", body="[]"), "the chat model cannot be used at the moment"),
        (Fault("malformed", path="chat", body='{"message": null}'), "the chat model cannot be used at the moment"),
    ],
    ids=str,
)
def test_failed_model_leaves_the_passages_and_says_so(
    fault: Fault, reason: str, api: str, cohere: EmulatorServer, caplog: pytest.LogCaptureFixture
) -> None:
    cohere.faults.add(fault)
    found = ask(api)
    assert (found["answer"], found["notes"]) == (None, [f"No answer was written: {reason}."])
    assert len(found["passages"]) == 5
    told = json.dumps(found) + caplog.text
    assert "no answer: " in caplog.text
    assert [secret for secret in (KEY, QUESTION, cohere.url, "Traceback") if secret in told] == []
    assert ask(api)["answer"], "the next question is answered"


@pytest.mark.parametrize(
    "body", ["", "[]", "{}", "no JSON", '{"question": "  "}', json.dumps({"question": "x" * 1001})]
)
@pytest.mark.parametrize("route", ["passages", "answer"])
def test_bad_question_is_400(api: str, route: str, body: str) -> None:
    response = httpx.post(f"{api}/{route}", content=body)
    assert (response.status_code, response.json()) == (400, {"error": "Ask a question of 1 to 1,000 characters."})


def test_command_serves_the_page_until_it_is_stopped(several_indexes: Any) -> None:
    command = [sys.executable, ROOT / "examples" / "chatbot" / "local.py", "--index", several_indexes, "--port"]
    with subprocess.Popen([*command, "0"], stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        url = running.stderr.readline().split()[1]
        page = httpx.get(url)
        assert (page.status_code, httpx.post(f"{url}/other", json={}).status_code) == (200, 404)
        assert 'data-endpoint=""' in page.text
        port = url.rpartition(":")[2]
        second = subprocess.run([*command, port], capture_output=True, text=True, check=False)
        assert (second.returncode, second.stderr.startswith(f"Error: Port {port} cannot be used")) == (1, True)
        running.send_signal(signal.SIGINT)
    assert running.returncode == 0
    missing = [*command[:3], "/nowhere"]
    assert (
        "There is no index in /nowhere" in subprocess.run(missing, capture_output=True, text=True, check=False).stderr
    )


def lambda_says(status: int, body: object, **headers: str) -> Callable[[Received], Response]:
    return lambda _: (status, {"Content-Type": "application/json", **headers}, json.dumps(body).encode())


@pytest.mark.parametrize(
    "answer",
    [
        lambda_says(200, {"code": "CONNECTION_ERROR", "message": "COHERE_API_KEY: secret", "details": ""}),
        lambda_says(200, {"errorMessage": "secret", "errorType": "KeyError"}, **{"X-Amz-Function-Error": "Unhandled"}),
        lambda_says(429, {"message": "secret"}, **{"x-amzn-ErrorType": "TooManyRequestsException"}),
        lambda _: None,
    ],
)
def test_failed_search_is_503(
    answer: Any, chatbot: ModuleType, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with http_server(answer) as url:
        monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", url)
        said = direct(chatbot)
        forget(chatbot)
    assert said == (503, {"error": "The search does not work at the moment. Try again in a minute."})
    assert "secret" not in caplog.text


def reply(text: str, *citations: dict[str, Any], **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": [{"type": "text", "text": text}], "citations": list(citations)}
    return {"id": "1", "finish_reason": "COMPLETE", "message": message, **more}


def citation(text: str, start: int, *ids: str, end: int | None = None, kind: str = "TEXT_CONTENT") -> dict[str, Any]:
    sources = [{"type": "document", "id": one, "document": {"id": one, "text": text}} for one in ids]
    end = start + len(text) if end is None else end
    return {"start": start, "end": end, "text": text, "sources": sources, "type": kind}


CUTS = "It cuts the power to the actuators within 0.2 s."
CHINESE = "类别0切断执行器的电源"
LEFT_OUT = ["Citations that their passages do not support were left out: 1."]
UNSUPPORTED = ["No answer was written that the passages support."]


@pytest.mark.parametrize(
    ("said", "pieces", "notes"),
    [
        pytest.param(
            reply(CUTS, citation("power to the actuators", 12, "1")),
            [("It cuts the ", []), ("power to the actuators", [1]), (" within 0.2 s.", [])],
            [],
            id="good",
        ),
        pytest.param(
            reply(CUTS, citation(CUTS, 0, "1", "2", "9")), [(CUTS, [1])], [], id="of the named, one supports it"
        ),
        pytest.param(reply(CHINESE, citation(CHINESE, 0, "2")), [(CHINESE, [2])], [], id="words without spaces"),
        pytest.param(
            reply(CUTS, citation("power to the actuators", 12, "1"), citation("actuators within 0.2 s", 25, "1")),
            [("It cuts the ", []), ("power to the actuators", [1]), (" within 0.2 s", [1]), (".", [])],
            [],
            id="overlapping",
        ),
        pytest.param(
            reply(CUTS, citation("power", 12, "1"), citation("actuators", 24, "1")),
            [("It cuts the ", []), ("power", [1]), (CUTS[17:], [])],
            LEFT_OUT,
            id="not at its place",
        ),
        pytest.param(
            reply(CUTS, citation("power", 12, "1"), finish_reason="MAX_TOKENS"),
            [("It cuts the ", []), ("power", [1]), (CUTS[17:], [])],
            ["The answer is cut."],
            id="cut",
        ),
        pytest.param(
            reply(CUTS, citation("power", 12, "1"), citation("thought", 0, "1", kind="THINKING_CONTENT")),
            [("It cuts the ", []), ("power", [1]), (CUTS[17:], [])],
            [],
            id="of the model's thinking",
        ),
        *(
            pytest.param(reply(text, *cited), None, UNSUPPORTED, id=name)
            for name, text, cited in [
                ("none", CUTS, []),
                ("invented words", "Penguins live in Antarctica.", [citation("Penguins live in Antarctica.", 0, "1")]),
                ("invented number", CUTS.replace("0.2", "0.7"), [citation("actuators within 0.7 s", 25, "1")]),
                ("of another passage", CUTS, [citation(CUTS, 0, "2")]),
                ("unknown document", CUTS, [citation(CUTS, 0, "3"), citation(CUTS, 0, "doc:0"), citation(CUTS, 0)]),
                ("off range", CUTS, [citation("power", 90, "1"), citation("power", -5, "1"), citation("", 0, "1")]),
                ("backwards", CUTS, [citation("power", 17, "1", end=12)]),
                ("no words", "… .", [citation("…", 0, "1")]),
            ]
        ),
    ],
)
def test_only_supported_citations_are_sent(
    said: dict[str, Any], pieces: Any, notes: list[str], chatbot: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    with http_server(lambda_says(200, {"chunks": PASSAGES})) as passage, http_server(lambda_says(200, said)) as cohere:
        monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", passage)
        monkeypatch.setenv("CO_API_URL", cohere)
        _, found = direct(chatbot)
        forget(chatbot)
    answer = found["answer"] and [(piece["text"], piece["passages"]) for piece in found["answer"]]
    assert (answer, found["notes"]) == (pieces, notes)
    assert found["passages"] == PASSAGES


def test_months_answers_are_counted_and_key_is_a_secrets(
    chatbot: ModuleType, cohere: EmulatorServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with http_server(lambda_says(200, {"chunks": PASSAGES})) as passage:
        secret = boto3.client("secretsmanager").create_secret(Name="keys", SecretString=json.dumps({"cohere": KEY}))
        boto3.client("ssm").put_parameter(Name="/cohere", Value=KEY, Type="SecureString")
        boto3.client("dynamodb").create_table(
            TableName="answers",
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": "month", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "month", "KeyType": "HASH"}],
        )
        for name, value in {
            "AWS_ENDPOINT_URL_LAMBDA": passage,
            "CO_API_URL": cohere.url,
            "ANSWERS_TABLE": "answers",
            "MONTHLY_ANSWERS": "2",
        }.items():
            monkeypatch.setenv(name, value)
        answers = []
        parameter = "arn:aws:ssm:eu-central-1:123456789012:parameter/cohere"
        for arn in (f"{secret['ARN']}#cohere", parameter, parameter):
            monkeypatch.setenv("COHERE_API_KEY_SECRET", arn)
            chatbot._key.cache_clear()
            answers.append(direct(chatbot)[1])
        forget(chatbot)
        (count,) = boto3.client("dynamodb").scan(TableName="answers")["Items"]
    assert [bool(one["answer"]) for one in answers] == [True, True, False]
    assert answers[-1]["notes"] == ["No answer was written: this month's answers are used up."]
    assert count["answers"] == {"N": "2"}
