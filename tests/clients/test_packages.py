"""The packages of the clients and the widget are fit to be published, by the registries' own checks."""

import json
import os
import tarfile
from email import message_from_bytes
from pathlib import Path

import pytest

from conftest import ROOT
from programs import NODE, NPM, run
from tools import packages

REPOSITORY = "https://github.com/owner/passage"
TWINE = ROOT / ".venv-generators" / "bin" / "twine"
GENERATORS = ROOT / "tests" / "generators"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return packages.write(tmp_path_factory.mktemp("packages"), REPOSITORY)


def test_python_package_passes_twine_and_names_its_repository(written: dict[str, Path]) -> None:
    files = sorted((written["python"] / "dist").glob("passage_client-*"))
    assert [path.suffix for path in files] == [".whl", ".gz"]
    assert run(TWINE, "check", "--strict", *files).stdout.count("PASSED") == 2
    with tarfile.open(files[1]) as archive:
        (name,) = (name for name in archive.getnames() if name.endswith("/PKG-INFO"))
        member = archive.extractfile(name)
        assert member is not None
        described = message_from_bytes(member.read())
    assert described.get_all("Project-URL") == [f"Homepage, {REPOSITORY}", f"Repository, {REPOSITORY}"]
    assert (described["License-Expression"], described["License-File"]) == ("Apache-2.0", "LICENSE")
    assert described["Keywords"]
    assert len(described.get_all("Classifier") or ()) > 5


@pytest.mark.parametrize("name", ["javascript", "widget"])
def test_npm_package_passes_the_checks_of_a_publication(name: str, written: dict[str, Path], tmp_path: Path) -> None:
    folder = written[name]
    env = {**os.environ, "npm_config_cache": str(tmp_path), "npm_config_update_notifier": "false"}
    published = run(*NPM, "publish", "--dry-run", "--json", "--offline", cwd=folder, env=env)
    assert "auto-corrected" not in published.stderr
    (packed,) = json.loads(run(*NPM, "pack", "--json", "--offline", cwd=folder, env=env).stdout)
    tarball = folder / packed["filename"]
    assert json.loads(run(NODE, GENERATORS / "package.mjs", folder, tarball, cwd=GENERATORS).stdout) == []
    described = json.loads((folder / "package.json").read_text(encoding="utf-8"))
    assert described["repository"]["url"] == f"git+{REPOSITORY}.git"
    assert {"homepage", "license", "keywords", "files", "exports"} <= described.keys()
    files = {file["path"] for file in packed["files"]}
    assert {"LICENSE", "README.md", "package.json"} <= files
    assert not any("node_modules" in path or path.startswith(("src", "test")) for path in files)
