"""The measuring parts of `make bench`, run with this environment's packages."""

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.asking import MODEL_VARIABLES
from benchmarks.crossing import BEFORE
from benchmarks.functions import EDGE, EMPTY, HANDLERS, OURS, PLAIN, SERVER, Function
from benchmarks.measure import check
from benchmarks.upstreams import upstreams
from conftest import ROOT
from programs import run
from textbook import kept_index

PYTHON = Path(sys.executable)


@pytest.fixture(scope="module")
def index() -> Path:
    """The textbook, embedded with the measured model and dimension."""
    return kept_index("measured", ["query-response"], MODEL_VARIABLES)


@pytest.fixture(scope="module")
def services(index: Path) -> Iterator[Mapping[str, str]]:
    with upstreams(index / "query-response" / "shard", 0) as variables:
        yield variables


@pytest.fixture(scope="module")
def functions(index: Path) -> dict[str, Function]:
    edge = {**MODEL_VARIABLES, "STORE": "qdrant_edge", "EDGE_INDEX_PATH": str(index)}
    found = (
        Function(EMPTY, "empty.lambda_handler", (HANDLERS,), PYTHON, {}),
        Function(PLAIN, "plain.lambda_handler", (HANDLERS,), PYTHON, {}),
        Function(SERVER, OURS, (ROOT / "src",), PYTHON, MODEL_VARIABLES),
        Function(EDGE, OURS, (ROOT / "src",), PYTHON, edge),
    )
    return {function.name: function for function in found}


def test_functions_that_find_the_same_passages_pass(
    functions: dict[str, Function], services: Mapping[str, str], tmp_path: Path
) -> None:
    check(list(functions.values()), services, tmp_path / "log")


def test_function_with_other_passages_ends_the_run(
    functions: dict[str, Function], services: Mapping[str, str], tmp_path: Path
) -> None:
    (tmp_path / "handlers").mkdir()
    other = (HANDLERS / "plain.py").read_text(encoding="utf-8").replace("limit=body.get", "offset=1, limit=body.get")
    (tmp_path / "handlers" / "plain.py").write_text(other, encoding="utf-8")
    wrong = replace(functions[PLAIN], name="wrong", code=(tmp_path / "handlers",))
    with pytest.raises(SystemExit, match="wrong found other passages"):
        check([functions[EDGE], wrong], services, tmp_path / "log")


def test_a_function_that_fails_ends_the_run(
    functions: dict[str, Function], services: Mapping[str, str], tmp_path: Path
) -> None:
    lost = replace(functions[SERVER], environment={"EMBEDDING_MODEL": "no-such-model"})
    with pytest.raises(SystemExit, match="did not answer"):
        check([lost], services, tmp_path / "log")


def test_warm_question_crosses_few_files_and_calls(index: Path) -> None:
    shard = index / "query-response" / "shard"
    printed = run(sys.executable, "-m", "benchmarks.crossing", "--shard", shard, cwd=ROOT).stdout
    counts = {name: int(now) for name, now in re.findall(r"^([a-z ]+?) +(\d+) +\d+$", printed, re.MULTILINE)}
    assert counts["files"] <= 30, printed
    assert counts["calls"] <= BEFORE["calls"], printed
