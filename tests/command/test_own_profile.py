"""A new profile needs one TOML file: the example of docs/how-to.md, added to a copy of the code."""

import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from command.passage_command import PASSAGE, clean_environment
from conftest import ROOT
from passage.local.http_event import http_api_event
from programs import run
from tools.doubles import cohere_emulator

NAME = "field-guide"
ASK = """
import json, sys
from handler.app import lambda_handler
for line in sys.stdin:
    print("ANSWER", json.dumps(lambda_handler(json.loads(line), None)))
"""
PAGES = {
    "moss.md": "# Moss\n\nMoss has no roots: it drinks through its leaves, and dries out without dying.\n",
    "fern.md": "# Fern\n\nA fern's young leaves are rolled up like a snail; spores lie in dots beneath the old ones.\n",
}


def documented() -> tuple[str, dict[str, Any]]:
    """The profile and the question of the section "Write your own profile"."""
    text = (ROOT / "docs" / "how-to.md").read_text(encoding="utf-8")
    section = re.search(r"^## Write your own profile\n(.*?)(?=^## )", text, re.MULTILINE | re.DOTALL)
    assert section
    (profile,) = re.findall(r"^```toml\n(.*?)^```", section[1], re.MULTILINE | re.DOTALL)
    (question,) = re.findall(r"/query -d '(.*)'", section[1])
    return profile, json.loads(question)


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the function's code, with the new profile."""
    folder = tmp_path_factory.mktemp("code")
    shutil.copytree(ROOT / "src" / "handler", folder / "handler", ignore=shutil.ignore_patterns("__pycache__"))
    profile, _ = documented()
    (folder / "handler" / "config" / "profiles" / f"{NAME}.toml").write_text(profile, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def index(code: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny site, indexed with the new profile as the section shows."""
    site, out = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("index")
    for name, text in PAGES.items():
        (site / name).write_text(text, encoding="utf-8")
    command = [PASSAGE, "index", str(site), "--profile", NAME, "--site-url", "https://guide.example", "--out", str(out)]
    environment = clean_environment() | {"PYTHONPATH": str(code)}
    run(*command, env=environment, timeout=60)
    return out


def ask(code: Path, index: Path, *events: Any, **environment: str) -> tuple[list[Any], list[dict[str, Any]]]:
    """Run the copy's `lambda_handler` in a new process. Returns its answers and its log lines."""
    with cohere_emulator() as cohere:
        env = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(code),
            "COHERE_API_KEY": "local",
            "COHERE_BASE_URL": cohere.url,
            "STORE": "qdrant_edge",
            "EDGE_INDEX_PATH": str(index),
            **environment,
        }
        sent = "".join(f"{json.dumps(event)}\n" for event in events)
        lines = run(sys.executable, "-c", ASK, input=sent, env=env, timeout=60).stdout.splitlines()
    answers = [json.loads(line.removeprefix("ANSWER ")) for line in lines if line.startswith("ANSWER ")]
    return answers, [json.loads(line) for line in lines if line.startswith("{")]


def question(path: str, fields: dict[str, Any]) -> dict[str, Any]:
    return http_api_event("POST", path, body=json.dumps(fields).encode())


def test_one_profile_file_serves_a_new_collection(code: Path, index: Path) -> None:
    _, documented_question = documented()
    fields = {**documented_question, "ask": "Which plant has no roots?"}
    by_default, by_path, direct, listed, refused = ask(
        code,
        index,
        question("/query", fields),
        question(f"/profiles/{NAME}/query", {"ask": "Which plant has no roots?", "take": 2}),
        {"profile": NAME, **fields},
        http_api_event("GET", "/profiles"),
        question("/query", {"ask": "?" * 501}),
        DEFAULT_PROFILE=NAME,
    )[0]
    body = json.loads(by_default["body"])
    assert by_default["statusCode"] == 200
    assert [result["url"] for result in body["results"]] == ["https://guide.example/moss/"]
    assert body["results"][0].keys() == {"content", "url", "similarity_score"}
    assert "drinks through its leaves" in body["results"][0]["content"]
    whole = json.loads(by_path["body"])["results"]
    assert [result["url"] for result in whole] == ["https://guide.example/moss/", "https://guide.example/fern/"]
    assert all(result["position"] == 0 and result["created_at"].endswith("Z") for result in whole)
    assert direct["results"] == body["results"]
    assert json.loads(listed["body"])["default"] == NAME
    assert [profile["name"] for profile in json.loads(listed["body"])["profiles"]].count(NAME) == 1
    assert refused["statusCode"] == 400
    assert "'ask' has 501 characters: it must have 2 to 500." in refused["body"]


def test_wrong_profile_is_logged_and_the_others_still_answer(code: Path, index: Path, tmp_path: Path) -> None:
    broken = shutil.copytree(code, tmp_path / "broken")
    text, _ = documented()
    wrong = broken / "handler" / "config" / "profiles" / "wrong.toml"
    wrong.write_text(text.replace("text = [", "txt = [", 1).replace("default = 3", "default = 30"), encoding="utf-8")
    unknown = broken / "handler" / "config" / "profiles" / "unknown.toml"
    unknown.write_text(text.replace('contract = "chunks"', 'contract = "chunk"'), encoding="utf-8")
    (answered, refused, missing, listed, described), logged = ask(
        broken,
        index,
        question("/query", {"ask": "Which plant has no roots?"}),
        question("/profiles/wrong/query", {"ask": "Which plant has no roots?"}),
        question("/profiles/unknown/query", {"ask": "Which plant has no roots?"}),
        http_api_event("GET", "/profiles"),
        http_api_event("GET", "/openapi.json"),
        DEFAULT_PROFILE=NAME,
        PROFILES="wrong,unknown",
        AWS_LAMBDA_INITIALIZATION_TYPE="on-demand",
    )
    # Failures of questions name a profile; those at start do not.
    at_start = [line for line in logged if line.get("level") == "ERROR" and "profile" not in line]
    messages = [line["message"] for line in at_start]
    assert [message.split(" is invalid: ")[0] for message in messages] == [
        "profiles/unknown.toml",
        "profiles/wrong.toml",
    ]
    assert "contract: 'chunk' is unknown; allowed: query_response, vector_search" in messages[0]
    for part in (
        "payload.text: Field required",
        "payload.txt: unknown key; allowed: text, url, title",
        "query.count: min, default and max must be in ascending order",
    ):
        assert part in messages[1]
    assert answered["statusCode"] == 200
    assert json.loads(answered["body"])["results"]
    for answer, message in ((missing, messages[0]), (refused, messages[1])):
        assert answer["statusCode"] == 500
        assert json.loads(answer["body"])["error"]["message"] == message
    assert listed["statusCode"] == described["statusCode"] == 200
    served = [profile["name"] for profile in json.loads(listed["body"])["profiles"]]
    assert NAME in served
    assert not {"wrong", "unknown"} & set(served)
    assert f"/profiles/{NAME}/query" in json.loads(described["body"])["paths"]
