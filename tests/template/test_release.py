"""The name of a release changes with its code, template or parameters."""

import json
import os
import runpy
import shutil
import sys
from pathlib import Path

import boto3
import pytest
from moto import mock_aws
from moto.cloudformation.models import cloudformation_backends

from conftest import ROOT
from programs import run
from release_check import app
from template.cloudformation import PYTHON_OF_SAM
from template.options import made

REGION = "eu-central-1"
STACK = "passage-prod"
TEMPLATE = json.dumps({"Resources": {"Queue": {"Type": "AWS::SQS::Queue"}}})
RELEASE = runpy.run_path(str(ROOT / "layers" / "release.py"))


def _name(build: Path, *parameters: str) -> str:
    return str(RELEASE["release_id"](build, list(parameters)))


@pytest.fixture
def build(tmp_path: Path) -> Path:
    folder = tmp_path / "build"
    (folder / "RetrievalFunction").mkdir(parents=True)
    (folder / "RetrievalFunction" / "app.py").write_text("one", encoding="utf-8")
    (folder / "template.yaml").write_text("Resources: {}", encoding="utf-8")
    return folder


def test_changed_code_template_or_parameters_change_release_id(build: Path, tmp_path: Path) -> None:
    names = [_name(build), _name(build, "CohereApiKey=secret"), _name(build, "CohereApiKey=secret", "MemorySize=512")]
    assert names[0] == _name(Path(shutil.copytree(build, tmp_path / "elsewhere")))
    for file in ("RetrievalFunction/app.py", "template.yaml"):
        (build / file).write_text("two", encoding="utf-8")
        names.append(_name(build))
    (build / "RetrievalFunction" / "app.py").rename(build / "RetrievalFunction" / "other.py")
    names.append(_name(build))
    assert len(set(names)) == 6
    assert all(len(name) == 20 and name.isalnum() for name in names), "ReleaseId's pattern"


def test_rolled_back_release_gets_another_name(build: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its version stays, and Lambda refuses to publish an identical one. A failed creation has to be deleted."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    with mock_aws():
        boto3.client("cloudformation").create_stack(StackName=STACK, TemplateBody=TEMPLATE)
        (stack,) = cloudformation_backends["123456789012"][REGION].stacks.values()
        for status in ("CREATE_COMPLETE", "UPDATE_COMPLETE"):
            stack.status = status
            assert RELEASE["rolled_back"](STACK) == ""
        stack.status = "UPDATE_ROLLBACK_COMPLETE"
        attempt = RELEASE["rolled_back"](STACK)
        assert attempt == RELEASE["rolled_back"](STACK) != "", "one attempt has one name"
        assert RELEASE["release_id"](build, [], attempt) != _name(build)
        stack.status = "ROLLBACK_COMPLETE"
        with pytest.raises(SystemExit, match=r"ROLLBACK_COMPLETE.*make destroy"):
            RELEASE["rolled_back"](STACK)


def test_make_deploy_passes_parameters_and_release_id(build: Path, tmp_path: Path) -> None:
    """PARAMETERS may span lines. SAM's own parser reads them, which ends an unquoted value at its first space."""
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\ndeploy:")[2].partition("\n\n")[0]
    lines = [line for line in recipe.splitlines(keepends=True)[1:] if "test " not in line and "$(MAKE)" not in line]
    variables = {"SHELL": "/bin/bash", "ENV": "prod", "STACK": STACK, "BIN": Path(sys.executable).parent}
    variables |= {"BUILD": build, "SAM": "printf '%s\\n'"}
    head = "".join(f"{name} := {value}\n" for name, value in variables.items())
    (tmp_path / "Makefile").write_text(f"{head}deploy:\n{''.join(lines)}", encoding="utf-8")
    settings = "MCP_DESCRIPTION=the documentation of Acme's robots, and arms,ALLOWED_HEADERS=traceparent,baggage"
    parameters = f"""Settings="{settings}"\n  Heartbeat='What does "arm" mean?' BasePath='""' EdgeIndex=s3://indexes"""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    make = ("make", "-s", "-f", tmp_path / "Makefile", "deploy", f"PARAMETERS={parameters}")
    words = run(*make, cwd=ROOT, env=environ).stdout.splitlines()
    code = "import json, sys; from samcli.cli.types import CfnParameterOverridesType as Type; "
    code += "print(json.dumps(Type().convert(tuple(sys.argv[1:]), None, None)))"
    overrides = words[words.index("--parameter-overrides") + 1 :]
    read = json.loads(run(PYTHON_OF_SAM, "-c", code, *overrides).stdout)
    assert (read["Settings"], read["Heartbeat"]) == (settings, 'What does "arm" mean?')
    assert (read["BasePath"], read["EdgeIndex"]) == ("", "s3://indexes")
    assert read["Deployment"] == "Canary10Percent5Minutes", "samconfig.toml's, in an environment"
    unquoted = ["=".join([name, value or '""']) for name, value in read.items() if name != "ReleaseId"]
    assert read["ReleaseId"] == _name(build, *unquoted)


def test_release_check_ends_before_lambda_ends_it() -> None:
    """Killed by its timeout, it reports nothing, and CodeDeploy waits for an hour."""
    longest = app.ATTEMPTS * 2 * app._CLIENT.read_timeout + (app.ATTEMPTS - 1) * app.WAIT_SECONDS
    assert longest < made("canary")["ReleaseCheckFunction"]["Timeout"] <= 900
