"""The GitHub workflows: valid, pinned, without long-lived keys, and with commands that exist."""

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from conftest import ROOT
from passage.cli import main
from programs import run

FILES = sorted([*(ROOT / ".github" / "workflows").glob("*.yml"), *(ROOT / "examples" / "github-actions").glob("*.yml")])
BIN = Path(sys.executable).parent


def _load(name: str) -> dict[Any, Any]:
    loaded: dict[Any, Any] = yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8"))
    return loaded


def test_workflows_fit_the_schema_of_github() -> None:
    run(BIN / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", *FILES)


def test_audit_of_the_workflows_finds_nothing() -> None:
    run(BIN / "zizmor", "--offline", "--min-severity", "medium", "--quiet", *FILES)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_actions_are_pinned_to_commits(path: Path) -> None:
    used = re.findall(r"uses: ([\w-]+/[\w.-]+)@(\S+)", path.read_text(encoding="utf-8"))
    assert [name for name, commit in used if not re.fullmatch(r"[0-9a-f]{40}", commit)] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_long_lived_aws_key(path: Path) -> None:
    assert "aws-access-key" not in path.read_text(encoding="utf-8").lower()


def test_stages_are_environments_of_samconfig_in_order() -> None:
    jobs = _load("deploy.yml")["jobs"]
    stages = [job["with"]["stage"] for job in jobs.values()]
    assert stages == ["dev", "staging", "prod"]
    assert [job.get("needs") for job in jobs.values()] == [None, "dev", "staging"]
    configured = tomllib.loads((ROOT / "samconfig.toml").read_text(encoding="utf-8"))
    for stage in stages:
        assert configured[stage]["global"]["parameters"]["stack_name"] == f"passage-{stage}"


def test_prod_that_waits_for_approval_blocks_no_other_stage() -> None:
    assert "concurrency" not in _load("deploy.yml"), "it would hold the whole workflow"
    concurrency = _load("deploy-stage.yml")["jobs"]["deploy"]["concurrency"]
    assert concurrency == {"group": "deploy-${{ inputs.stage }}", "cancel-in-progress": False}


def test_each_deployment_is_checked_by_doctor() -> None:
    steps = _load("deploy-stage.yml")["jobs"]["deploy"]["steps"]
    commands = [step.get("run", "") for step in steps]
    deployed = next(number for number, command in enumerate(commands) if command.startswith("make deploy"))
    assert "--no-confirm-changeset" in commands[deployed]
    assert "passage doctor --stack" in commands[deployed + 1]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_commands_and_make_targets_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][a-z-]*):.*## ", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"run: make ([a-z-]+)", text)) <= targets
    for command, options in re.findall(r"\.venv/bin/passage ([a-z]+)([^\n]*)", text):
        named = main.get_command(click.Context(main), command)
        known = {option for parameter in named.params for option in parameter.opts}
        assert set(re.findall(r"--[a-z-]+", options)) <= known
