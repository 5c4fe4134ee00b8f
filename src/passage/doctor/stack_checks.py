"""Checks of a deployed stack with AWS's own APIs: its state, function, secrets, alarms and dead-letter queues."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from handler.config.providers import PROVIDERS
from handler.config.values import SecretReference
from passage.doctor.findings import Finding, failed, ok, warning

Client = Callable[..., Any]
"""Makes boto3's client for a service, as `boto3.client` does."""

GOOD = ("CREATE_COMPLETE", "UPDATE_COMPLETE", "IMPORT_COMPLETE")
RUNNING = "_IN_PROGRESS"
URLS = ("ApiUrl", "RestApiUrl", "HttpApiUrl", "FunctionUrl")
"""The stack's outputs with an address, the best one first."""
DEAD_LETTERS = ("QuestionDeadLetterQueueUrl", "AsyncFailureQueueUrl", "NotificationDeadLetterQueueUrl")


class StackError(Exception):
    """The stack cannot be read. The message says why and what to do."""


@dataclass(frozen=True)
class Stack:
    """A stack as CloudFormation describes it."""

    name: str
    status: str
    reason: str
    outputs: Mapping[str, str]
    parameters: Mapping[str, str]

    @property
    def url(self) -> str | None:
        """The API's address; None for a stack without an API."""
        return next((self.outputs[name] for name in URLS if self.outputs.get(name)), None)

    @property
    def function(self) -> str:
        """The function's ARN, ending in the alias."""
        return self.outputs.get("FunctionArn", "")

    @property
    def origin(self) -> str | None:
        """The first allowed origin that is one site's."""
        allowed = self.parameters.get("AllowedOrigins", "").split(",")
        return next((origin.strip() for origin in allowed if origin.strip() not in ("", "*")), None)


def clients(region: str | None) -> Client:
    """Makes boto3's clients for a region; None for AWS's own settings.

    Raises:
        StackError: the profile of AWS_PROFILE does not exist.
    """
    import boto3  # noqa: PLC0415 - half a second that other targets need not wait

    try:
        client: Client = boto3.Session(region_name=region).client
    except BotoCoreError as error:
        raise _sign_in_error(error) from error
    return client


def read(client: Client, name: str) -> Stack:
    """The stack.

    Raises:
        StackError: there is none, or no credentials or rights to read it.
    """
    try:
        described = client("cloudformation").describe_stacks(StackName=name)["Stacks"][0]
    except ClientError as error:
        said = error.response.get("Error", {}).get("Message", str(error))
        raise StackError(
            f"The stack '{name}' cannot be read: {said}. Check --stack, --region and AWS_PROFILE."
        ) from error
    except BotoCoreError as error:
        raise _sign_in_error(error) from error
    return Stack(
        name=name,
        status=described["StackStatus"],
        reason=described.get("StackStatusReason", ""),
        outputs={each["OutputKey"]: each["OutputValue"] for each in described.get("Outputs", ())},
        parameters={each["ParameterKey"]: each.get("ParameterValue", "") for each in described.get("Parameters", ())},
    )


def _sign_in_error(error: BotoCoreError) -> StackError:
    said = str(error).rstrip(".")
    return StackError(f"AWS cannot be asked: {said}. Sign in (aws login or AWS_PROFILE) and set --region.")


def checks(client: Client, stack: Stack) -> Iterator[Finding]:
    """All checks of a stack. If AWS denies a call, that check is a warning: your role may lack the permission."""
    for check in (_state, _function, _secrets, _alarms, _confirmations, _dead_letters):
        try:
            yield from check(client, stack)
        except (ClientError, BotoCoreError) as error:
            name = check.__name__.strip("_").replace("_", " ")
            yield warning(name, f"AWS did not say: {error}", "Ask with rights to read it, or look in the console.")


def _state(_: Client, stack: Stack) -> Iterator[Finding]:
    if stack.status in GOOD:
        yield ok("stack", f"{stack.name} is {stack.status}.")
    elif stack.status == "ROLLBACK_COMPLETE":
        yield failed("stack", f"The first deployment failed: {stack.reason}", "Delete it (make destroy), then deploy.")
    elif stack.status == "UPDATE_ROLLBACK_COMPLETE":
        yield warning(
            "stack",
            "The last deployment failed, the one before it runs.",
            "Read the stack's events, then deploy again.",
        )
    elif stack.status.endswith(RUNNING):
        yield warning("stack", f"{stack.name} is {stack.status}.", "Wait for it to end, then check again.")
    else:
        yield failed("stack", f"{stack.name} is {stack.status}: {stack.reason}", "Read the stack's events.")


