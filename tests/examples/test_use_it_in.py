"""The files of examples/use_it_in, each run with its framework against the function. A script stands for the model."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from openapi_spec_validator import validate

from conftest import ROOT
from http_server import Received, Response, http_server
from programs import NODE, run

FOLDER = ROOT / "examples" / "use_it_in"
PYTHON = ROOT / ".venv-frameworks" / "bin" / "python"
QUESTION = "Which stop category cuts the power at once?"
PAGE = "https://physical-ai.example/safety/emergency-stop/#stop-categories"
AGENT = "AGENT12345"
FUNCTION = "arn:aws:lambda:eu-central-1:111122223333:function:passage:live"
QUIET = {"HAYSTACK_TELEMETRY_ENABLED": "False", "OPENAI_AGENTS_DISABLE_TRACING": "1", "NO_PROXY": "127.0.0.1"}


def program(name: str, *arguments: str, **variables: str) -> str:
    """What a file of the folder prints."""
    language = NODE if name.endswith(".ts") else PYTHON
    return run(language, name, *arguments, cwd=FOLDER, env={**os.environ, **QUIET, **variables}).stdout


def test_each_file_of_the_folder_is_run_here_and_on_the_page() -> None:
    files = {path.name for path in FOLDER.glob("*.*") if path.suffix in (".py", ".ts")}
    assert files <= set(re.findall(r"\w+\.(?:py|ts)", Path(__file__).read_text("utf-8")))
    page = (ROOT / "docs" / "use-it-in.md").read_text("utf-8")
    assert files <= set(re.findall(r"\w+\.(?:py|ts)", page))
    code = "\n".join((FOLDER / name).read_text("utf-8") for name in files)
    blocks = re.findall(r"^```(?:python|ts)\n(.*?)^```", page, re.M | re.S)
    assert [block for block in blocks if block not in code] == []
    assert len(blocks) == 5


@pytest.mark.parametrize("name", ["langchain_retriever.py", "llama_index_retriever.py", "haystack_component.py"])
def test_retriever_finds_the_page(name: str, api_url: str) -> None:
    found = program(name, api_url, QUESTION).split()
    assert (found[0], len(found)) == (PAGE, 3)


@pytest.mark.parametrize(("name", "tool"), [("openai_agents_mcp.py", "search_docs"), ("ai_sdk.ts", "passages")])
def test_agent_calls_the_tool_and_reads_the_page(name: str, tool: str, api_url: str) -> None:
    asked: list[Any] = []

    def model(request: Received) -> Response:
        asked.append(json.loads(request.body))
        results = [one["output"] for one in asked[-1]["input"] if one.get("type") == "function_call_output"]
        call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": tool, "status": "completed"}
        text = {"type": "output_text", "text": f"It was found at {PAGE}.", "annotations": []}
        said = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [text]}
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        answer = {
            "id": "resp_1",
            "object": "response",
            "created_at": 0,
            "status": "completed",
            "model": "scripted",
            "output": [said if results else {**call, "arguments": json.dumps({"question": QUESTION})}],
            "parallel_tool_calls": False,
            "tool_choice": "auto",
            "tools": [],
            "usage": usage | details,
        }
        return 200, {"Content-Type": "application/json"}, json.dumps(answer).encode()

    with http_server(model) as openai:
        said = program(name, api_url, QUESTION, OPENAI_BASE_URL=openai, OPENAI_API_KEY="none")
    assert said == f"It was found at {PAGE}.\n"
    assert tool in [one["name"] for one in asked[0]["tools"]]
    assert PAGE in json.dumps(asked[1]["input"]), "the model is handed the passages"
    assert len(asked) == 2


def test_bedrock_gets_a_schema_that_it_takes(api_url: str) -> None:
    asked: list[Received] = []

    def bedrock(request: Received) -> Response:
        asked.append(request)
        return 200, {"Content-Type": "application/json"}, b'{"agentStatus": "PREPARING"}'

    keys = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_DEFAULT_REGION": "eu-central-1"}
    with http_server(bedrock) as aws:
        said = program("bedrock_action_group.py", api_url, AGENT, FUNCTION, AWS_ENDPOINT_URL=aws, **keys)
    assert said == "PREPARING\n"
    created, prepared = asked
    assert (created.target, prepared.target) == (
        f"/agents/{AGENT}/agentversions/DRAFT/actiongroups/",
        f"/agents/{AGENT}/",
    )
    group = json.loads(created.body)
    assert group["actionGroupExecutor"] == {"lambda": FUNCTION}
    schema = json.loads(group["apiSchema"]["payload"])
    validate(schema)
    assert '"enum"' not in json.dumps(schema), "Bedrock refuses it"
    fields = schema["paths"]["/query"]["post"]["requestBody"]["content"]["application/json"]["schema"]["properties"]
    event = json.loads((ROOT / "events" / "bedrock-agent-path.json").read_text("utf-8"))
    sent = event["requestBody"]["content"]["application/json"]["properties"]
    assert (event["apiPath"], {one["name"] for one in sent}) == ("/query", set(fields))
