"""The stacks in examples/: they expand, invoke the alias that they are given, and ask what the function answers."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from programs import run
from template.cloudformation import PYTHON_OF_SAM

EXAMPLES = ROOT / "examples"
FUNCTION = "arn:aws:lambda:eu-central-1:111122223333:function:passage-dev-Retrieval:live"
PARAMETERS = {
    "step-functions": {"FunctionArn": FUNCTION},
    "event-bridge-rule": {"FunctionArn": FUNCTION},
    "bedrock-agent": {"FunctionArn": FUNCTION},
    "static-site": {"ApiUrl": "https://api.example/live"},
    "chatbot": {
        "FunctionArn": FUNCTION,
        "CohereApiKeySecretArn": "arn:aws:ssm:eu-central-1:111122223333:parameter/cohere#key",
        "AllowedOrigins": "https://user.github.io",
        "AlarmAddress": "docs@example.com",
    },
}


@pytest.fixture(scope="module")
def expanded() -> dict[str, dict[str, Any]]:
    """Each example as CloudFormation."""
    return {name: _expand(name) for name in PARAMETERS}


def _expand(name: str) -> dict[str, Any]:
    command = (PYTHON_OF_SAM, ROOT / "tests" / "template" / "expand.py", EXAMPLES / name / "template.yaml")
    expanded: dict[str, Any] = json.loads(run(*command, input=json.dumps({name: PARAMETERS[name]})).stdout)[name]
    return expanded


def _of_type(template: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [each["Properties"] for each in template["Resources"].values() if each["Type"] == f"AWS::{kind}"]


def test_each_template_is_expanded_here() -> None:
    assert {path.parent.name for path in EXAMPLES.glob("*/template.yaml")} == set(PARAMETERS)


def test_rule_may_invoke_the_alias(expanded: dict[str, dict[str, Any]]) -> None:
    template = expanded["event-bridge-rule"]
    (rule,) = _of_type(template, "Events::Rule")
    (permission,) = _of_type(template, "Lambda::Permission")
    assert rule["Targets"][0]["Arn"] == permission["FunctionName"] == {"Ref": "FunctionArn"}
    assert permission["Principal"] == "events.amazonaws.com"


def test_rule_keeps_events_that_were_not_delivered(expanded: dict[str, dict[str, Any]]) -> None:
    (rule,) = _of_type(expanded["event-bridge-rule"], "Events::Rule")
    assert rule["Targets"][0]["DeadLetterConfig"]["Arn"] == {"Fn::GetAtt": ["UndeliveredQueue", "Arn"]}


def test_agent_parameters_are_fields_of_a_question(
    expanded: dict[str, dict[str, Any]], ask: Callable[[Any], Any]
) -> None:
    (agent,) = _of_type(expanded["bedrock-agent"], "Bedrock::Agent")
    (function,) = agent["ActionGroups"][0]["FunctionSchema"]["Functions"]
    assert set(function["Parameters"]) == {"text", "k"}
    event = json.loads((ROOT / "events" / "bedrock-agent-function.json").read_text(encoding="utf-8"))
    assert event["function"] == function["Name"]
    answer = ask(event)
    assert "chunk_text" in answer["response"]["functionResponse"]["responseBody"]["TEXT"]["body"]


def test_state_machine_questions_are_answered(expanded: dict[str, dict[str, Any]], ask: Callable[[Any], Any]) -> None:
    (machine,) = _of_type(expanded["step-functions"], "StepFunctions::StateMachine")
    assert "lambda:invoke" in json.dumps(machine)
    assert "arn:aws:" not in json.dumps(machine), "China's and GovCloud's begin otherwise"
    questions = json.loads((EXAMPLES / "step-functions" / "questions.json").read_text(encoding="utf-8"))["questions"]
    assert [len(ask(question)["results"]) for question in questions] == [question["k"] for question in questions]


def _transitions(machine: dict[str, Any]) -> list[str]:
    """Transitions of a state machine, and of those inside its maps, to a state that it does not have."""
    states = machine["States"].values()
    named = [machine["StartAt"], *(one["Next"] for one in states if "Next" in one)]
    caught = [each["Next"] for one in states for each in one.get("Catch", [])]
    inner = [name for one in states if "ItemProcessor" in one for name in _transitions(one["ItemProcessor"])]
    return [name for name in named + caught if name not in machine["States"]] + inner


def test_state_machine_is_valid(expanded: dict[str, dict[str, Any]], tmp_path: Path) -> None:
    """cfn-lint has the language's schema, but does not look into what SAM expands."""
    (machine,) = _of_type(expanded["step-functions"], "StepFunctions::StateMachine")
    separator, lines = machine["DefinitionString"]["Fn::Join"]
    definition = json.loads(re.sub(r"\$\{\w+\}", FUNCTION, separator.join(lines)))
    assert _transitions(definition) == []
    role = "arn:aws:iam::111122223333:role/any"
    resource = {
        "Type": "AWS::StepFunctions::StateMachine",
        "Properties": {"RoleArn": role, "Definition": definition},
    }
    template = tmp_path / "machine.json"
    template.write_text(json.dumps({"Resources": {"Machine": resource}}))
    assert run(PYTHON_OF_SAM.with_name("cfn-lint"), template).stdout == ""


