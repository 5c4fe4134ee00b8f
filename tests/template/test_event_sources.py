"""APIs, Function URL, load balancer, queues, topic and bus of each option."""

import json

import pytest

from template.cloudformation import PSEUDO, Stack, stacks
from template.options import LEAST, OPTIONS, QUESTION_QUEUE, REPLY_BUS, TOPIC

HTTP = {
    "ApiGateway::RestApi",
    "ApiGatewayV2::Api",
    "Lambda::Url",
    "ElasticLoadBalancingV2::TargetGroup",
}


@pytest.mark.parametrize("option", OPTIONS)
def test_each_http_option_has_exactly_one_endpoint(option: str, made: dict[str, Stack]) -> None:
    without = {"no-api", "queue-alone"}
    assert len([kind for kind in HTTP if made[option].of_type(kind)]) == (option not in without)


def test_the_apis_own_errors_have_cors_headers(made: dict[str, Stack]) -> None:
    """Without them, a page cannot read a 403, 429 or 504, not even its status."""
    responses = made["default"]["RestApi"]["Body"]["x-amazon-apigateway-gateway-responses"]
    assert {"DEFAULT_4XX", "DEFAULT_5XX"} <= responses.keys()
    for response in responses.values():
        assert response["responseParameters"]["gatewayresponse.header.Access-Control-Allow-Origin"] == "'*'"
        assert "statusCode" not in response, "every one would have it"
    assert responses["THROTTLED"]["responseParameters"]["gatewayresponse.header.Retry-After"] == "'1'"


def test_the_function_gets_every_path(made: dict[str, Stack]) -> None:
    assert set(made["default"]["RestApi"]["Body"]["paths"]) == {"/", "/{proxy+}"}
    assert set(made["http-api"]["HttpApi"]["Body"]["paths"]) == {"$default", "/", "/{proxy+}"}


@pytest.mark.parametrize("option", ["default", "http-api", "function-url"])
def test_cors_headers_are_the_functions_own(option: str, made: dict[str, Stack]) -> None:
    """If the API sets them, too, each header is sent twice and browsers accept neither."""
    stack = made[option]
    for resource in (*stack.of_type("ApiGatewayV2::Api").values(), *stack.of_type("Lambda::Url").values()):
        assert "Cors" not in str(resource.keys())
        assert "x-amazon-apigateway-cors" not in str(resource)
    for api in stack.of_type("ApiGateway::RestApi").values():
        for path in api["Body"]["paths"].values():
            assert path["options"]["x-amazon-apigateway-integration"]["type"] == "aws_proxy", "not the API's own"


def test_the_api_throttles(made: dict[str, Stack]) -> None:
    limits = {"ThrottlingRateLimit": "20", "ThrottlingBurstLimit": "40"}
    settings = made["default"]["RestApiliveStage"]["MethodSettings"]
    assert settings == [{"ResourcePath": "/*", "HttpMethod": "*", **limits}]
    assert made["http-api"]["HttpApiApiGatewayDefaultStage"]["DefaultRouteSettings"] == limits


def test_a_load_balancers_permission_is_there_before_the_target(made: dict[str, Stack]) -> None:
    assert made["load-balancer"].resources["LoadBalancerTargetGroup"]["DependsOn"] == "LoadBalancerInvokePermission"
    assert made["load-balancer"]["LoadBalancerInvokePermission"]["SourceAccount"] == "111122223333"


def test_traces_are_on_and_logs_end(made: dict[str, Stack]) -> None:
    stack = made["default"]
    assert stack["RetrievalFunction"]["TracingConfig"] == {"Mode": "Active"}
    assert stack["RestApiliveStage"]["TracingEnabled"] is True
    assert stack["RetrievalLogGroup"] == {"RetentionInDays": "30"}
    assert stack["RetrievalFunction"]["LoggingConfig"] == {"LogGroup": {"Ref": "RetrievalLogGroup"}}


def test_deployment_without_an_api_needs_no_other_endpoint(made: dict[str, Stack]) -> None:
    assert not made["no-api"].of_type("Lambda::Permission"), "Step Functions calls the alias by its own role"
    assert "ApiUrl" not in made["no-api"].outputs
    assert "SqsQuestionQueue" in made["queue-alone"]


def test_own_queue_is_read_as_a_new_one(made: dict[str, Stack]) -> None:
    source = made["own-queues"]["QuestionQueueEventSource"]
    assert source["EventSourceArn"] == QUESTION_QUEUE
    assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert not made["own-queues"].of_type("SQS::Queue")


def test_own_reply_destinations_are_the_functions(made: dict[str, Stack]) -> None:
    variables = made["own-queues"]["RetrievalFunction"]["Environment"]["Variables"]
    assert variables["REPLY_QUEUE_URL"] == "https://sqs.eu-central-1.amazonaws.com/111122223333/my-replies.fifo"
    assert variables["REPLY_BUS_NAME"] == REPLY_BUS


