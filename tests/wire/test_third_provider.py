"""A third provider, from the two code blocks of CONTRIBUTING.md: nothing else in src knows of it."""

import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from aiohttp import web

from command.passage_command import in_process
from conftest import ROOT, TEXTBOOK
from handler.config import providers
from handler.config.providers import PROVIDERS
from handler.config.settings import Settings
from handler.core.errors import ConfigurationError
from passage.doctor import settings_checks
from passage.emulators.embedding import embed
from passage.emulators.server import EmulatedService, json_response
from passage.evaluation import targets
from passage.local.environment import LocalError, function_environment
from tools.doubles.server import EmulatorServer
from wire.function import Output, Start, assert_error

KEY = "openai-key-2b9d"
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
STEPS = GUIDE.partition("## Add a provider")[2].partition("\n## ")[0]
MODULE, ROW = (textwrap.dedent(block) for block in re.findall(r"^   ```python\n(.*?)^   ```", STEPS, re.M | re.S))


async def _embeddings(request: web.Request) -> web.Response:
    asked = await request.json()
    vectors = embed(asked["input"], asked["dimensions"])
    return json_response(
        {"data": [{"index": at, "embedding": list(map(float, one))} for at, one in enumerate(vectors)]}
    )


def _authorize(request: web.Request) -> web.Response | None:
    accepted = request.headers.get("Authorization") == f"Bearer {KEY}"
    return None if accepted else json_response({"error": {"message": f"wrong key {KEY}"}}, 401)


@pytest.fixture
def openai(monkeypatch: pytest.MonkeyPatch) -> Iterator[EmulatorServer]:
    """A stub of OpenAI's API, and its provider registered as the steps say."""
    module = ModuleType("handler.adapters.openai")
    exec(MODULE, module.__dict__)  # noqa: S102 - our own documentation
    row = dict(vars(providers))
    exec(ROW, row)  # noqa: S102 - as above
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(PROVIDERS, "openai", row["_OPENAI"])
    routes = [web.post("/v1/embeddings", _embeddings)]
    with EmulatorServer(EmulatedService("openai", routes, lambda _, text: text, _authorize)) as server:
        yield server


@pytest.fixture
def variables(openai: EmulatorServer) -> dict[str, str]:
    return {
        "EMBEDDING_PROVIDER": "openai",
        "EMBEDDING_MODEL": "text-embedding-3-small",
        "EMBEDDING_DIMENSION": "256",
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": f"{openai.url}/v1",
    }


@pytest.fixture
def index(variables: dict[str, str], tmp_path: Path) -> Path:
    """The textbook, indexed by the command."""
    command = ["index", str(TEXTBOOK), "--out", str(tmp_path / "index"), "--cache", str(tmp_path / "cache")]
    done = in_process(*command, env=variables | {"CI": "1"}, catch_exceptions=False)
    assert re.search(
        r"Embed \d+ texts with text-embedding-3-small: about .* in \d+ calls?, about \$0\.\d\d", done.output
    )
    return tmp_path / "index"


def test_provider_of_the_guide_indexes_and_answers(
    index: Path, variables: dict[str, str], start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    edge = {"STORE": "qdrant_edge", "EDGE_INDEX_PATH": str(index), "QDRANT_URL": None}
    function = start(COHERE_API_KEY=None, COHERE_BASE_URL=None, **edge, **variables)
    assert "digital-twin" in str(function.ask().results[0])
    assert function.get("/ready").status == 200
    with function_environment(variables, index) as environ:
        assert [finding.state for finding in settings_checks.checks(environ)] == ["ok"]
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
    served = targets.RemoteProfile("query-response", "", "", "", "text", "k", None)
    assert targets._settings(served)["balance"] == 0.65, "that of real vectors"
    without = dict.fromkeys(variables) | {"COHERE_API_KEY": "key"}
    with (
        pytest.raises(LocalError, match=r"by OpenAI, .* by Cohere.*with COHERE_API_KEY set"),
        function_environment({name: value for name, value in without.items() if value}, index),
    ):
        pass


def test_key_that_is_missing_or_refused_is_named(variables: dict[str, str], start: Start, output: Output) -> None:
    message = assert_error(start(**variables | {"OPENAI_API_KEY": None}).ask(), 500, "INTERNAL_ERROR")
    assert "OPENAI_API_KEY: required, or OPENAI_API_KEY_SECRET" in message
    message = assert_error(start(**variables | {"OPENAI_API_KEY": f"{KEY}-old"}).ask(), 500, "INTERNAL_ERROR")
    assert "refused the key in OPENAI_API_KEY" in message
    assert f"{KEY}-old" not in output.text


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"RERANK_PROVIDER": "openai"}, "RERANK_PROVIDER: OpenAI has no reranker: set cohere or bedrock"),
        ({"RERANK_PROVIDER": "voyage"}, "RERANK_PROVIDER: 'voyage' has no reranker: set cohere or bedrock"),
        ({"EMBEDDING_PROVIDER": "voyage"}, "EMBEDDING_PROVIDER: must be cohere or bedrock or openai"),
        ({"OPENAI_BASE_URL": "nowhere", "COHERE_BASE_URL": "x"}, "COHERE_BASE_URL: .*; OPENAI_BASE_URL: must start"),
        ({"OPENAI_API_KEY_SECRET": "openai"}, "OPENAI_API_KEY: set it or OPENAI_API_KEY_SECRET, not both"),
    ],
)
def test_wrong_variable_of_a_provider_is_named(changed: dict[str, str], words: str, variables: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError, match=words):
        Settings.from_env({"QDRANT_URL": "http://h", **variables, **changed})
