"""The `passage` command and the make targets behind it, as a newcomer runs them."""

import json
import re
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import httpx
import pytest

from command.passage_command import PASSAGE, Passage, clean_environment
from conftest import EVENTS, ROOT, TEXTBOOK
from handler.config import profiles
from programs import run
from sites.reading import written
from tools.runtime import free_port


@pytest.fixture(scope="module")
def small_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    page = "# Twins\n\nA digital twin mirrors an asset.\n"
    files = {"mkdocs.yml": "site_url: https://example.com/\n", "docs/twin.md": page}
    return written(tmp_path_factory.mktemp("site"), files)


def test_invoke_reranks_where_the_environment_says_so(passage: Passage, textbook_index: Path) -> None:
    event = str(EVENTS / "direct-query.json")
    plain, reranked = (
        passage("invoke", "--index", str(textbook_index), event, **variables)
        for variables in ({}, {"RERANK_PROVIDER": "cohere", "RERANK_CANDIDATES": "20"})
    )
    scores = [
        [result["relevance_score"] for result in json.loads(done.stdout)["results"]] for done in (plain, reranked)
    ]
    assert scores[0] != scores[1]
    assert "warnings" not in json.loads(reranked.stdout)
    assert '"rerank_ms"' in reranked.stderr


def test_invoke_prints_json_on_stdout_and_logs_on_stderr(passage: Passage, textbook_index: Path) -> None:
    done = passage("invoke", "--index", str(textbook_index), str(EVENTS / "http-api-query.json")).ok()
    answer = json.loads(done.stdout)
    assert answer["statusCode"] == 200
    assert json.loads(answer["body"])["query"] == "What is a digital twin?"
    assert '"message":"retrieved"' in done.stderr
    assert '"Namespace":"Passage"' in done.stderr


def test_invoke_reads_an_event_from_stdin(passage: Passage, textbook_index: Path) -> None:
    done = passage("invoke", "--index", str(textbook_index), "-", stdin='{"text": "What is PID?", "k": 1}')
    assert json.loads(done.stdout)["total_results"] == 1


def test_command_without_an_index_says_how_to_make_one(passage: Passage, tmp_path: Path) -> None:
    none = str(tmp_path / "none")
    for command in (("invoke", str(EVENTS / "direct-query.json")), ("serve",), ("mcp",)):
        done = passage(command[0], "--index", none, *command[1:])
        assert (done.returncode, done.stdout) == (1, "")
        assert f"There is no index in {none}: run `passage index`" in done.stderr


def test_make_invoke_prints_only_json() -> None:
    done = run("make", "-s", "invoke", "EVENT=events/http-api-query.json", cwd=ROOT, env=clean_environment())
    assert json.loads(done.stdout)["statusCode"] == 200


