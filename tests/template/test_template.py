"""The SAM template: valid by SAM's own linter, and in step with what the function reads."""

import os
import subprocess
from typing import Any

import pytest
import yaml

from conftest import ROOT
from handler.settings import HttpSettings, RuntimeSettings, Settings

NOT_SET_HERE = {
    "AWS_LAMBDA_INITIALIZATION_TYPE",  # Lambda sets it
    "BASE_PATH",  # a custom domain's, which this template does not make
    "COHERE_API_KEY_SECRET",  # the template passes the keys themselves
    "COHERE_BASE_URL",  # another address than Cohere's own is for tests and proxies
    "EDGE_INDEX_CHECK_SECONDS",  # the Edge store's
    "EDGE_INDEX_PATH",  # the Edge store's, which this template does not deploy yet
    "EDGE_INDEX_URI",  # the Edge store's
    "EMBEDDING_PROVIDER",  # the profile's
    "QDRANT_API_KEY_SECRET",  # the template passes the keys themselves
    "REQUEST_TIMEOUT_MS",  # the default is the gateway's
    "SECRETS_TTL_SECONDS",  # of keys kept elsewhere
}


class _Loader(yaml.SafeLoader):
    """Reads CloudFormation's short forms (`!Ref`, `!Sub`) as their values."""


_Loader.add_multi_constructor(
    "!",
    lambda loader, _, node: (
        loader.construct_scalar(node) if isinstance(node, yaml.ScalarNode) else loader.construct_sequence(node)
    ),
)


@pytest.fixture(scope="module")
def template() -> dict[str, Any]:
    text = (ROOT / "template.yaml").read_text(encoding="utf-8")
    return dict(yaml.load(text, Loader=_Loader))  # noqa: S506 - a SafeLoader's subclass


