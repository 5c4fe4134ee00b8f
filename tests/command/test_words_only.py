"""`passage index --words`: an index without vectors, in a folder and on a server, that no embedding service serves."""

from pathlib import Path

import httpx
import pytest

from command.passage_command import Passage
from passage.local.environment import function_environment
from serving import served
from sites.reading import written
from tools.qdrant.emulator import qdrant_emulator

ERROR = {"text": "E1042", "k": 2}


@pytest.fixture
def small_site(tmp_path: Path) -> Path:
    pages = {
        "arms.md": "# Arms\n\nAn arm grips.\n\n## E1042\n\nError E1042: the grip is open.",
        "legs.md": "# Legs\n\nThey walk.",
    }
    return written(tmp_path / "site", pages)


@pytest.mark.parametrize("store", ["edge", "qdrant"])
def test_index_of_words_needs_no_embedding_service(
    store: str, passage: Passage, small_site: Path, tmp_path: Path
) -> None:
    """Not to be written, and not to answer; a search by vectors names the setting."""
    out = tmp_path / "index"
    with qdrant_emulator(tmp_path / "storage", strict=True) as server:
        services = {} if store == "edge" else {"QDRANT_URL": server.url}
        arguments = ("index", str(small_site), "--site-url", "https://example.com", "--to", store, "--out", str(out))
        nowhere = {"COHERE_API_KEY": "real", "COHERE_BASE_URL": "http://127.0.0.1:9"}
        done = passage(*arguments, "--words", **services, **nowhere).ok()
        assert "Embed nothing: the index has words only" in done.stderr
        assert "Nothing to do" in passage(*arguments, "--words", **services, **nowhere).stderr
        mode = services and {"SEARCH_MODE": "words"}
        with function_environment(services | mode, out) as environ, served(environ) as url:
            assert "COHERE_API_KEY" not in environ
            ready = httpx.get(f"{url}/ready").json()["collection"]
            assert (ready["search"], ready["vector_size"]) == ("words", 0)
            answer = httpx.post(f"{url}/query", json=ERROR).json()
            assert "E1042" in answer["results"][0]["chunk_text"]
            assert "no similarities" in answer["warnings"][0]
        with function_environment(services | {"SEARCH_MODE": "hybrid"}, out) as environ, served(environ) as url:
            for answered in (httpx.post(f"{url}/query", json=ERROR), httpx.get(f"{url}/ready")):
                assert answered.status_code == 500
                assert "SEARCH_MODE=words" in answered.json()["error"]
        passage(*arguments, **services).ok()  # with vectors, in its place
        with function_environment(services, out) as environ, served(environ) as url:
            assert httpx.get(f"{url}/ready").json()["collection"]["search"] == "hybrid"
            assert "warnings" not in httpx.post(f"{url}/query", json=ERROR).json()


def test_words_are_not_for_a_copy(passage: Passage, tmp_path: Path) -> None:
    done = passage("index", "--from-qdrant", "docs", "--words", "--out", str(tmp_path))
    assert (done.returncode, "--words indexes a SOURCE" in done.stderr) == (2, True)
