"""`passage doctor` as a shell runs it: exit codes and output."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from passage.cli import main
from serving import served


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["doctor", *arguments])


@pytest.mark.parametrize("arguments", [(), ("local", "--url", "http://x"), ("--url", "http://x", "--stack", "s")])
def test_exactly_one_target_must_be_named(arguments: tuple[str, ...]) -> None:
    done = _run(*arguments)
    assert done.exit_code == 2
    assert "Name one target" in done.output


def test_healthy_url_exits_0(textbook_index: Path) -> None:
    environ = {"STORE": "qdrant_edge", "EDGE_INDEX_PATH": str(textbook_index)}
    from passage.local.environment import function_environment

    with function_environment(environ, textbook_index) as merged, served(merged) as url:
        done = _run("--url", url, "--origin", "http://localhost:3000", "--json")
    assert done.exit_code == 0, done.output
    report = json.loads(done.output[done.output.index("{\n") :])  # the function's log comes first
    assert report["passed"]
    assert {each["check"] for each in report["findings"]} >= {"reachable", "CORS", "ready", "question"}


def test_url_without_a_server_exits_1() -> None:
    done = _run("--url", "http://127.0.0.1:9")
    assert done.exit_code == 1
    assert "FAIL  reachable" in done.output


def test_stack_that_cannot_be_read_exits_2(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    done = _run("--stack", "passage", "--region", "eu-central-1")
    assert done.exit_code == 2
    assert "Sign in" in done.output


def test_key_is_read_from_a_file(tmp_path: Path) -> None:
    from passage.commands.doctor import _key

    file = tmp_path / "key"
    file.write_text("secret\n")
    assert _key(file) == "secret"
