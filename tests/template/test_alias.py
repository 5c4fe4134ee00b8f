"""Every event source calls the alias, and every deployment moves it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from template.cloudformation import Stack, at, stacks
from template.options import LEAST, OPTIONS, made

ALIAS = {"Ref": "RetrievalFunctionAliaslive"}
FUNCTION = ({"Ref": "RetrievalFunction"}, {"Fn::GetAtt": ["RetrievalFunction", "Arn"]})
VERSIONED = {
    "AWS::Lambda::Alias": "it is the alias",
    "AWS::Lambda::Version": "it is what the alias names",
    "AWS::Lambda::EventInvokeConfig": "it has the alias as its Qualifier",
    "AWS::CloudWatch::Alarm": "a metric's dimension",
    "AWS::CloudFormation::Stack": "the name for alarms and dashboard; nested resources are checked themselves",
}
"""Types that may name the function without the alias, and why."""
CALLERS = {
    "default": ["RestApiInvokePermission", "ScheduleRole"],
    "http-api": ["HttpApiInvokePermission"],
    "function-url": ["RetrievalFunctionUrl", "FunctionUrlPermission", "FunctionUrlInvokePermission"],
    "load-balancer": ["LoadBalancerTargetGroup", "LoadBalancerInvokePermission"],
    "queue": ["QuestionQueueEventSource"],
    "topic": ["TopicSubscription", "TopicInvokePermission", "AsyncInvokeConfig"],
    "bus": ["EventRule", "EventInvokePermission"],
}


def _naming_the_function(node: Any) -> Iterator[Any]:
    if node in FUNCTION or (isinstance(node, str) and node.startswith("arn:") and "${RetrievalFunction" in node):
        yield node
    elif isinstance(node, dict | list):
        for part in node.values() if isinstance(node, dict) else node:
            yield from _naming_the_function(part)


@pytest.mark.parametrize("option", OPTIONS)
def test_all_event_sources_call_the_alias(option: str) -> None:
    """$LATEST has no snapshot and no provisioned concurrency, and it changes before a canary starts."""
    for name, resource in made(option).resources.items():
        if resource["Type"] not in VERSIONED:
            for naming in _naming_the_function(resource.get("Properties", {})):
                assert "${RetrievalFunction.Arn}:live/" in str(naming), f"{name} names {naming}"
    for name in CALLERS.get(option, ()):
        assert json.dumps(ALIAS) in json.dumps(made(option)[name]), name


def _version(stack: Stack) -> str:
    (name,) = stack.of_type("Lambda::Version")
    return name


def test_changes_that_publish_a_version() -> None:
    """A new layer and a new parameter value must both reach the alias."""
    layer, code = "uploaded:DependenciesLayer", "uploaded:RetrievalFunction"
    published = stacks(
        {
            "first": LEAST,
            "again": LEAST,
            "other code": {**LEAST, code: "second"},
            "other layer": {**LEAST, layer: "second"},
            "other parameter": {**LEAST, "Settings": "COLLECTION_NAME=other"},
            "a release": {**LEAST, "ReleaseId": "one"},
            "a release again": {**LEAST, "ReleaseId": "one", layer: "second"},
            "the next release": {**LEAST, "ReleaseId": "two", "Settings": "COLLECTION_NAME=other"},
        }
    )
    version = {name: _version(stack) for name, stack in published.items()}
    # SAM ignores a new parameter value, so ReleaseId is necessary. If this fails, ReleaseId can go.
    assert version["again"] == version["other parameter"] == version["first"]
    assert version["a release again"] == version["a release"]
    assert len(set(version.values())) == 5
    # Lambda publishes no version if code and configuration are unchanged, so SAM puts the id into the description.
    assert published["a release"]["RetrievalFunction"]["Description"].endswith(" one")
    # SAM ignores a change of ApiKeyRequired, too, so each deployment makes a stage of its own.
    assert len({name for stack in published.values() for name in stack.of_type("ApiGateway::Deployment")}) == len(
        published
    )
    for stack in published.values():
        assert stack[_version(stack)]["DeletionPolicy"] == "Retain", "for a way back"


def test_a_canary_is_checked_and_rolled_back_by_alarms() -> None:
    stack = made("canary")
    group = stack["RetrievalFunctionDeploymentGroup"]
    assert group["DeploymentConfigName"] == "CodeDeployDefault.LambdaCanary10Percent5Minutes"
    assert group["ServiceRoleArn"] == {"Fn::GetAtt": ["DeploymentRole", "Arn"]}
    assert "DEPLOYMENT_STOP_ON_ALARM" in group["AutoRollbackConfiguration"]["Events"]
    # CodeDeploy needs their names, and a canary may not wait for a nested stack: these alarms alone are in the root.
    watched = [alarm["Name"]["Ref"] for alarm in group["AlarmConfiguration"]["Alarms"]]
    root = [name for name, resource in stack.root.items() if resource["Type"] == "AWS::CloudWatch::Alarm"]
    assert sorted(watched) == sorted(root) == ["ConfigurationErrorAlarm", "FunctionErrorAlarm", "LatencyAlarm"]
    # Errors of the alias alone. The function's errors include those of callers of $LATEST.
    dimensions = {entry["Name"]: entry["Value"] for entry in stack["FunctionErrorAlarm"]["Dimensions"]}
    assert dimensions["Resource"] == "${RetrievalFunction}:live"
    hook = at(stack[ALIAS["Ref"]], "UpdatePolicy/CodeDeployLambdaAliasUpdate/BeforeAllowTrafficHook")
    assert hook == {"Ref": "ReleaseCheckFunction"}
    variables = stack["ReleaseCheckFunction"]["Environment"]["Variables"]
    assert variables["NEW_VERSION"] == {"Ref": _version(stack)}, "not the alias, which is the old one"
