"""The `passage` command and the make targets behind it, as a newcomer runs them."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import EVENTS, ROOT, TEXTBOOK

PASSAGE = str(Path(sys.executable).parent / "passage")


def clean_environment() -> dict[str, str]:
    """Without keys, so that the emulators take the services' places."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("COHERE", "QDRANT", "STORE"))}


def passage(*arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PASSAGE, *arguments],
        capture_output=True,
        text=True,
        input=stdin,
        cwd=ROOT,
        env=clean_environment(),
        check=False,
    )


def test_invoke_prints_the_answer_as_json_alone_and_the_logs_on_stderr(textbook_index: Path) -> None:
    done = passage("invoke", "--index", str(textbook_index), str(EVENTS / "http-api-query.json"))
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["statusCode"] == 200
    assert json.loads(answer["body"])["query"] == "What is a digital twin?"
    assert '"message":"retrieved"' in done.stderr
    assert '"Namespace":"Passage"' in done.stderr


def test_invoke_reads_an_event_from_stdin(textbook_index: Path) -> None:
    done = passage("invoke", "--index", str(textbook_index), "-", stdin='{"text": "What is PID?", "k": 1}')
    assert json.loads(done.stdout)["total_results"] == 1


def test_invoke_says_what_is_wrong_with_an_event_that_is_not_json(tmp_path: Path) -> None:
    (tmp_path / "event.json").write_text("{")
    done = passage("invoke", str(tmp_path / "event.json"))
    assert done.returncode == 1
    assert done.stdout == ""
    assert "is not JSON" in done.stderr


def test_invoke_without_an_index_answers_what_to_do(tmp_path: Path) -> None:
    done = passage("invoke", "--index", str(tmp_path / "none"), str(EVENTS / "direct-query.json"))
    assert json.loads(done.stdout)["code"] == "INTERNAL_ERROR"
    assert "run `passage index`" in json.loads(done.stdout)["error"]


def test_make_invoke_prints_json_alone() -> None:
    done = subprocess.run(
        ["make", "-s", "invoke", "EVENT=events/http-api-query.json"],  # noqa: S607
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=clean_environment(),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["statusCode"] == 200


def test_index_reports_what_it_did_and_then_that_nothing_changed(tmp_path: Path) -> None:
    first = passage("index", str(TEXTBOOK), "--out", str(tmp_path / "index"))
    assert first.returncode == 0, first.stderr
    assert "Embedding" in first.stderr
    assert first.stdout == ""
    assert "nothing changed" in passage("index", str(TEXTBOOK), "--out", str(tmp_path / "index")).stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("index", "nowhere"), "is not a folder"),
        (("index", "src"), "--site-url"),
        (("index", "samples/textbook", "--profile", "nope"), "Known are: query-response"),
    ],
)
def test_index_says_what_is_wrong_with_its_arguments(tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    done = passage(*arguments, "--out", str(tmp_path / "index"))
    assert done.returncode != 0
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_serve_prints_one_line_to_try_and_that_line_answers(textbook_index: Path) -> None:
    command: Any = [PASSAGE, "serve", "--index", str(textbook_index), "--port", str(_free_port())]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=clean_environment()
    ) as server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            assert line.startswith("curl ")
            done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True)  # noqa: S607
            answer = json.loads(done.stdout)
            assert answer["results"][0]["url"].startswith("https://physical-ai.example/digital-twins/")
        finally:
            server.send_signal(signal.SIGINT)
            rest, errors = server.communicate(timeout=20)
    assert rest == ""
    assert errors.rstrip().endswith("Stopped.")
    assert server.returncode == 0


def test_serve_on_a_port_that_is_taken_says_so(textbook_index: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = passage("serve", "--index", str(textbook_index), "--port", str(taken.getsockname()[1]))
    assert done.returncode == 1
    assert "choose another" in done.stderr