def test_sam_finds_nothing_wrong() -> None:
    done = subprocess.run(
        [str(ROOT / ".venv-sam" / "bin" / "sam"), "validate", "--lint"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "AWS_DEFAULT_REGION": "eu-central-1", "SAM_CLI_TELEMETRY": "0"},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "is a valid SAM Template" in done.stdout


def test_the_function_is_given_every_variable_it_reads_and_no_other(template: dict[str, Any]) -> None:
    given = template["Resources"]["RetrievalFunction"]["Properties"]["Environment"]["Variables"]
    read = {
        field.alias
        for model in (Settings, HttpSettings, RuntimeSettings)
        for field in model.model_fields.values()
        if field.alias
    }
    assert set(given) == read - NOT_SET_HERE


def _default(value: Any, parameters: Any) -> Any:
    """A variable's value in a deployment that sets no parameter: no option's condition holds then."""
    if isinstance(value, list):
        value = value[-1]
    return parameters.get(value, {}).get("Default", value)


def test_an_empty_parameter_leaves_the_setting_at_its_default(template: dict[str, Any]) -> None:
    parameters = template["Parameters"]
    variables = template["Resources"]["RetrievalFunction"]["Properties"]["Environment"]["Variables"]
    environ = {name: str(_default(value, parameters)) for name, value in variables.items()}
    settings = Settings.from_env({**environ, "COHERE_API_KEY": "k", "QDRANT_URL": "https://host"})
    assert settings.collection_name is None
    assert settings.embedding_dimension is None
    assert (settings.reply_queue_url, settings.reply_topic_arn, settings.reply_bus_name) == (None, None, None)
    assert settings.idempotency_table is None
    assert settings.allowed_collections == ()
    assert HttpSettings.from_env(environ).allowed_origins == ("http://localhost:3000",)


def test_every_parameter_says_what_it_is(template: dict[str, Any]) -> None:
    assert [name for name, parameter in template["Parameters"].items() if not parameter.get("Description")] == []


def test_keys_are_never_echoed(template: dict[str, Any]) -> None:
    for name in ("CohereApiKey", "QdrantApiKey"):
        assert template["Parameters"][name]["NoEcho"] is True


OPTIONS = {
    "HasFunctionUrl": {"RetrievalUrl", "RetrievalUrlIsPublic", "RetrievalUrlMayInvoke"},
    "HasQuestionQueue": {"Questions", "UnansweredQuestions", "QuestionsToFunction"},
    "HasQuestionTopic": {"TopicToFunction", "TopicMayInvoke"},
    "HasQuestionBus": {"BusToFunction", "BusMayInvoke"},
    "HasReplyQueue": {"Replies"},
    "HasReplyTable": {"SentReplies"},
    "HasAsynchronousAnswers": {"AsynchronousInvocations", "AsynchronousSuccesses", "AsynchronousFailures"},
}
"""What each option makes, by its condition."""

ACTIONS = {
    "HasQuestionQueue": {"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"},
    "HasReplyQueue": {"sqs:SendMessage"},
    "HasReplyTopic": {"sns:Publish"},
    "HasReplyBus": {"events:PutEvents"},
    "HasReplyTable": {"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem"},
    "HasAsynchronousAnswers": {"sqs:SendMessage"},
}
"""What the function may do with each option, by its condition."""


def _of(template: dict[str, Any], resource: str) -> dict[str, Any]:
    return dict(template["Resources"][resource]["Properties"])


def _queues(template: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        name: resource["Properties"]
        for name, resource in template["Resources"].items()
        if resource["Type"] == "AWS::SQS::Queue"
    }


def test_an_option_that_is_off_makes_nothing(template: dict[str, Any]) -> None:
    made: dict[str, set[str]] = {}
    for name, resource in template["Resources"].items():
        if "Condition" in resource:
            made.setdefault(resource["Condition"], set()).add(name)
    assert made == OPTIONS
    off = {"none", "false", ""}
    for option in (
        *("FunctionUrl", "QuestionQueue", "QuestionTopicArn", "QuestionBusName"),
        *("ReplyQueue", "ReplyTopicArn", "ReplyBusName", "RepliesOnce", "AsynchronousAnswers"),
    ):
        assert template["Parameters"][option]["Default"] in off


def test_the_function_may_do_what_is_switched_on_and_no_more(template: dict[str, Any]) -> None:
    allowed: dict[str, set[str]] = {}
    for condition, policy, otherwise in _of(template, "RetrievalFunction")["Policies"]:
        assert otherwise == "AWS::NoValue"
        for statement in policy["Statement"]:
            actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
            allowed.setdefault(condition, set()).update(actions)
            assert "*" not in str(statement["Resource"])
    assert allowed == ACTIONS


def test_the_question_queue_hands_out_no_message_twice_at_once_and_drops_none(template: dict[str, Any]) -> None:
    questions = _of(template, "Questions")
    assert questions["VisibilityTimeout"] >= 6 * template["Globals"]["Function"]["Timeout"]
    assert questions["RedrivePolicy"] == {"deadLetterTargetArn": "UnansweredQuestions.Arn", "maxReceiveCount": 5}
    unanswered = _of(template, "UnansweredQuestions")
    assert unanswered["FifoQueue"] == questions["FifoQueue"], "a dead-letter queue is of its queue's kind"
    assert unanswered["MessageRetentionPeriod"] == 14 * 24 * 3600 > questions["MessageRetentionPeriod"]


def test_lambda_is_told_of_single_messages(template: dict[str, Any]) -> None:
    """Without it, a batch of which some messages failed would be deleted whole."""
    source = _of(template, "QuestionsToFunction")
    assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert (source["BatchSize"], source["EventSourceArn"]) == (10, "Questions.Arn")


def test_questions_without_a_place_for_their_replies_are_not_deployed(template: dict[str, Any]) -> None:
    rule = str(template["Rules"])
    for parameter in ("QuestionQueue", "ReplyQueue", "ReplyTopicArn", "ReplyBusName"):
        assert parameter in rule


def test_every_queue_is_encrypted_at_rest(template: dict[str, Any]) -> None:
    assert [name for name, queue in _queues(template).items() if queue.get("SqsManagedSseEnabled") is not True] == []


def test_replies_go_nowhere_that_questions_come_from(template: dict[str, Any]) -> None:
    """A reply read as a question would be answered again, for ever."""
    variables = _of(template, "RetrievalFunction")["Environment"]["Variables"]
    assert variables["REPLY_QUEUE_URL"] == ["HasReplyQueue", "Replies", ""]
    destinations = _of(template, "AsynchronousInvocations")["DestinationConfig"]
    assert destinations == {
        "OnSuccess": {"Destination": "AsynchronousSuccesses.Arn"},
        "OnFailure": {"Destination": "AsynchronousFailures.Arn"},
    }


def test_the_table_is_as_powertools_takes_it(template: dict[str, Any]) -> None:
    table = _of(template, "SentReplies")
    assert table["KeySchema"] == [{"AttributeName": "id", "KeyType": "HASH"}]
    assert table["TimeToLiveSpecification"] == {"AttributeName": "expiration", "Enabled": True}


def test_the_function_url_leaves_cors_to_the_function(template: dict[str, Any]) -> None:
    """Trap 5: configured twice, each header is sent twice, and browsers take neither."""
    url = _of(template, "RetrievalUrl")
    assert url["AuthType"] == "NONE"
    assert "Cors" not in url
    granted = {_of(template, name)["Action"] for name in ("RetrievalUrlIsPublic", "RetrievalUrlMayInvoke")}
    assert granted == {"lambda:InvokeFunctionUrl", "lambda:InvokeFunction"}


def test_only_the_topic_and_the_rule_named_may_invoke_the_function(template: dict[str, Any]) -> None:
    assert _of(template, "TopicMayInvoke")["SourceArn"] == "QuestionTopicArn"
    assert _of(template, "BusMayInvoke")["SourceArn"] == "BusToFunction.Arn"