def test_index_reports_changes_and_then_none(passage: Passage, tmp_path: Path) -> None:
    arguments = ("index", str(TEXTBOOK), "--out", str(tmp_path / "index"), "--cache", str(tmp_path / "cache"))
    first = passage(*arguments).ok()
    assert "Embedding" in first.stderr
    assert first.stdout == ""
    assert "is up to date" in passage(*arguments).stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("index", "nowhere"), "nowhere does not exist"),
        (("index", "README.md"), "is not a folder"),
        (("index", "src/handler"), "neither HTML nor Markdown"),
        (("index", "samples/textbook/docs"), "--site-url"),
        (("index", "samples/textbook", "--language", "de"), "is for built sites"),
        (("index", "samples/textbook", "--profile", "nope"), "The profiles are: chunks, context, query-response"),
    ],
)
def test_index_names_its_wrong_arguments(
    passage: Passage, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    done = passage(*arguments, "--out", str(tmp_path / "index"))
    assert done.returncode != 0
    assert words in done.stderr


def test_index_writes_each_named_profile_and_all_profiles(passage: Passage, small_site: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "index")
    arguments = ("index", str(small_site), "--out", out, "--cache", str(tmp_path / "cache"))

    def told(*more: str) -> list[str]:
        """The result of indexing, by profile."""
        lines = passage(*arguments, *more).stderr.splitlines()
        return [line.replace(f"{out}/", "") for line in lines if line.startswith(("Write", "Nothing"))]

    assert told("--profile", "ranked", "--profile", "chunks") == ["Write ranked: 1 point", "Write chunks: 1 point"]
    assert told("--all-profiles") == [
        "Nothing to do: chunks is up to date.",
        "Write context: 1 point",
        "Write query-response: 1 point",
        "Nothing to do: ranked is up to date.",
        "Write vector-search: 1 point",
    ]
    done = passage("index", str(small_site), "--out", out, "--all-profiles", "--profile", "ranked")
    assert done.returncode == 2
    assert "not both" in done.stderr


def test_index_and_the_function_read_the_same_variables(passage: Passage, small_site: Path, tmp_path: Path) -> None:
    variables = {
        "DEFAULT_PROFILE": "context",
        "EMBEDDING_MODEL": "embed-english-light-v3.0",
        "EMBEDDING_DIMENSION": "384",
        "COLLECTION_NAME": "mine",
        "VECTOR_NAME": "dense",
    }
    passage("index", str(small_site), "--out", str(tmp_path), **variables).ok()
    manifest = json.loads((tmp_path / "context" / "manifest.json").read_text())
    assert {key: manifest[key] for key in ("collection", "vector", "dimension", "embedding_model")} == {
        "collection": "mine",
        "vector": "dense",
        "dimension": 384,
        "embedding_model": "embed-english-light-v3.0",
    }
    answer = passage("invoke", "--index", str(tmp_path), "-", stdin='{"text": "What is a twin?"}', **variables)
    assert json.loads(answer.stdout)["collection"] == "mine"
    passage("index", str(small_site), "--out", str(tmp_path), "--profile", "ranked", **variables).ok()
    assert json.loads((tmp_path / "ranked" / "manifest.json").read_text())["collection"] == "textbook_passages"


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"EMBEDDING_DIMENSION": "many"}, "EMBEDDING_DIMENSION"),
        ({"EMBEDDING_MODEL": "embed-nonsense"}, "refused the model 'embed-nonsense'"),
        ({"EMBEDDING_MODEL": "embed-english-v3.0"}, "EMBEDDING_DIMENSION"),
        ({"DEFAULT_PROFILE": "nope"}, "The profiles are"),
        ({"COHERE_BASE_URL": "http://127.0.0.1:9"}, "COHERE_API_KEY is not"),
        (
            {"COHERE_API_KEY": "key", "COHERE_BASE_URL": "nowhere"},
            "COHERE_BASE_URL: must start with http:// or https://",
        ),
        ({"COHERE_API_KEY": "key", "COHERE_BASE_URL": "https://api.cohere.com/v2"}, "COHERE_BASE_URL: ends in /v2"),
        ({"COHERE_API_KEY": "key", "COHERE_BASE_URL": "http://127.0.0.1:9"}, "could not be reached"),
    ],
)
def test_index_names_a_wrong_variable_in_one_line(
    passage: Passage, environment: dict[str, str], words: str, small_site: Path, tmp_path: Path
) -> None:
    done = passage("index", str(small_site), "--out", str(tmp_path / "index"), **environment)
    assert done.returncode == 1
    assert words in done.stderr.splitlines()[-1]
    assert done.stderr.splitlines()[-1].startswith("Error: ")


def test_index_says_where_it_cannot_write(passage: Passage, small_site: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = passage("index", str(small_site), "--out", str(tmp_path / "file" / "index"))
    assert done.returncode == 1
    assert done.stderr.startswith("Error: The index cannot be written")


def test_emulated_and_real_vectors_are_never_compared(passage: Passage, textbook_index: Path) -> None:
    done = passage("invoke", str(EVENTS / "direct-query.json"), "--index", str(textbook_index), COHERE_API_KEY="key")
    assert (done.returncode, done.stdout) == (1, "")
    assert "was embedded by the emulator" in done.stderr


def test_a_search_by_words_alone_compares_no_vectors(passage: Passage, textbook_index: Path) -> None:
    question = str(EVENTS / "direct-query.json")
    passage("invoke", question, "--index", str(textbook_index), COHERE_API_KEY="key", SEARCH_MODE="words").ok()


def test_proxy_variables_are_ignored_on_loopback(passage: Passage, small_site: Path, tmp_path: Path) -> None:
    proxy = dict.fromkeys(("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"), "http://127.0.0.1:9")
    passage("index", str(small_site), "--out", str(tmp_path), **proxy).ok()
    answer = passage("invoke", "--index", str(tmp_path), "-", stdin='{"text": "What is a twin?"}', **proxy)
    assert json.loads(answer.stdout)["total_results"] == 1


@contextmanager
def serving(index: Path, stop: signal.Signals, *more: str, told: str = "", **variables: str) -> Iterator[str]:
    """Run `passage serve` and yield the line it prints. Checks that `stop` ends it cleanly, and what it told."""
    shown = ["--site", str(TEXTBOOK), "--question", "What is a digital twin?", *more]
    command = [PASSAGE, "serve", "--index", str(index), "--port", str(free_port()), *shown]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env=clean_environment() | variables,
    ) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline()
        finally:
            server.send_signal(stop)
            rest, errors = server.communicate(timeout=20)
    assert rest == ""
    assert errors.rstrip().endswith("Stopped.")
    assert re.search(told, errors)
    assert "Traceback" not in errors
    assert server.returncode == 0


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_serve_prints_one_line_to_try_and_that_line_answers(textbook_index: Path, stop: signal.Signals) -> None:
    with serving(textbook_index, stop) as line:
        assert line.startswith("curl ")
        answer = json.loads(run("bash", "-c", line).stdout)
        assert answer["results"][0]["url"].startswith("https://physical-ai.example/digital-twins/")
        home = httpx.get(line.split()[2].removesuffix("query"), trust_env=False).text
        assert "A Textbook on Physical AI" in home
        check_origins(line.split()[2])
        assert "What is a digital twin?" in home


