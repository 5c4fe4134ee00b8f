"""The contents of the artefact."""

import ast
import re
import struct
import sys
import tomllib
from pathlib import Path

import pytest

from conftest import ROOT
from programs import run
from tools.artefact import Artefact, build

LAYER = ROOT / "layers" / "dependencies"
UNCHECKED_HASH = 1
MACHINES = {"x86_64": 62, "arm64": 183}
"""Processors, by their number in the header of a shared object."""

NAMES = {"charset-normalizer": "charset_normalizer", "grpcio": "grpc", "protobuf": "google", "pyyaml": "yaml"}
"""Import names of left-out distributions, if they differ from the distribution's name."""


OPTIONAL = {"anyio", "google", "h2"}
"""Imported for options that Passage does not use. The packages with the option say themselves what is missing."""


def left_out() -> list[str]:
    lines = (LAYER / "left-out.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def stubs() -> list[str]:
    listed = tomllib.loads((LAYER / "prune.toml").read_text(encoding="utf-8"))
    return [str(name) for name in listed["stubs"]]


def pinned(path: Path) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)", path.read_text(encoding="utf-8"), re.MULTILINE))


def machine(shared_object: Path) -> int:
    return int(struct.unpack_from("<H", shared_object.read_bytes()[:20], 18)[0])


def test_size_is_within_the_limit_and_the_table_says_so(artefact: Artefact, tmp_path: Path) -> None:
    """75 MB with the Edge store alone was the goal; the one layer has both stores."""
    (tmp_path / "DependenciesLayer").symlink_to(artefact.layer)
    (tmp_path / "RetrievalFunction").symlink_to(artefact.function)
    printed = run(sys.executable, ROOT / "layers" / "size.py", tmp_path).stdout
    total = re.search(r"function and layer +([0-9.]+) MB", printed)
    assert total is not None
    assert 30 < float(total[1]) <= 75
    assert "qdrant_edge" in printed
    assert "handler" in printed


def test_every_module_has_bytecode_that_no_time_stamp_can_void(artefact: Artefact) -> None:
    code = "import importlib.util as u, sys; print(u.MAGIC_NUMBER.hex(), sys.implementation.cache_tag)"
    magic, tag = run(artefact.python, "-c", code).stdout.split()
    for folder, place in ((artefact.layer / "python", "/opt/python"), (artefact.function, "/var/task")):
        modules = list(folder.rglob("*.py"))
        assert modules
        for module in modules:
            bytecode = (module.parent / "__pycache__" / f"{module.stem}.{tag}.pyc").read_bytes()
            assert bytecode[:4].hex() == magic
            assert struct.unpack("<I", bytecode[4:8]) == (UNCHECKED_HASH,)
            assert f"{place}/{module.relative_to(folder)}".encode() in bytecode


def test_every_bytecode_file_has_its_module(artefact: Artefact) -> None:
    for folder in (artefact.layer, artefact.function):
        for bytecode in folder.rglob("*.pyc"):
            assert (bytecode.parent.parent / f"{bytecode.name.split('.')[0]}.py").exists(), bytecode


def test_layer_has_no_files_that_never_run(artefact: Artefact) -> None:
    files = [path.relative_to(artefact.layer / "python") for path in (artefact.layer / "python").rglob("*")]
    unwanted = [path for path in files if path.suffix in (".pyi", ".exe") or path.parts[0] in ("bin", ".lock")]
    unwanted += [path for path in files if "tests" in path.parts]
    assert unwanted == []
    assert {path.name for path in artefact.function.iterdir()} == {"handler"}


def test_layer_has_exactly_the_pinned_packages(artefact: Artefact) -> None:
    shipped = pinned(LAYER / "requirements.txt")
    assert set(shipped) & set(left_out()) == set()
    found = {
        path.name.split("-")[0].replace("_", "-").lower() for path in (artefact.layer / "python").glob("*.dist-info")
    }
    assert found == set(shipped)


def test_layer_has_the_versions_of_the_tests() -> None:
    developed = pinned(ROOT / "requirements" / "dev.txt")
    assert {name: developed.get(name) for name in pinned(LAYER / "requirements.txt")} == pinned(
        LAYER / "requirements.txt"
    )


def test_packages_left_out_cannot_be_imported_in_the_artefact(artefact: Artefact) -> None:
    names = {NAMES.get(name, name.replace("-", "_")) for name in left_out()} - set(stubs())
    code = f"import importlib.util as u; print([name for name in {sorted(names)} if u.find_spec(name)])"
    path = ":".join(map(str, artefact.code))
    assert run(artefact.python, "-c", code, env={"PYTHONPATH": path}).stdout.strip() == "[]"


def test_every_import_of_a_shipped_package_is_shipped_or_stubbed(artefact: Artefact) -> None:
    """A left-out package that is imported at module level outside of `try` must have a stub."""
    site = artefact.layer / "python"
    names = {NAMES.get(name, name.replace("-", "_")) for name in left_out()} - set(stubs()) - OPTIONAL
    unmet: set[tuple[str, str]] = set()
    for module in site.rglob("*.py"):
        dotted = ".".join(module.relative_to(site).with_suffix("").parts)
        for statement in ast.parse(module.read_bytes()).body:
            unmet |= {(dotted, name) for name in _imported(statement) & names}
    assert unmet == set()


def _imported(statement: ast.stmt) -> set[str]:
    if isinstance(statement, ast.Import):
        return {alias.name.split(".")[0] for alias in statement.names}
    if isinstance(statement, ast.ImportFrom) and statement.level == 0 and statement.module:
        return {statement.module.split(".")[0]}
    return set()


def test_every_shipped_package_has_its_metadata_and_its_licence(artefact: Artefact) -> None:
    for metadata in (artefact.layer / "python").glob("*.dist-info"):
        assert (metadata / "METADATA").is_file()
        names = [path.name.upper() for path in metadata.rglob("*")]
        licence = any(name.startswith(("LICEN", "COPYING")) for name in names)
        assert licence, metadata.name


def test_shared_objects_are_of_this_machine(artefact: Artefact) -> None:
    found = {machine(path) for path in artefact.layer.rglob("*.so*")}
    assert len(found) == 1
    assert found == {machine(Path(sys.executable).resolve())}


def test_second_build_reuses_the_first(artefact: Artefact, interpreter: Path) -> None:
    before = {path.name for path in (ROOT / ".passage" / "artefact").iterdir()}
    assert build(ROOT, ROOT / ".passage" / "artefact", interpreter) == artefact
    assert {path.name for path in (ROOT / ".passage" / "artefact").iterdir()} == before


@pytest.mark.parametrize("name", ["qdrant_client", "cohere"])
def test_the_sdks_versions_can_be_read(artefact: Artefact, name: str) -> None:
    """qdrant-client reads its own metadata when a client is created."""
    code = f"import importlib.metadata as m; print(m.version('{name}'))"
    done = run(artefact.python, "-c", code, env={"PYTHONPATH": str(artefact.layer / "python")})
    assert done.stdout.strip() == pinned(LAYER / "requirements.txt")[name.replace("_", "-")]
