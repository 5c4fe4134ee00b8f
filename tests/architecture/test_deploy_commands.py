"""docs/deploy.md: its commands work in their order, a first deployment is short, and no key is on a command line."""

import json
import re
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from programs import run
from template.cloudformation import expanded

PAGE = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
COMMANDS = [
    block for kind, block in re.findall(r"^```(\w*)\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL) if kind == "sh"
]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])


def _deployments() -> list[dict[str, str]]:
    """The parameters of each `make deploy` with several of them."""
    found = [
        re.findall(r"(\w+)=(\S+)", text) for text in re.findall(r'make deploy PARAMETERS="(.*?)"$', PAGE, re.MULTILINE)
    ]
    return [dict(pairs) for pairs in found]


def test_setup_comes_before_anything_in_the_environment() -> None:
    lines = [line for block in COMMANDS for line in block.splitlines()]
    first = next(number for number, line in enumerate(lines) if ".venv/" in line)
    assert lines[:3] == ["git clone https://github.com/OWNER/passage.git", "cd passage", "make setup"]
    assert first > 2


def test_bucket_is_named_once() -> None:
    assert len(re.findall(r"BUCKET=", "".join(COMMANDS).replace("EdgeIndex=", ""))) == 1
    assert "s3://$BUCKET" in "".join(COMMANDS)
    assert not re.search(r"s3://[a-z]", "".join(COMMANDS))


def test_variables_are_set_before_they_are_used() -> None:
    known = {"EDITOR", "GITHUB_SHA", "GITHUB_RUN_ATTEMPT"}
    for block in COMMANDS:
        for line in block.splitlines():
            used = set(re.findall(r"\$\{?([A-Z_]+)", line))
            assert used <= known, line
            known |= set(re.findall(r"export ([A-Z_]+)=", line))


@pytest.mark.parametrize("number", [0, 1])
def test_first_deployment_has_at_most_six_parameters(number: int) -> None:
    groups = expanded()["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]
    first = groups[0]["Parameters"]
    assert len(first) <= 6
    given = _deployments()[number]
    assert len(given) <= 6
    assert set(given) <= set(first)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_key_is_on_a_command_line(page: Path) -> None:
    """It would stay in the shell's history, and in the function's settings."""
    code = "\n".join(block for _, block in re.findall(r"^```(sh)\n(.*?)^```", page.read_text("utf-8"), re.M | re.S))
    assert not re.search(r"\b(Cohere|Qdrant)ApiKey=", code)
    assert not re.search(r"--(secret-string|value) (?!file://)", code)


def test_key_is_read_from_the_file_that_is_stored(tmp_path: Path) -> None:
    """The page's own command, with the page's own file."""
    (tmp_path / "keys.json").write_text('{"cohere": "a-key", "qdrant": "another"}', encoding="utf-8")
    (line,) = [line for block in COMMANDS for line in block.splitlines() if line.startswith("export COHERE_API_KEY=")]
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(sys.executable)
    assert run("bash", "-c", f"{line}; echo $COHERE_API_KEY", cwd=tmp_path).stdout == "a-key\n"


def test_umask_of_the_keys_file_ends_with_it() -> None:
    """Lambda reads the built files as another user, so the build must not inherit it."""
    lines = [line for block in COMMANDS for line in block.splitlines() if "umask" in line]
    assert lines == ["(umask 077; ${EDITOR:-vi} keys.json)"]


def test_sam_is_called_where_make_installs_it() -> None:
    lines = [line for block in COMMANDS for line in block.splitlines() if "sam deploy" in line]
    assert lines
    assert [line for line in lines if not line.startswith(".venv-sam/bin/sam ")] == []


def test_folders_that_commands_write_to_exist() -> None:
    """Who deploys may come to that section first."""
    (block,) = [block for block in COMMANDS if "> .passage/" in block]
    assert block.startswith("mkdir -p .passage\n")


def test_every_command_is_valid_shell() -> None:
    for block in COMMANDS:
        run("bash", "-n", input=block)


def test_requirements_read_the_credentials_of_aws_login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """botocore refuses a profile that `aws login` wrote unless it has the AWS CRT."""
    config = tmp_path / "config"
    config.write_text("[default]\nlogin_session = arn:aws:iam::111122223333:user/me\nregion = eu-central-1\n", "utf-8")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(config))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_LOGIN_CACHE_DIRECTORY", str(tmp_path / "cache"))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    import botocore.session
    from botocore.exceptions import LoginError, MissingDependencyException

    # No one has signed in here, so the session is missing. The dependency is not.
    with pytest.raises(LoginError) as raised:
        botocore.session.Session().get_credentials()
    assert not isinstance(raised.value, MissingDependencyException)


def test_deployer_policy_is_small_enough_for_iam() -> None:
    policy = json.loads((ROOT / "docs" / "deployer-policy.json").read_text(encoding="utf-8"))
    assert len(json.dumps(policy, separators=(",", ":"))) <= 6_144, "a managed policy's limit"
