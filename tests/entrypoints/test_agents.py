"""Bedrock's action groups and AgentCore Gateway: the answers of direct invocation, each in its caller's form."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from entrypoints.conftest import Large
from handler.entrypoints.agents import ACTION_GROUP_BYTES
from tools.doubles import EmulatorServer, Fault
from wire.function import QUESTION, Function, Start


@pytest.fixture
def function(start: Start) -> Function:
    return start()


def body(answer: dict[str, Any]) -> Any:
    response = answer["response"]
    part = response.get("functionResponse", response)["responseBody"]
    (content,) = part.values()
    return json.loads(content["body"])


def by_function(load_event: Any, **parameters: str) -> dict[str, Any]:
    event: dict[str, Any] = load_event("bedrock-agent-function")
    event["parameters"] = [{"name": name, "type": "string", "value": value} for name, value in parameters.items()]
    return event


@pytest.mark.parametrize("name", ["bedrock-agent-function", "bedrock-agent-path"])
def test_action_group_gets_the_answer_of_direct_invocation(name: str, function: Function, load_event: Any) -> None:
    answer, asked = function.invoke(load_event(name)), load_event(name)
    assert body(answer)["results"] == function.ask("What is a digital twin?", 3).results
    assert (answer["messageVersion"], answer["response"]["actionGroup"]) == ("1.0", "passage")
    assert answer["sessionAttributes"] == asked["sessionAttributes"]
    assert answer["promptSessionAttributes"] == {}


def test_call_by_path_has_a_status_and_json(function: Function, load_event: Any) -> None:
    event = load_event("bedrock-agent-path")
    response = function.invoke(event)["response"]
    assert (response["apiPath"], response["httpMethod"], response["httpStatusCode"]) == ("/query", "POST", 200)
    assert list(response["responseBody"]) == ["application/json"]
    event["requestBody"]["content"]["application/json"]["properties"][1]["value"] = "0"
    refused = function.invoke(event)
    assert refused["response"]["httpStatusCode"] == 400
    assert body(refused)["code"] == "INVALID_INPUT"


def test_call_by_function_has_text_and_a_state_for_an_error(
    function: Function, load_event: Any, cohere: EmulatorServer
) -> None:
    good = function.invoke(load_event("bedrock-agent-function"))["response"]
    assert good["function"] == "find_passages"
    assert list(good["functionResponse"]) == ["responseBody"]
    wrong = function.invoke(by_function(load_event, text=" "))
    assert wrong["response"]["functionResponse"]["responseState"] == "REPROMPT"
    assert body(wrong)["code"] == "INVALID_INPUT"
    cohere.faults.add(Fault("status", status=503, times=0))
    down = function.invoke(by_function(load_event, text="What is a gripper?"))
    assert down["response"]["functionResponse"]["responseState"] == "FAILURE"
    assert body(down)["code"] == "SERVICE_UNAVAILABLE"


def test_question_that_looks_like_a_number_stays_text(function: Function, load_event: Any) -> None:
    assert body(function.invoke(by_function(load_event, text="2026")))["query"] == "2026"


@pytest.mark.parametrize(
    ("path", "parameters", "profile"),
    [
        ("/profiles/context/query", {}, "context"),
        ("/profiles/{profile}/query", {"profile": "context"}, "context"),
        ("/query", {"profile": "context"}, "context"),
        ("/query", {}, None),
    ],
)
def test_path_or_parameter_names_the_profile(
    path: str, parameters: dict[str, str], profile: str | None, function: Function, load_event: Any
) -> None:
    event = load_event("bedrock-agent-path") | {"apiPath": path}
    event["parameters"] = [{"name": name, "type": "string", "value": value} for name, value in parameters.items()]
    answer = function.invoke(event)
    assert answer["response"]["httpStatusCode"] == 200
    assert ("context" in body(answer)) == (profile == "context")


@pytest.mark.parametrize("path", ["/", "/health", "/profiles/nowhere/query"])
def test_path_that_takes_no_question_is_404(path: str, function: Function, load_event: Any) -> None:
    answer = function.invoke(load_event("bedrock-agent-path") | {"apiPath": path})
    assert answer["response"]["httpStatusCode"] == 404


@pytest.mark.parametrize("name", ["bedrock-agent-function", "bedrock-agent-path"])
def test_answer_over_25_kilobytes_is_shortened_and_says_so(
    name: str, start: Start, large: Large, load_event: Any
) -> None:
    answer = start(COLLECTION_NAME=large(["a" * 5_000] * 10)).invoke(load_event(name) | {"inputText": "x"})
    assert "warnings" not in body(answer)
    answer = start(COLLECTION_NAME=large(["机" * 3_000] * 10)).invoke(load_event(name))
    assert len(json.dumps(answer)) <= ACTION_GROUP_BYTES
    assert 0 < body(answer)["total_results"] < 3
    assert "too large" in body(answer)["warnings"][0]


def gateway(tool: str) -> Any:
    custom = {"bedrockAgentCoreToolName": tool}
    return SimpleNamespace(
        aws_request_id="1", client_context=SimpleNamespace(custom=custom), get_remaining_time_in_millis=lambda: 30_000
    )


def test_gateways_tool_gets_the_contracts_body(function: Function, load_event: Any) -> None:
    answer = function.invoke(load_event("agent-core-query"), gateway("docs___find_passages"))
    assert answer["results"] == function.ask("What is a digital twin?", 3).results


def test_action_group_takes_options(function: Function, load_event: Any) -> None:
    event = by_function(load_event, text=QUESTION, filters='{"chunk_index": {"lt": 1}}')
    event["parameters"] += [
        {"name": "max_per_page", "type": "integer", "value": "1"},
        {"name": "unique", "type": "boolean", "value": "true"},
    ]
    wanted = {"text": QUESTION, "max_per_page": 1, "unique": True, "filters": {"chunk_index": {"lt": 1}}}
    assert body(function.invoke(event))["results"] == function.post(wanted).results != []
    event["parameters"].append({"name": "version", "type": "number", "value": "2.1"})
    assert body(function.invoke(event))["results"] == []


@pytest.mark.parametrize(("tool", "key"), [("docs___context", "context"), ("docs___query_response", "k")])
def test_tool_named_as_a_profile_asks_it(tool: str, key: str, function: Function) -> None:
    assert key in function.invoke({"text": QUESTION}, gateway(tool))


@pytest.mark.parametrize("event", [{}, {"k": 3}, {"Records": []}, {"requestContext": {"http": {}}}, [], None])
def test_tool_arguments_shaped_like_another_event_are_refused(event: Any, function: Function) -> None:
    assert function.invoke(event, gateway("docs___find"))["code"] == "INVALID_INPUT"
