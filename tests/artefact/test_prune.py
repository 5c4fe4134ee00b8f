"""The recipe's pruning step: what it leaves, and its errors when a package no longer fits the list."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from artefact.test_build_recipes import make
from conftest import ROOT
from tools.artefact import Artefact, installed

RECIPE = ROOT / "layers" / "dependencies"
CLIENT = "cohere/v2/client.py"


@pytest.fixture
def site(interpreter: Path, tmp_path: Path) -> Path:
    """A copy of the layer's packages as published."""
    site = tmp_path / "site"
    published = installed(RECIPE / "requirements.txt", ROOT / ".passage" / "artefact", interpreter)
    shutil.copytree(published, site, ignore=shutil.ignore_patterns("__pycache__"))
    return site


def prune(site: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-B", "-m", "prune", str(site)]
    return subprocess.run(command, cwd=RECIPE, capture_output=True, text=True, check=False)


def run(artefact: Artefact, code: str) -> str:
    """The output or error of `code` in an interpreter with only the layer."""
    done = subprocess.run(
        [str(artefact.python), "-c", code],
        env={"PYTHONPATH": str(artefact.layer / "python")},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("import tokenizers; tokenizers.Tokenizer.from_str('')", "'tokenizers' from `stubs`"),
        ("import qdrant_client; qdrant_client.QdrantClient('http://host')", "'qdrant_client.__init__' from `stubs`"),
        ("import cohere.v2.client as client; client.ToolV2()", "imports Unused from `edits`"),
    ],
    ids=["package", "client", "name"],
)
def test_calling_a_stub_names_the_line_to_change(artefact: Artefact, code: str, line: str) -> None:
    said = run(artefact, code)
    assert said.startswith("passage_stub.StubUsed: ")
    assert line in said
    assert "layers/dependencies/prune.toml" in said


def test_stub_can_be_named_in_a_type_and_derived_from(artefact: Artefact) -> None:
    code = """
import tokenizers
class Own(tokenizers.Tokenizer): pass
kinds = int | None | tokenizers.Tokenizer
print(isinstance(1, kinds), isinstance("1", kinds))
"""
    assert run(artefact, code) == "True False"


def test_lazy_packages_keep_every_name(artefact: Artefact) -> None:
    code = """
import aws_lambda_powertools.event_handler as handler, aws_lambda_powertools.utilities.data_classes as classes, sys
print("asyncio" in sys.modules, {n for p in (handler, classes) for n in p.__all__ if not getattr(p, n)})
"""
    assert run(artefact, code) == "False set()"


def test_no_package_of_the_layer_is_a_plugin_of_pydantic(artefact: Artefact) -> None:
    """The recipe switches pydantic's search for plugins off, so it would not find one."""
    found = [path.read_text(encoding="utf-8") for path in artefact.layer.rglob("*.dist-info/entry_points.txt")]
    assert [text for text in found if "[pydantic]" in text] == []


def test_typed_dict_makes_the_same_value(artefact: Artefact) -> None:
    code = """
from pydantic_core import SchemaValidator, core_schema
made = core_schema.IntSchema(type="int", ge=1)
print(made, isinstance(made, dict), SchemaValidator(made).validate_python("2"))
"""
    assert run(artefact, code) == "{'type': 'int', 'ge': 1} True 2"


def test_edited_module_keeps_its_line_numbers_plus_one(site: Path) -> None:
    """A traceback of the function leads to the place in the published package."""
    before = (site / CLIENT).read_text(encoding="utf-8").splitlines()
    assert prune(site).returncode == 0
    after = (site / CLIENT).read_text(encoding="utf-8").splitlines()
    embed = next(number for number, line in enumerate(before) if line.startswith("    def embed("))
    assert before[embed : embed + 50] == after[embed + 1 : embed + 51]


def test_pruning_leaves_hard_linked_originals_alone(site: Path, tmp_path: Path) -> None:
    """uv installs hard links to its cache, which every other environment shares."""
    linked = tmp_path / "linked"
    shutil.copytree(site, linked, copy_function=os.link)
    before = (site / CLIENT).read_bytes()
    done = prune(linked)
    assert done.returncode == 0, done.stderr
    assert (site / CLIENT).read_bytes() == before
    assert (linked / CLIENT).read_bytes() != before


@pytest.mark.parametrize(
    ("gone", "said"),
    [
        ("cohere/v2/raw_client.py", "`edits` names the line"),
        ("httpcore/_async", "`stubs` names httpcore._async.__init__"),
        ("aws_lambda_powertools/event_handler", "`lazy` names aws_lambda_powertools.event_handler"),
        ("qdrant_client/http/models", "`removed` names qdrant_client/http/models"),
    ],
)
def test_package_that_does_not_fit_fails_the_build(site: Path, gone: str, said: str) -> None:
    path = site / gone
    shutil.rmtree(path) if path.is_dir() else path.write_text("\n", encoding="utf-8")
    done = prune(site)
    assert done.returncode == 1
    assert "*** THE LAYER CANNOT BE PRUNED" in done.stderr
    assert said in done.stderr
    assert "PRUNE=0" in done.stderr


def test_recipe_fails_where_pruning_fails(tmp_path: Path) -> None:
    recipe = tmp_path / "recipe"
    shutil.copytree(RECIPE, recipe, ignore=shutil.ignore_patterns("__pycache__"))
    listed = recipe / "prune.toml"
    listed.write_text(listed.read_text(encoding="utf-8").replace("import asyncio", "import nothing"), encoding="utf-8")
    done = make("-s", "build-DependenciesLayer", folder=recipe, ARTIFACTS_DIR=str(tmp_path / "out"))
    assert done.returncode != 0
    assert "import nothing" in done.stderr