def check_origins(url: str) -> None:
    """Pages of this machine may ask and use MCP, from any port; others may not."""
    ping = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"})
    for origin, status in (("http://localhost:5173", 200), ("http://[::1]:8000", 200), ("https://evil.example", 403)):
        headers = {"origin": origin}
        answers = [
            httpx.post(url.replace("query", "mcp"), content=ping, headers=headers, trust_env=False),
            httpx.get(url.replace("query", "health"), headers=headers, trust_env=False),
            httpx.options(url, headers=headers, trust_env=False),
        ]
        assert answers[0].status_code == status
        allowed = [answer.headers.get("access-control-allow-origin") for answer in answers]
        assert allowed == [origin if status == 200 else None] * 3


HIDDEN = r"\n200  \d+ ms  3 passages\n404  \d+ ms  .*\nStopped.\n$"
SHOWN = r'\n200  \d+ ms  3 passages  "What is a digital twin\?"\n404 '


@pytest.mark.parametrize(
    ("more", "told", "variables"),
    [((), HIDDEN, {}), ((), SHOWN, {"LOG_QUERY_TEXT": "true"}), (("--json-logs",), '"message":"retrieved"', {})],
)
def test_serve_tells_a_line_a_question(
    more: tuple[str, ...], told: str, variables: dict[str, str], textbook_index: Path
) -> None:
    with serving(textbook_index, signal.SIGTERM, *more, told=told, **variables) as line:
        run("bash", "-c", line)
        for path in ("health", "nowhere"):
            httpx.get(line.split()[2].removesuffix("query") + path, trust_env=False)


def test_version_is_the_packages(passage: Passage) -> None:
    assert passage("--version").stdout == f"passage {version('passage')}\n"


def test_index_says_that_edge_is_written(passage: Passage, small_site: Path, tmp_path: Path) -> None:
    written = f"QDRANT_URL is set, and --to is not: the index is written to the folder {tmp_path}."
    arguments = ("index", str(small_site), "--out", str(tmp_path), "--dry-run")
    for more in ((), ("--to", "edge")):
        done = passage(*arguments, *more, QDRANT_URL="http://127.0.0.1:1")
        assert (written in done.stderr) == (not more)


def test_serve_answers_for_every_profile_that_was_indexed(passage: Passage, small_site: Path, tmp_path: Path) -> None:
    passage("index", str(small_site), "--out", str(tmp_path), "--all-profiles").ok()
    with serving(tmp_path, signal.SIGTERM) as line:
        found = re.search(r"http://\S+:\d+", line)
        assert found is not None
        with httpx.Client(base_url=found[0], trust_env=False, timeout=20) as http:
            for profile in profiles.names():
                answer = http.post(f"/profiles/{profile}/query", json={"query": "What is a digital twin?"})
                assert answer.status_code == 200, answer.text
                assert "A digital twin mirrors an asset." in answer.text


def test_serve_on_a_port_that_is_taken_says_so(passage: Passage, textbook_index: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = passage("serve", "--index", str(textbook_index), "--port", str(taken.getsockname()[1]))
    assert done.returncode == 1
    assert "choose another" in done.stderr


@pytest.mark.parametrize(
    ("text", "says"), [("{", "is not JSON"), ("[" * 100_000 + "]" * 100_000, "nested too deeply")], ids=["cut", "deep"]
)
def test_invoke_names_the_fault_of_an_event(passage: Passage, tmp_path: Path, text: str, says: str) -> None:
    event = tmp_path / "event.json"
    event.write_text(text, encoding="utf-8")
    done = passage("invoke", "--index", str(tmp_path), str(event))
    assert (done.returncode, done.stdout) == (1, "")
    assert says in done.stderr


def test_invoke_answers_json_that_is_nested_deeply(passage: Passage, textbook_index: Path, tmp_path: Path) -> None:
    event = tmp_path / "deep.json"
    event.write_text('{"text": ' + "[" * 800 + "]" * 800 + "}", encoding="utf-8")
    done = passage("invoke", "--index", str(textbook_index), str(event))
    assert json.loads(done.stdout)["code"] == "INVALID_INPUT"
