"""`passage doctor` as a shell runs it: exit codes and output."""

import json
from functools import partial
from pathlib import Path

import pytest

from command.passage_command import in_process
from http_server import http_server
from passage.commands.options import API_KEY, read_api_key
from serving import served_index

doctor = partial(in_process, "doctor")


@pytest.mark.parametrize("arguments", [(), ("local", "--url", "http://x"), ("--url", "http://x", "--stack", "s")])
def test_exactly_one_target_must_be_named(arguments: tuple[str, ...]) -> None:
    done = doctor(*arguments, code=2)
    assert "Name one target" in done.output


def test_healthy_url_exits_0(textbook_index: Path) -> None:
    with served_index(textbook_index) as url:
        done = doctor("--url", url, "--origin", "http://localhost:3000", "--json")
    report = json.loads(done.output[done.output.index("{\n") :])  # the function's log comes first
    assert report["passed"]
    assert {each["check"] for each in report["findings"]} >= {"reachable", "CORS", "ready", "question"}


def test_url_without_a_server_exits_1() -> None:
    done = doctor("--url", "http://127.0.0.1:9", code=1)
    assert "FAIL  reachable" in done.output


@pytest.mark.parametrize("path", ["", "/", "/query"])
def test_proxy_of_the_environment_is_not_asked_for_this_machine(monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with http_server(lambda received: (200 if received.target == "/health" else 404, {}, b"")) as url:
        done = doctor("--url", f"{url}{path}", code=1)
    assert "ok    reachable" in done.output


def test_stack_that_cannot_be_read_exits_2(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    done = doctor("--stack", "passage", "--region", "eu-central-1", code=2)
    assert "Sign in" in done.output


def test_unknown_aws_profile_exits_2(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AWS_PROFILE", "no-such-profile")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    done = doctor("--stack", "passage", "--region", "eu-central-1", code=2)
    assert "The config profile (no-such-profile) could not be found. Sign in" in done.output


def test_key_is_read_from_a_file_or_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("secret\n")
    assert read_api_key(file) == "secret"
    monkeypatch.delenv(API_KEY, raising=False)
    assert read_api_key(None) is None
    monkeypatch.setenv(API_KEY, " other ")
    assert read_api_key(None) == "other"


@pytest.mark.parametrize("command", [("doctor",), ("evaluate", "suite.toml")])
def test_key_file_that_is_no_text_exits_2(tmp_path: Path, command: tuple[str, ...]) -> None:
    """`doctor` and `evaluate` end with 1 only if something was checked."""
    (tmp_path / "key").write_bytes(b"k\xe9y")
    (tmp_path / "suite.toml").write_text('[[questions]]\ntext = "What?"\n', encoding="utf-8")
    target = "--url" if command[0] == "doctor" else "--target"
    arguments = [*command[:1], *(tmp_path / each for each in command[1:]), target, "http://127.0.0.1:9"]
    done = in_process(*arguments, "--api-key-file", tmp_path / "key", code=2)
    assert f"--api-key-file: {tmp_path / 'key'} cannot be read as text" in done.output