def _function(client: Client, stack: Stack) -> Iterator[Finding]:
    about = client("lambda").get_function_configuration(FunctionName=stack.function)
    state, update = about.get("State", "Active"), about.get("LastUpdateStatus", "Successful")
    if state == "Inactive":
        yield warning("function", "It is inactive, and its next question waits.", "Ask once; Lambda starts it again.")
    elif state != "Active" or update == "Failed":
        reason = about.get("StateReason") or about.get("LastUpdateStatusReason") or "no reason given"
        yield failed("function", f"It is {state}, its last update {update}: {reason}", "Deploy again.")
    else:
        yield ok("function", f"Version {about.get('Version')}, {about.get('MemorySize')} MB, {about.get('Timeout')} s.")


def _secrets(client: Client, stack: Stack) -> Iterator[Finding]:
    """The secrets exist. Their values are not read."""
    about = client("lambda").get_function_configuration(FunctionName=stack.function)
    variables = about.get("Environment", {}).get("Variables", {})
    secrets = [provider.secret_variable for provider in PROVIDERS.values() if provider.url is not None]
    for variable in (*secrets, "QDRANT_API_KEY_SECRET"):
        if not variables.get(variable):
            continue
        try:
            secret = SecretReference.parse(variables[variable])
            if secret.in_parameter_store:
                client("ssm", region_name=secret.region).get_parameter(Name=secret.name)
            else:
                client("secretsmanager", region_name=secret.region).describe_secret(SecretId=secret.name)
        except ValueError as error:
            yield failed("secrets", f"{variable} {error}.", "Correct it, then deploy again.")
        except ClientError as error:
            if error.response["Error"]["Code"] not in ("ResourceNotFoundException", "ParameterNotFound"):
                raise
            yield failed(
                "secrets", f"{variable} names {secret.name}, which does not exist.", "Create it, or correct its ARN."
            )
        else:
            yield ok("secrets", f"{variable}: its secret exists.")


def _alarms(client: Client, stack: Stack) -> Iterator[Finding]:
    alarms = list(_stack_alarms(client, stack))
    if not alarms:
        yield warning("alarms", "There is no alarm.", "Deploy with Alarms=true and AlarmAddress, or watch it yourself.")
        return
    loud = [alarm for alarm in alarms if alarm["StateValue"] == "ALARM"]
    for alarm in loud:
        yield failed(
            "alarms",
            f"{alarm['AlarmName']} is on: {alarm.get('StateReason', '')}",
            "docs/deploy.md says what it means.",
        )
    if not any(alarm.get("AlarmActions") for alarm in alarms):
        yield warning("alarms", f"{len(alarms)} alarms tell nobody.", "Deploy with AlarmAddress=you@example.com.")
    elif not loud:
        yield ok("alarms", f"{len(alarms)} alarms, none is on.")


def _stack_alarms(client: Client, stack: Stack) -> Iterator[Mapping[str, Any]]:
    pages = client("cloudwatch").get_paginator("describe_alarms").paginate(AlarmNamePrefix=f"{stack.name}-")
    for page in pages:
        yield from page.get("MetricAlarms", ())
        yield from page.get("CompositeAlarms", ())


def _confirmations(client: Client, stack: Stack) -> Iterator[Finding]:
    """An e-mail address gets alarms only after its owner has followed the link in AWS's first message."""
    topics = {
        action
        for alarm in _stack_alarms(client, stack)
        for action in alarm.get("AlarmActions", ())
        if ":sns:" in action
    }
    for topic in sorted(topics):
        subscriptions = client("sns").list_subscriptions_by_topic(TopicArn=topic)["Subscriptions"]
        waiting = [each["Endpoint"] for each in subscriptions if each["SubscriptionArn"] == "PendingConfirmation"]
        for endpoint in waiting:
            yield failed("alarm mail", f"{endpoint} has not confirmed.", "Follow the link in the mail from AWS.")
        if not subscriptions:
            yield warning("alarm mail", f"Nobody is subscribed to {topic}.", "Subscribe an address to it.")
        elif not waiting:
            yield ok("alarm mail", f"{len(subscriptions)} confirmed.")


def _dead_letters(client: Client, stack: Stack) -> Iterator[Finding]:
    for output in DEAD_LETTERS:
        url = stack.outputs.get(output)
        if not url:
            continue
        described = client("sqs").get_queue_attributes(QueueUrl=url, AttributeNames=["ApproximateNumberOfMessages"])
        count = int(described["Attributes"]["ApproximateNumberOfMessages"])
        if count:
            yield warning(
                "dead letters",
                f"{count} messages are in {url}.",
                "docs/operations.md says how to read and redrive them.",
            )
        else:
            yield ok("dead letters", f"{output} is empty.")
