"""The check of a release: it asks the real function through Lambda's API, and tells CodeDeploy the result."""

import ast
import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from handler.config import profiles
from passage.emulators.server import EmulatedService
from release_check import app
from tools.doubles import EmulatorServer, Fault
from wire.function import QUESTION, Function, Start

VERSION = "arn:aws:lambda:eu-central-1:111122223333:function:passage-prod-Retrieval:42"
EVENT = {"DeploymentId": "d-1", "LifecycleEventHookExecutionId": "e-1"}


class Aws:
    """Lambda's Invoke, answered by the function in this process, and what CodeDeploy was told."""

    def __init__(self) -> None:
        self.function: Function | None = None
        self.told: list[dict[str, str]] = []
        self.invoked: list[str] = []

    def service(self) -> EmulatedService:
        routes = [web.post("/2015-03-31/functions/{arn}/invocations", self._invoke), web.post("/", self._code_deploy)]
        return EmulatedService("aws", routes, lambda _, message: {"message": message}, lambda _: None)

    async def _invoke(self, request: web.Request) -> web.Response:
        self.invoked.append(request.match_info["arn"])
        event = await request.json()
        if self.function is None:
            return web.json_response({"Message": "not allowed"}, status=403)
        try:
            answer = await asyncio.to_thread(self.function.invoke, event)
        except RuntimeError as error:
            failed = {"errorType": type(error).__name__, "errorMessage": str(error)}
            return web.json_response(failed, headers={"X-Amz-Function-Error": "Unhandled"})
        return web.json_response(answer)

    async def _code_deploy(self, request: web.Request) -> web.Response:
        assert request.headers["X-Amz-Target"].endswith(".PutLifecycleEventHookExecutionStatus")
        self.told.append(json.loads(await request.read()))
        return web.json_response({})


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[Aws]:
    cloud = Aws()
    with EmulatorServer(cloud.service()) as server:
        for name, value in {
            "AWS_ENDPOINT_URL": server.url,
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": "eu-central-1",
            "NEW_VERSION": VERSION,
            "QUESTION": QUESTION,
        }.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(app, "WAIT_SECONDS", 0.0)
        yield cloud


def _status(aws: Aws) -> str:
    app.handler(EVENT, None)
    (told,) = aws.told
    assert told["deploymentId"] == "d-1"
    assert told["lifecycleEventHookExecutionId"] == "e-1"
    return told["status"]


def test_version_that_answers_gets_traffic(aws: Aws, start: Start) -> None:
    aws.function = start()
    assert _status(aws) == "Succeeded"
    assert set(aws.invoked) == {VERSION}, "the version, not the alias"


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"COLLECTION_NAME": "renamed"}, "renamed"),
        ({"COHERE_API_KEY": "a-wrong-key"}, "COHERE_API_KEY"),
        ({"EMBEDDING_DIMENSION": "1024"}, "dimension"),
        ({"QDRANT_URL": None}, "QDRANT_URL"),
    ],
)
def test_wrong_setting_fails_the_release(
    wrong: dict[str, str | None], named: str, aws: Aws, start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    aws.function = start(**wrong)
    assert _status(aws) == "Failed"
    assert named in caplog.text, "the log says why"


def test_service_down_for_a_moment_is_asked_again(aws: Aws, start: Start, cohere: EmulatorServer) -> None:
    aws.function = start()
    cohere.faults.add(Fault("status", status=503, times=2))
    assert _status(aws) == "Succeeded"


def test_service_that_stays_down_fails_the_release(aws: Aws, start: Start, cohere: EmulatorServer) -> None:
    aws.function = start()
    cohere.faults.add(Fault("status", status=503, times=0))
    try:
        assert _status(aws) == "Failed"
    finally:
        cohere.faults.clear()


def test_crash_of_the_version_fails_the_release(aws: Aws, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    aws.function = start()

    def crash(*_: Any) -> None:
        raise RuntimeError("no module named cohere")

    monkeypatch.setattr(aws.function, "invoke", crash)
    assert _status(aws) == "Failed"


def test_version_that_may_not_be_invoked_fails_the_release(aws: Aws) -> None:
    """Without any result, CodeDeploy would wait for an hour."""
    assert _status(aws) == "Failed"


@pytest.mark.parametrize("profile", profiles.names())
def test_every_profile_takes_the_checks_question(profile: str) -> None:
    assert "question" in profiles.load(profile).query.text.names


def test_check_needs_only_what_lambda_brings() -> None:
    """It has no layer and does not contain the function."""
    tree = ast.parse(Path(app.__file__).read_text(encoding="utf-8"))
    plain = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    parts = {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    packages = {name.partition(".")[0] for name in plain | parts}
    assert packages <= {*sys.stdlib_module_names, "boto3", "botocore"}
