"""The recipe's pruning step: its output, and its errors when a package no longer fits the list."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from artefact.test_build_recipes import make
from conftest import ROOT
from tools.artefact import Artefact, build, installed

RECIPE = ROOT / "layers" / "dependencies"
MODELS = "qdrant_client/http/models/models.py"


@pytest.fixture
def site(interpreter: Path, tmp_path: Path) -> Path:
    """A copy of the layer's packages as published."""
    site = tmp_path / "site"
    published = installed(RECIPE / "requirements.txt", ROOT / ".passage" / "artefact", interpreter)
    shutil.copytree(published, site, ignore=shutil.ignore_patterns("__pycache__"))
    return site


def prune(site: Path, recipe: Path = RECIPE) -> subprocess.CompletedProcess[str]:
    uv = str(Path(sys.executable).parent / "uv")
    command = [sys.executable, "-B", "-m", "prune", str(site), "--uv", uv]
    return subprocess.run(command, cwd=recipe, capture_output=True, text=True, check=False)


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
        ("import numpy; numpy.zeros(2)", "'numpy' from `stubs`"),
        ("import qdrant_client.uploader.uploader as u; u.BaseUploader()", "'qdrant_client.uploader' from `stubs`"),
        (
            "import qdrant_client; qdrant_client.QdrantClient('http://host')",
            "'qdrant_client.qdrant_client' from `stubs`",
        ),
        (
            "from cohere.v2.client import V2Client; V2Client.chat(None)",
            'chat to V2Client under [keep."cohere.v2.client"]',
        ),
        (
            "from cohere.v2.client import AsyncV2Client; AsyncV2Client()",
            'AsyncV2Client under [keep."cohere.v2.client"]',
        ),
        ("from qdrant_client.http import models; models.PointStruct(id=1)", "PointStruct to `names` of [models]"),
        ("from qdrant_client.qdrant_remote import parse_url; parse_url('http://host')", "'urllib3.util' from `stubbed"),
    ],
    ids=["package", "submodule", "client", "method", "class", "model", "import"],
)
def test_calling_a_stub_names_the_line_to_change(artefact: Artefact, code: str, line: str) -> None:
    said = run(artefact, code)
    assert said.startswith("passage_stub.StubUsed: ")
    assert line in said
    assert "layers/dependencies/prune.toml" in said


def test_stub_can_be_named_in_a_type_and_derived_from(artefact: Artefact) -> None:
    code = """
import grpc
class Call(grpc.ClientCall, grpc.Other): pass
kinds = int | None | grpc.PointId
print(isinstance(1, kinds), isinstance("1", kinds), isinstance(1, grpc.PointId), grpc.Kinds[int].__name__)
"""
    assert run(artefact, code) == "True False False Kinds"


def test_unknown_name_in_a_pruned_module_is_attribute_error(artefact: Artefact) -> None:
    said = run(artefact, "from qdrant_client.http import models; models.NoSuchModel")
    assert said == "AttributeError: module 'qdrant_client.http.models.models' has no attribute 'NoSuchModel'"


def test_models_of_other_calls_load_at_first_use(artefact: Artefact) -> None:
    code = """
import sys
from qdrant_client.http import models
later = "qdrant_client.http.models.models_later"
print(later in sys.modules, end=" ")
wanted = models.Filter(must=[models.FieldCondition(key="url", match=models.MatchValue(value="a"))])
print(later in sys.modules, wanted.model_dump_json(exclude_none=True))
"""
    assert run(artefact, code) == 'False True {"must":[{"key":"url","match":{"value":"a"}}]}'


def test_pruned_models_have_the_schema_of_published_ones(artefact: Artefact, interpreter: Path) -> None:
    code = """
import importlib, json, pydantic, sys
from qdrant_client.http.models import models
known = {**vars(models), **vars(importlib.import_module(models.__name__ + sys.argv[1]))}
kinds = {n: k for n, k in known.items() if isinstance(k, type) and issubclass(k, pydantic.BaseModel)}
print(json.dumps({n: k.model_json_schema() for n, k in sorted(kinds.items()) if n != "BaseModel"}))
"""

    def schemas(folder: Path, later: str) -> dict[str, object]:
        done = subprocess.run(
            [str(artefact.python), "-c", code, later],
            env={"PYTHONPATH": str(folder)},
            capture_output=True,
            text=True,
            check=True,
        )
        return dict(json.loads(done.stdout))

    unpruned = build(ROOT, ROOT / ".passage" / "artefact", interpreter, pruned=False)
    ours, theirs = schemas(artefact.layer / "python", "_later"), schemas(unpruned.layer / "python", "")
    assert 80 < len(ours) < len(theirs)
    assert ours == {name: theirs[name] for name in ours}


def test_lazy_packages_keep_every_name(artefact: Artefact) -> None:
    code = """
import aws_lambda_powertools.event_handler as handler, aws_lambda_powertools.utilities.data_classes as classes, sys
print("asyncio" in sys.modules, {n for p in (handler, classes) for n in p.__all__ if not getattr(p, n)})
"""
    assert run(artefact, code) == "False set()"


def test_no_package_of_the_layer_is_a_plugin_of_pydantic(artefact: Artefact) -> None:
    """The recipe replaces pydantic's search for plugins, so it would not find one."""
    found = [path.read_text(encoding="utf-8") for path in artefact.layer.rglob("*.dist-info/entry_points.txt")]
    assert [text for text in found if "[pydantic]" in text] == []


