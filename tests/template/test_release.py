"""The name of a release changes with its code, template or parameters."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT


def _name(build: Path, *parameters: str) -> str:
    command = [sys.executable, str(ROOT / "layers" / "release.py"), str(build), *parameters]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def build(tmp_path: Path) -> Path:
    folder = tmp_path / "build"
    (folder / "RetrievalFunction").mkdir(parents=True)
    (folder / "RetrievalFunction" / "app.py").write_text("one", encoding="utf-8")
    (folder / "template.yaml").write_text("Resources: {}", encoding="utf-8")
    return folder


def test_same_build_in_another_folder_has_the_same_release_id(build: Path, tmp_path: Path) -> None:
    first = _name(build, "Architecture=arm64")
    assert first == _name(Path(shutil.copytree(build, tmp_path / "elsewhere")), "Architecture=arm64")
    assert len(first) == 20
    assert first.isalnum(), "ReleaseId's pattern"


def test_changed_code_template_or_parameters_change_release_id(build: Path) -> None:
    names = [_name(build), _name(build, "CohereApiKey=secret"), _name(build, "CohereApiKey=secret", "MemorySize=512")]
    (build / "RetrievalFunction" / "app.py").write_text("two", encoding="utf-8")
    names.append(_name(build))
    (build / "template.yaml").write_text("Resources: {A: {}}", encoding="utf-8")
    names.append(_name(build))
    (build / "RetrievalFunction" / "app.py").rename(build / "RetrievalFunction" / "other.py")
    names.append(_name(build))
    assert len(set(names)) == 6


def test_make_deploy_passes_the_release_id(build: Path, tmp_path: Path) -> None:
    """PARAMETERS may span several lines."""
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines(keepends=True)
    start = next(number for number, line in enumerate(recipe) if line.startswith("deploy:"))
    end = next(number for number in range(start, len(recipe)) if not recipe[number].strip())
    lines = [line for line in recipe[start + 1 : end] if "test " not in line and "$(MAKE)" not in line]
    copy = tmp_path / "Makefile"
    variables = {"SHELL": "/bin/bash", "ENV": "prod", "BIN": Path(sys.executable).parent, "BUILD": build}
    head = "".join(f"{name} := {value}\n" for name, value in variables.items())
    copy.write_text(f"{head}SAM := printf '%s\\n'\ndeploy:\n{''.join(lines)}", encoding="utf-8")
    parameters = "CohereApiKeySecretArn=arn:aws:secretsmanager:x#cohere\n  QdrantUrl=https://cluster.example"
    parameters += r" EdgeIndexBucket=\"\""
    done = subprocess.run(
        [str(shutil.which("make")), "-s", "-f", str(copy), "deploy", f"PARAMETERS={parameters}"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    words = done.stdout.split()
    assert {"CohereApiKeySecretArn=arn:aws:secretsmanager:x#cohere", "QdrantUrl=https://cluster.example"} <= set(words)
    assert 'EdgeIndexBucket=""' in words, "SAM takes no value for none only in quotes"
    overrides = words[words.index("--parameter-overrides") + 1 : -1]
    assert words[-1] == f"ReleaseId={_name(build, *overrides)}"
    assert "Deployment=Canary10Percent5Minutes" in overrides
