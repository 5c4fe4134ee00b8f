"""The two stores: the same questions, the same answers, and never an answer from an index that is not there."""

import errno
import json
import os
from pathlib import Path

import pytest

from handler.adapters.qdrant import sparse_files
from handler.bootstrap.container import Container
from handler.entrypoints.detect import Source
from handler.entrypoints.http import handler as http
from passage.evaluation.suites.files import read_suite
from passage.local.http_event import http_api_event
from wire.function import Start, assert_error, both_gateways

OnEdge = dict[str, str | None]
SUITE = read_suite(Path(__file__).parents[2] / "samples" / "textbook" / "suite.toml")
QUESTIONS = [question.text for question in SUITE.questions if "plain" in question.tags]


@pytest.mark.parametrize("k", [1, 10])
def test_same_questions_get_the_same_answers(k: int, start: Start, on_edge: OnEdge) -> None:
    server, edge = start(), start(**on_edge)
    for question in QUESTIONS[::4]:
        one, other = server.ask(question, k).results, edge.ask(question, k).results
        assert len(one) == k
        scores = [result.pop("relevance_score") for result in one]
        assert [result.pop("relevance_score") for result in other] == pytest.approx(scores, abs=1e-5)
        assert one == other


def test_edge_index_may_lie_in_a_read_only_folder(
    start: Start, on_edge: OnEdge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A layer is mounted read-only. Root may write anywhere, so the check is replaced."""
    monkeypatch.setattr("os.access", lambda *_: False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert len(start(**on_edge).ask().results) == 3
    (copy,) = tmp_path.glob("passage-index-*/shard")
    files = [path.stat() for path in copy.rglob("*") if path.is_file()]
    assert sum(file.st_blocks * 512 for file in files) < 0.2 * sum(file.st_size for file in files), "with holes"


@pytest.mark.parametrize("where", ["tempfile.mkdtemp", "handler.adapters.qdrant.sparse_files.copy"])
def test_index_that_cannot_be_copied_is_500_and_names_tmp(
    where: str, start: Start, on_edge: OnEdge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.access", lambda *_: False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(where, full)
    message = assert_error(start(**on_edge).ask(), 500, "INTERNAL_ERROR")
    assert "EphemeralStorage" in message
    assert not any(tmp_path.iterdir()), "the part that was copied is removed"


@pytest.mark.parametrize("mode", ["dense", "hybrid"])
def test_index_of_another_dimension_is_500_and_names_it(mode: str, start: Start, on_edge: OnEdge) -> None:
    function = start(**on_edge, SEARCH_MODE=mode, EMBEDDING_DIMENSION="1024")
    message = assert_error(function.ask(), 500, "INTERNAL_ERROR")
    assert "EMBEDDING_DIMENSION to 768" in message


@both_gateways
def test_missing_index_is_500_and_never_an_empty_200(
    start: Start, on_edge: OnEdge, tmp_path: Path, textbook_index: Path
) -> None:
    function = start(**(on_edge | {"EDGE_INDEX_PATH": str(tmp_path)}))
    message = assert_error(function.ask(), 500, "INTERNAL_ERROR")
    assert "EDGE_INDEX_PATH" in message
    assert "passage index" in message
    assert str(tmp_path) not in message
    (tmp_path / "query-response").mkdir()
    manifest = textbook_index / "query-response" / "manifest.json"
    (tmp_path / "query-response" / "manifest.json").write_bytes(manifest.read_bytes())
    assert "passage index" in assert_error(function.ask(), 500, "INTERNAL_ERROR"), "a manifest without its shard"


@pytest.mark.parametrize("manifest", ["", "null", "[]", "{}", "{", '{"format": 1}', "7"])
def test_unreadable_manifest_is_500(manifest: str, start: Start, on_edge: OnEdge, tmp_path: Path) -> None:
    (tmp_path / "query-response").mkdir()
    (tmp_path / "query-response" / "manifest.json").write_text(manifest, encoding="utf-8")
    message = assert_error(start(**(on_edge | {"EDGE_INDEX_PATH": str(tmp_path)})).ask(), 500, "INTERNAL_ERROR")
    assert "passage index" in message


@pytest.mark.parametrize(
    ("variable", "value"),
    [("COLLECTION_NAME", "absent"), ("VECTOR_NAME", "dense"), ("EMBEDDING_DIMENSION", "384")],
)
def test_index_of_another_shape_is_500_and_names_the_variable(
    variable: str, value: str, start: Start, on_edge: OnEdge
) -> None:
    assert variable in assert_error(start(**on_edge, **{variable: value}).ask(), 500, "INTERNAL_ERROR")


@pytest.mark.parametrize("damage", ["missing", "cut", "points"])
def test_damaged_index_is_500_that_names_the_file(
    damage: str, start: Start, on_edge: OnEdge, textbook_index: Path, tmp_path: Path
) -> None:
    """The engine would find nothing in it, and `/ready` would be content."""
    folder = sparse_files.copy_folder(textbook_index / "query-response", tmp_path / "query-response")
    path = folder / "manifest.json"
    said = json.loads(path.read_text(encoding="utf-8"))
    name = next(name for name in said["files"] if name.endswith("matrix.dat"))
    words = {
        "missing": f"{name} is missing",
        "cut": f"{name} has 5 bytes instead of",
        "points": "702 points instead of 9",
    }
    if damage == "missing":
        (folder / name).unlink()
    elif damage == "cut":
        (folder / name).write_bytes(b"short")
    else:
        path.write_text(json.dumps(said | {"points": 9}), encoding="utf-8")
    function = start(**(on_edge | {"EDGE_INDEX_PATH": str(tmp_path)}))
    assert words[damage] in assert_error(function.ask(), 500, "INTERNAL_ERROR")
    assert words[damage] in assert_error(function.get("/ready"), 500, "INTERNAL_ERROR")


def test_index_that_appears_later_is_found(start: Start, on_edge: OnEdge, textbook_index: Path, tmp_path: Path) -> None:
    """A failure is not cached for the life of a container."""
    root = tmp_path / "index"
    function = start(**(on_edge | {"EDGE_INDEX_PATH": str(root)}))
    assert function.ask().status == 500
    sparse_files.copy_folder(textbook_index, root)
    assert function.ask().status == 200


@pytest.mark.parametrize(
    ("environ", "status"),
    [({"COHERE_BASE_URL": "https://api.cohere.com"}, 500), ({"COHERE_BASE_URL": "http://127.0.0.1:9"}, 200)],
)
def test_emulated_index_with_cohere_questions_is_refused(
    textbook_index: Path, environ: dict[str, str], status: int
) -> None:
    """Vectors of another service may have the same dimension and raise no error, but the answers would be wrong."""
    container = Container(
        {"COHERE_API_KEY": "k", "STORE": "qdrant_edge", "EDGE_INDEX_PATH": str(textbook_index), **environ}
    )
    answer = http.handle(http_api_event("GET", "/ready"), None, container, Source.HTTP_API)
    assert answer["statusCode"] == status
    if status == 500:
        assert "embedded by 'emulator'" in json.loads(answer["body"])["error"]
