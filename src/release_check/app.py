"""Asks a new version of the function /ready and one question, and tells CodeDeploy whether it answers.

CodeDeploy invokes it before a deployment shifts traffic (PreTraffic in template.yaml). Without a result, CodeDeploy
waits for an hour, so an error of the check itself fails the release, too.
"""

import json
import logging
import os
import time
from collections.abc import Callable, Mapping
from typing import Any

import boto3
from botocore.config import Config

ATTEMPTS = 3
"""A service can be unavailable for a moment. A wrong key or an empty collection stays."""
WAIT_SECONDS = 5.0
_LOG = logging.getLogger(__name__)
_LOG.setLevel(logging.INFO)
# A cold start and a question take much less.
_CLIENT = Config(read_timeout=90, retries={"total_max_attempts": 1})


def handler(event: Mapping[str, Any], _: object) -> None:
    """Report "Succeeded" or "Failed" for the deployment that the event names."""
    try:
        problem = check(boto3.client("lambda", config=_CLIENT), os.environ["NEW_VERSION"], os.environ["QUESTION"])
    except Exception as error:  # noqa: BLE001 - CodeDeploy must hear of any error
        problem = f"{type(error).__name__}: {error}"
    if problem is None:
        _LOG.info("the new version answers")
    else:
        _LOG.error("the release fails: %s", problem)
    boto3.client("codedeploy").put_lifecycle_event_hook_execution_status(
        deploymentId=event["DeploymentId"],
        lifecycleEventHookExecutionId=event["LifecycleEventHookExecutionId"],
        status="Succeeded" if problem is None else "Failed",
    )


def check(client: Any, version: str, question: str, sleep: Callable[[float], None] = time.sleep) -> str | None:
    """What is wrong with the version, after three attempts; None if it is ready and answers.

    client: boto3's for Lambda. version: the version's ARN.
    """
    problem: str | None = None
    for attempt in range(ATTEMPTS):
        if attempt:
            sleep(WAIT_SECONDS)
        problem = _problem(client, version, "GET", "/ready", None)
        # Every profile takes the question under this name.
        problem = problem or _problem(client, version, "POST", "/query", {"question": question})
        if problem is None:
            return None
    return problem


def _problem(client: Any, version: str, method: str, path: str, body: object) -> str | None:
    event = _event(method, path, body)
    invoked = client.invoke(FunctionName=version, Payload=json.dumps(event).encode())
    answer = json.loads(invoked["Payload"].read())
    if "FunctionError" in invoked:
        return f"{method} {path} raised {answer.get('errorType')}: {answer.get('errorMessage')}"
    if answer.get("statusCode") != 200:
        return f"{method} {path} answered {answer.get('statusCode')}: {answer.get('body')}"
    return None


def _event(method: str, path: str, body: object) -> dict[str, Any]:
    """An HTTP API's event (payload format 2.0) with the parts that the function reads."""
    return {
        "version": "2.0",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {"content-type": "application/json"},
        "requestContext": {"http": {"method": method, "path": path}, "stage": "$default"},
        "isBase64Encoded": False,
        **({} if body is None else {"body": json.dumps(body)}),
    }
