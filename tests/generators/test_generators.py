"""What generators of clients and linters make of the OpenAPI documents: clients that compile and ask, and no error."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from programs import NODE, run

FOLDER = Path(__file__).parent
TOOLS = ROOT / ".venv-generators" / "bin"
DOCUMENTS = [ROOT / "docs" / "openapi.json", ROOT / "docs" / "openapi-3.0.json"]


def script(*command: str | Path, cwd: Path) -> str:
    """What a JavaScript program prints."""
    return run(NODE, *command, cwd=cwd).stdout


def program(*command: str | Path, cwd: Path, **environ: str) -> str:
    """What a program prints."""
    return run(*command, cwd=cwd, env={**os.environ, **environ}).stdout


def test_typescript_client_compiles_and_asks_every_contract(api_url: str, tmp_path: Path) -> None:
    modules = FOLDER / "node_modules"
    (tmp_path / "node_modules").symlink_to(modules)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    shutil.copy(FOLDER / "ask.ts", tmp_path)
    script(modules / "openapi-typescript/bin/cli.js", DOCUMENTS[0], "-o", "schema.d.ts", cwd=tmp_path)
    strict = ["--strict", "--noEmit", "--allowImportingTsExtensions", "--target", "es2022", "--module", "nodenext"]
    types = ["--lib", "es2022,dom", "--skipLibCheck"]
    (tmp_path / "node.d.ts").write_text("declare const process: { argv: string[] }\n")
    script(modules / "typescript/bin/tsc", *strict, *types, "ask.ts", "node.d.ts", cwd=tmp_path)
    *statuses, first = json.loads(script("ask.ts", api_url, cwd=tmp_path))
    assert statuses == [200] * 7
    assert first.startswith("http")


def test_python_client_is_typed_and_asks_every_contract(api_url: str, tmp_path: Path) -> None:
    generate = ["generate", "--path", DOCUMENTS[0], "--meta", "none", "--output-path", "passage_api_client"]
    program(
        TOOLS / "openapi-python-client", *generate, "--fail-on-warning", cwd=tmp_path, PATH=f"{TOOLS}:/usr/bin:/bin"
    )
    shutil.copy(FOLDER / "ask.py", tmp_path)
    # Its own `__exit__` is not typed strictly.
    (tmp_path / "mypy.ini").write_text(
        "[mypy]\nstrict = true\n[mypy-passage_api_client.client]\nignore_errors = true\n"
    )
    program(sys.executable, "-m", "mypy", "--python-executable", TOOLS / "python", "ask.py", cwd=tmp_path)
    program(TOOLS / "python", "ask.py", api_url, cwd=tmp_path, PYTHONPATH=str(tmp_path))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_linters_find_no_error(document: Path, tmp_path: Path) -> None:
    assert json.loads(script(FOLDER / "lint.mjs", document, cwd=FOLDER)) == []
    rules = tmp_path / "rules.json"
    rules.write_text('{"extends": ["spectral:oas"]}')
    spectral = FOLDER / "node_modules/@stoplight/spectral-cli/dist/index.js"
    script(spectral, "lint", document, "--ruleset", rules, "--fail-severity", "error", "--quiet", cwd=FOLDER)


def test_go_and_java_clients_are_written(tmp_path: Path) -> None:
    generator = TOOLS / "openapi-generator-cli"
    program(generator, "validate", "-i", DOCUMENTS[1], cwd=tmp_path)
    for language in ("go", "java"):
        program(generator, "generate", "-i", DOCUMENTS[1], "-g", language, "-o", language, cwd=tmp_path)
    assert "func NewContextRequest(text string)" in (tmp_path / "go/model_context_request.go").read_text()
    (request,) = (tmp_path / "java").rglob("src/main/**/ContextRequest.java")
    assert "Map<String, Object> filters" in request.read_text()