def test_version_is_written_into_the_client(artefact: Artefact) -> None:
    code = """
import importlib.metadata, qdrant_client.qdrant_remote as remote
client = remote.QdrantRemote(host="host", check_compatibility=False)
print(f"python-client/{importlib.metadata.version('qdrant-client')} " in client._rest_headers["User-Agent"])
"""
    assert run(artefact, code) == "True"


def test_typed_dict_makes_the_same_value(artefact: Artefact) -> None:
    code = """
from pydantic_core import SchemaValidator, core_schema
made = core_schema.IntSchema(type="int", ge=1)
print(made, isinstance({}, core_schema.CoreSchema), SchemaValidator(made).validate_python("2"))
"""
    assert run(artefact, code) == "{'type': 'int', 'ge': 1} True 2"


def test_pruning_twice_gives_the_same_files(site: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(site, other)
    for folder in (site, other):
        done = prune(folder)
        assert done.returncode == 0, done.stderr
    files = sorted(path.relative_to(site) for path in site.rglob("*") if path.is_file())
    assert files == sorted(path.relative_to(other) for path in other.rglob("*") if path.is_file())
    assert [path for path in files if (site / path).read_bytes() != (other / path).read_bytes()] == []


def test_pruning_leaves_hard_linked_originals_alone(site: Path, tmp_path: Path) -> None:
    """uv installs hard links to its cache, which every other environment shares."""
    linked = tmp_path / "linked"
    shutil.copytree(site, linked, copy_function=os.link)
    before = (site / MODELS).read_bytes()
    done = prune(linked)
    assert done.returncode == 0, done.stderr
    assert (site / MODELS).read_bytes() == before
    assert len((linked / MODELS).read_bytes()) < len(before)


def _without_a_model(site: Path) -> None:
    models = site / MODELS
    models.write_text(models.read_text(encoding="utf-8").replace("MatchValue", "MatchOne"), encoding="utf-8")


def _without_a_call(site: Path) -> None:
    api = site / "qdrant_client" / "http" / "api" / "search_api.py"
    api.write_text(api.read_text(encoding="utf-8").replace("query_points", "find_points"), encoding="utf-8")


def _without_a_method(site: Path) -> None:
    client = site / "cohere" / "v2" / "client.py"
    client.write_text(client.read_text(encoding="utf-8").replace("def rerank(", "def rank("), encoding="utf-8")


def _without_a_typed_dict(site: Path) -> None:
    schemas = site / "pydantic_core" / "core_schema.py"
    schemas.write_text(schemas.read_text(encoding="utf-8").replace("TypedDict", "Protocol"), encoding="utf-8")


def _without_a_version(site: Path) -> None:
    client = site / "qdrant_client" / "qdrant_remote.py"
    text = client.read_text(encoding="utf-8").replace("importlib.metadata.version(", "version(")
    client.write_text(text, encoding="utf-8")


def _without_a_module(site: Path) -> None:
    (site / "qdrant_client" / "parallel_processor.py").unlink()


def _without_a_package(site: Path) -> None:
    shutil.rmtree(site / "aws_lambda_powertools" / "event_handler")


def _with_a_new_import(site: Path) -> None:
    client = site / "qdrant_client" / "qdrant_remote.py"
    text = client.read_text(encoding="utf-8")
    client.write_text(
        text.replace(
            "def retrieve(", "def retrieve(self, *a, **k):\n        return numpy.zeros(2)\n\n    def retrieve_(", 1
        )
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_without_a_model, "[models] names MatchValue in `names`"),
        (_without_a_call, "[models] names the call _build_for_query_points"),
        (_without_a_method, '[keep."cohere.v2.client"] names V2Client.rerank'),
        (_without_a_typed_dict, "`typed_dicts` names pydantic_core.core_schema"),
        (_without_a_version, "`versions` names qdrant_client.qdrant_remote"),
        (_without_a_module, "there is no module qdrant_client.parallel_processor"),
        (_without_a_package, "there is no module aws_lambda_powertools.event_handler"),
        (_with_a_new_import, "what is left of it does not work"),
    ],
    ids=["model", "call", "method", "typed dict", "version", "module", "package", "behaviour"],
)
def test_package_that_does_not_fit_fails_the_build(site: Path, change: object, said: str) -> None:
    assert callable(change)
    change(site)
    done = prune(site)
    assert done.returncode == 1
    assert "*** THE LAYER CANNOT BE PRUNED" in done.stderr
    assert said in done.stderr
    assert "PRUNE=0" in done.stderr


def test_recipe_fails_where_pruning_fails(tmp_path: Path) -> None:
    recipe = tmp_path / "recipe"
    shutil.copytree(RECIPE, recipe, ignore=shutil.ignore_patterns("__pycache__"))
    listed = recipe / "prune.toml"
    listed.write_text(listed.read_text(encoding="utf-8").replace('"MatchValue"', '"MatchNothing"'), encoding="utf-8")
    done = make("-s", "build-DependenciesLayer", folder=recipe, ARTIFACTS_DIR=str(tmp_path / "out"))
    assert done.returncode != 0
    assert "MatchNothing" in done.stderr