def test_site_policy_allows_the_api_alone(expanded: dict[str, dict[str, Any]]) -> None:
    (headers,) = _of_type(expanded["static-site"], "CloudFront::ResponseHeadersPolicy")
    policy = headers["ResponseHeadersPolicyConfig"]["SecurityHeadersConfig"]["ContentSecurityPolicy"]
    # Without its final slash, a path allows itself alone: not /live/query.
    assert "connect-src ${ApiUrl}/;" in json.dumps(policy)
    pattern = expanded["static-site"]["Parameters"]["ApiUrl"]["AllowedPattern"]
    assert re.fullmatch(pattern, "https://api.example/live")
    assert not re.fullmatch(pattern, "https://api.example/live/")
    assert "require-trusted-types-for 'script'" in json.dumps(policy)


def test_site_page_has_no_inline_script() -> None:
    page = (EXAMPLES / "static-site" / "index.html").read_text(encoding="utf-8")
    assert page.count("<script") == page.count("<script src=") == 1


def test_chatbot_is_bounded_and_may_do_three_things(expanded: dict[str, dict[str, Any]]) -> None:
    template = expanded["chatbot"]
    (function,), (role,) = _of_type(template, "Lambda::Function"), _of_type(template, "IAM::Role")
    statements = role["Policies"][0]["PolicyDocument"]["Statement"]
    assert [one["Action"] for one in statements] == [
        "lambda:InvokeFunction",
        ["secretsmanager:GetSecretValue", "ssm:GetParameter"],
        "dynamodb:UpdateItem",
    ]
    assert "*" not in json.dumps([one["Resource"] for one in statements])
    source = (EXAMPLES / "chatbot" / "function" / "chatbot.py").read_text("utf-8")
    variables = function["Environment"]["Variables"]
    read = set(re.findall(r'environ(?:\.get\(|\[)"(\w+)"', source))
    assert read - {"CO_API_URL"} == set(variables), "the template sets what the function reads"
    (stage,) = _of_type(template, "ApiGatewayV2::Stage")
    assert stage["DefaultRouteSettings"]["ThrottlingRateLimit"] == {"Ref": "ThrottleRate"}
    (budget,) = _of_type(template, "Budgets::Budget")
    assert budget["Budget"]["TimeUnit"] == "MONTHLY"
    (api,) = _of_type(template, "ApiGatewayV2::Api")
    assert sorted(api["Body"]["paths"]) == ["/answer", "/passages"]


@pytest.fixture(scope="module")
def ask(textbook_index: Path) -> Any:
    """The function with the sample textbook, asked directly."""
    from handler import app
    from handler.bootstrap.container import Container
    from passage.local.environment import LocalContext, function_environment

    with function_environment({}, textbook_index) as environ, pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "services", Container(environ))
        yield lambda event: app.lambda_handler(event, LocalContext())
