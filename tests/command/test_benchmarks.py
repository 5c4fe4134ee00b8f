"""The measuring parts of `make bench`, run with this environment's packages."""

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from benchmarks.asking import COLLECTION, MODEL_VARIABLES
from benchmarks.crossing import BEFORE
from benchmarks.functions import EDGE, EMPTY, HANDLERS, OURS, PLAIN, SERVER, Function
from benchmarks.measure import Plan, check, measure
from benchmarks.upstreams import LANGCHAIN, upstreams
from conftest import ROOT
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


def test_every_container_is_measured(functions: dict[str, Function], tmp_path: Path) -> None:
    told: list[str] = []
    plan = Plan(rounds=2, different={0: 3}, repeated={0: 2})
    cell = measure([functions[EMPTY]], {0: {}}, plan, tmp_path / "log", told.append)[EMPTY][0]
    assert told == ["round 1 of 2", "round 2 of 2"]
    assert (cell.different.count, cell.repeated.count) == (6, 4)
    assert {len(cell.init), len(cell.first), len(cell.first_cpu), len(cell.memory), len(cell.second)} == {2}
    assert all(first > init > 0 for first, init in zip(cell.first, cell.init, strict=True))
    assert min(cell.memory) > 1


def test_langchains_collection_has_the_same_points(services: Mapping[str, str]) -> None:
    url = f"{services['QDRANT_URL']}/collections"
    ours, theirs = (
        httpx.post(f"{url}/{name}/points/scroll", json={"limit": 1_000, "with_vector": True}).json()["result"]["points"]
        for name in (COLLECTION, LANGCHAIN)
    )
    assert [(point["id"], point["payload"]["metadata"]["source_url"]) for point in theirs] == [
        (point["id"], point["payload"]["source_url"]) for point in ours
    ]
    assert [point["payload"]["page_content"] for point in theirs] == [p["payload"]["text_content"] for p in ours]


def test_warm_question_crosses_few_files_and_calls(index: Path) -> None:
    command = [sys.executable, "-m", "benchmarks.crossing", "--shard", str(index / "query-response" / "shard")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout
    counts = {name: int(now) for name, now in re.findall(r"^([a-z ]+?) +(\d+) +\d+$", printed, re.MULTILINE)}
    assert counts["files"] <= 30, printed
    assert counts["calls"] <= BEFORE["calls"], printed