def test_vpc_has_the_given_subnets_and_groups(made: dict[str, Stack]) -> None:
    config = {"SubnetIds": ["subnet-0a1b2c3d", "subnet-4e5f6071"], "SecurityGroupIds": ["sg-0a1b2c3d"]}
    assert made["vpc"]["RetrievalFunction"]["VpcConfig"] == config
    assert "VpcConfig" not in made["default"]["RetrievalFunction"]


def test_tracing_is_off_where_it_is_not_wanted(made: dict[str, Stack]) -> None:
    assert made["quiet"]["RetrievalFunction"]["TracingConfig"] == {"Mode": "PassThrough"}
    assert made["quiet"]["RestApiliveStage"]["TracingEnabled"] is False
    assert made["quiet"]["RetrievalFunction"]["Environment"]["Variables"]["POWERTOOLS_LOG_LEVEL"] == "WARNING"


@pytest.mark.parametrize(
    ("partition", "console"), [("aws-cn", "console.amazonaws.cn"), ("aws-us-gov", "console.amazonaws-us-gov.com")]
)
def test_other_partitions_have_links_of_their_own(
    partition: str, console: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PSEUDO, "AWS::Partition", partition)
    stack = stacks({partition: LEAST})[partition]
    has_traces = partition != "aws-cn"
    assert stack["RetrievalFunction"]["TracingConfig"] == {"Mode": "Active" if has_traces else "PassThrough"}
    assert stack["RestApiliveStage"]["TracingEnabled"] is has_traces
    assert stack.outputs["DashboardUrl"]["Value"].startswith(f"https://{console}/cloudwatch/")
    assert "arn:aws:" not in json.dumps(stack.everything())


@pytest.mark.parametrize("option", ["queue", "queue-fifo", "queue-alone"])
def test_question_queue_settings_fit_the_function(option: str, made: dict[str, Stack]) -> None:
    questions, unanswered = made[option]["SqsQuestionQueue"], made[option]["QuestionDeadLetterQueue"]
    assert int(questions["VisibilityTimeout"]) == 6 * int(made[option]["RetrievalFunction"]["Timeout"])
    dead_letters = {"Fn::GetAtt": ["QuestionDeadLetterQueue", "Arn"]}
    assert questions["RedrivePolicy"] == {"deadLetterTargetArn": dead_letters, "maxReceiveCount": 5}
    assert unanswered.get("FifoQueue") == questions.get("FifoQueue"), "a dead-letter queue is of its queue's kind"
    assert unanswered["MessageRetentionPeriod"] == 14 * 24 * 3600 > questions["MessageRetentionPeriod"]


def test_lambda_is_told_of_single_messages(made: dict[str, Stack]) -> None:
    """Without it, SQS deletes the failed messages of a batch with the others."""
    source = made["queue"]["QuestionQueueEventSource"]
    assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert (source["BatchSize"], source["EventSourceArn"]) == (10, {"Fn::GetAtt": ["SqsQuestionQueue", "Arn"]})


@pytest.mark.parametrize("option", OPTIONS)
def test_every_queue_is_encrypted_at_rest(option: str, made: dict[str, Stack]) -> None:
    queues = made[option].of_type("SQS::Queue")
    assert [name for name, queue in queues.items() if queue.get("SqsManagedSseEnabled") is not True] == []


def test_reply_queues_differ_from_question_queues(made: dict[str, Stack]) -> None:
    """A reply in the question queue would be answered again, without end."""
    variables = made["queue"]["RetrievalFunction"]["Environment"]["Variables"]
    assert variables["REPLY_QUEUE_URL"] == {"Ref": "SqsReplyQueue"}
    destinations = made["notifications"]["AsyncInvokeConfig"]["DestinationConfig"]
    assert destinations == {
        "OnSuccess": {"Destination": {"Fn::GetAtt": ["AsyncSuccessQueue", "Arn"]}},
        "OnFailure": {"Destination": {"Fn::GetAtt": ["AsyncFailureQueue", "Arn"]}},
    }


def test_the_table_is_as_powertools_takes_it(made: dict[str, Stack]) -> None:
    table = made["queue"]["IdempotencyTable"]
    assert table["KeySchema"] == [{"AttributeName": "id", "KeyType": "HASH"}]
    assert table["TimeToLiveSpecification"] == {"AttributeName": "expiration", "Enabled": True}


def test_only_the_named_topic_and_rule_may_invoke(made: dict[str, Stack]) -> None:
    stack = made["notifications"]
    assert stack["TopicInvokePermission"]["SourceArn"] == TOPIC
    assert stack["EventInvokePermission"]["SourceArn"] == {"Fn::GetAtt": ["EventRule", "Arn"]}


def test_undeliverable_events_go_to_the_dead_letter_queue(made: dict[str, Stack]) -> None:
    stack, queue = made["notifications"], {"Fn::GetAtt": ["DeadLetterQueue", "Arn"]}
    assert stack["TopicSubscription"]["RedrivePolicy"] == {"deadLetterTargetArn": queue}
    assert stack["EventRule"]["Targets"][0]["DeadLetterConfig"] == {"Arn": queue}
