"""The name of a release changes with its code, template or parameters."""

import json
import os
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from moto.cloudformation.models import cloudformation_backends
from moto.server import ThreadedMotoServer

from conftest import ROOT
from release_check import app
from template.cloudformation import PYTHON_OF_SAM, Stack

REGION = "eu-central-1"
STACK = "passage-prod"
ACCOUNT = "123456789012"
TEMPLATE = json.dumps({"Resources": {"Queue": {"Type": "AWS::SQS::Queue"}}})


@pytest.fixture(autouse=True, scope="module")
def aws() -> Iterator[None]:
    """CloudFormation by moto, for the processes that a test starts."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    environment = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "testing",
        "AWS_SECRET_ACCESS_KEY": "testing",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        yield
    server.stop()


@pytest.fixture
def stack() -> Iterator[str]:
    """A deployed stack's name."""
    client = boto3.client("cloudformation")
    client.create_stack(StackName=STACK, TemplateBody=TEMPLATE)
    yield STACK
    client.delete_stack(StackName=STACK)


def _ended(status: str) -> None:
    (stack,) = cloudformation_backends[ACCOUNT][REGION].stacks.values()
    stack.status = status


def _run(build: Path, *parameters: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "layers" / "release.py"), str(build), STACK, *parameters]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _name(build: Path, *parameters: str) -> str:
    done = _run(build, *parameters)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def _hash(build: Path, *parameters: str) -> str:
    """The name without a look at AWS, in this process."""
    name: str = runpy.run_path(str(ROOT / "layers" / "release.py"))["release_id"](build, list(parameters))
    return name


@pytest.fixture
def build(tmp_path: Path) -> Path:
    folder = tmp_path / "build"
    (folder / "RetrievalFunction").mkdir(parents=True)
    (folder / "RetrievalFunction" / "app.py").write_text("one", encoding="utf-8")
    (folder / "template.yaml").write_text("Resources: {}", encoding="utf-8")
    return folder


def test_same_build_in_another_folder_has_the_same_release_id(build: Path, tmp_path: Path) -> None:
    first = _hash(build, "Architecture=arm64")
    assert first == _hash(Path(shutil.copytree(build, tmp_path / "elsewhere")), "Architecture=arm64")
    assert len(first) == 20
    assert first.isalnum(), "ReleaseId's pattern"


def test_changed_code_template_or_parameters_change_release_id(build: Path) -> None:
    names = [_hash(build), _hash(build, "CohereApiKey=secret"), _hash(build, "CohereApiKey=secret", "MemorySize=512")]
    (build / "RetrievalFunction" / "app.py").write_text("two", encoding="utf-8")
    names.append(_hash(build))
    (build / "template.yaml").write_text("Resources: {A: {}}", encoding="utf-8")
    names.append(_hash(build))
    (build / "RetrievalFunction" / "app.py").rename(build / "RetrievalFunction" / "other.py")
    names.append(_hash(build))
    assert len(set(names)) == 6


def test_rolled_back_release_gets_another_name(build: Path, stack: str) -> None:
    """Its version stays, and Lambda refuses to publish an identical one."""
    first = _name(build)
    _ended("UPDATE_ROLLBACK_COMPLETE")
    again = _name(build)
    assert again != first
    assert again == _name(build), "one attempt has one name"
    _ended("UPDATE_COMPLETE")
    assert _name(build) == first


def test_failed_first_deployment_says_to_destroy_it(build: Path, stack: str) -> None:
    _ended("ROLLBACK_COMPLETE")
    done = _run(build)
    assert done.returncode != 0
    assert "ROLLBACK_COMPLETE" in done.stderr
    assert "make destroy" in done.stderr


def _make_deploy(build: Path, tmp_path: Path, parameters: str) -> list[str]:
    """The words that the Makefile's recipe gives SAM."""
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines(keepends=True)
    start = next(number for number, line in enumerate(recipe) if line.startswith("deploy:"))
    end = next(number for number in range(start, len(recipe)) if not recipe[number].strip())
    lines = [line for line in recipe[start + 1 : end] if "test " not in line and "$(MAKE)" not in line]
    copy = tmp_path / "Makefile"
    variables = {
        "SHELL": "/bin/bash",
        "ENV": "prod",
        "STACK": STACK,
        "BIN": Path(sys.executable).parent,
        "BUILD": build,
    }
    head = "".join(f"{name} := {value}\n" for name, value in variables.items())
    copy.write_text(f"{head}SAM := printf '%s\\n'\ndeploy:\n{''.join(lines)}", encoding="utf-8")
    done = subprocess.run(
        [str(shutil.which("make")), "-s", "-f", str(copy), "deploy", f"PARAMETERS={parameters}"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_make_deploy_passes_the_release_id(build: Path, tmp_path: Path) -> None:
    """PARAMETERS may span several lines."""
    parameters = "CohereApiKeySecretArn=arn:aws:secretsmanager:x#cohere\n  QdrantUrl=https://cluster.example"
    words = _make_deploy(build, tmp_path, parameters + r" EdgeIndex=\"\"")
    assert {"CohereApiKeySecretArn=arn:aws:secretsmanager:x#cohere", "QdrantUrl=https://cluster.example"} <= set(words)
    assert 'EdgeIndex=""' in words, "SAM takes no value for none only in quotes"
    overrides = words[words.index("--parameter-overrides") + 1 : -1]
    assert words[-1] == f"ReleaseId={_name(build, *overrides)}"
    assert "Deployment=Canary10Percent5Minutes" in overrides


def test_make_deploy_keeps_spaces_and_quotes_of_a_value(build: Path, tmp_path: Path) -> None:
    """Read by SAM's own parser, which ends an unquoted value at its first space."""
    settings = "MCP_DESCRIPTION=the documentation of Acme's robots, and arms,ALLOWED_HEADERS=traceparent,baggage"
    parameters = f"""Settings="{settings}" Heartbeat='What does "arm" mean?'"""
    words = _make_deploy(build, tmp_path, f"""{parameters} BasePath='""' EdgeIndex=s3://indexes""")
    overrides = words[words.index("--parameter-overrides") + 1 :]
    code = "import json, sys; from samcli.cli.types import CfnParameterOverridesType as Type; "
    code += "print(json.dumps(Type().convert(tuple(sys.argv[1:]), None, None)))"
    done = subprocess.run([PYTHON_OF_SAM, "-c", code, *overrides], capture_output=True, text=True, check=True)
    read = json.loads(done.stdout)
    assert read["Settings"] == settings
    assert read["Heartbeat"] == 'What does "arm" mean?'
    assert (read["BasePath"], read["EdgeIndex"]) == ("", "s3://indexes")
    assert read["Deployment"] == "Canary10Percent5Minutes", "samconfig.toml's, in an environment"
    assert read["ReleaseId"]


def test_release_check_ends_before_lambda_ends_it(made: dict[str, Stack]) -> None:
    """Killed by its timeout, it reports nothing, and CodeDeploy waits for an hour."""
    longest = app.ATTEMPTS * 2 * app._CLIENT.read_timeout + (app.ATTEMPTS - 1) * app.WAIT_SECONDS
    assert longest < made["canary"]["ReleaseCheckFunction"]["Timeout"] <= 900
