"""`make build`, its recipes, and the environments of samconfig.toml."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from artefact.test_artefact_contents import MACHINES, machine
from conftest import ROOT
from programs import run
from template.cloudformation import expanded
from tools.artefact import Artefact
from tools.runtime import architecture

LOCAL = architecture()
ENVIRONMENTS = ("dev", "staging", "prod")


def make(*arguments: str, folder: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    outer = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "ENV", "ARCH")}
    outer["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{outer['PATH']}"
    return subprocess.run(
        ["make", *arguments],  # noqa: S607
        capture_output=True,
        text=True,
        cwd=folder,
        env=outer | environment,
        check=False,
    )


@pytest.fixture(scope="module")
def samconfig() -> dict[str, Any]:
    return tomllib.loads((ROOT / "samconfig.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def parameters() -> dict[str, Any]:
    return dict(expanded()["Parameters"])


def test_make_build_builds_the_architecture_and_prints_the_size(artefact: Artefact, tmp_path: Path) -> None:
    """The requested processor differs from this machine's."""
    own = machine(next(artefact.layer.rglob("*.so*")))
    architecture = next(name for name, number in MACHINES.items() if number != own)
    done = make("build", f"ARCH={architecture}", f"BUILD={tmp_path / 'build'}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "function and layer" in done.stdout
    layer = tmp_path / "build" / "DependenciesLayer"
    assert {machine(path) for path in layer.rglob("*.so*")} == {MACHINES[architecture]}
    assert (tmp_path / "build" / "RetrievalFunction" / "handler" / "app.py").exists()
    assert (tmp_path / "build" / "template.yaml").exists()


def test_make_build_with_prune_0_ships_the_packages_whole(tmp_path: Path) -> None:
    done = make("build", f"ARCH={LOCAL}", "PRUNE=0", f"BUILD={tmp_path / 'build'}")
    assert done.returncode == 0, done.stdout + done.stderr
    site = tmp_path / "build" / "DependenciesLayer" / "python"
    assert not (site / "passage_stub.py").exists()
    assert (site / "numpy" / "linalg").is_dir()
    assert (site / "qdrant_client" / "local" / "qdrant_local.py").exists()


def test_sam_builds_without_a_python_of_lambdas_version(artefact: Artefact, tmp_path: Path) -> None:
    """SAM's builder for Python needs that Python on PATH; the recipes only leave out the bytecode."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("chmod", "cp", "find", "make", "mkdir", "printf", "rm", "sh"):
        (tools / name).symlink_to(str(shutil.which(name)))
    (tools / "uv").symlink_to(Path(sys.executable).parent / "uv")
    (tools / "python3").symlink_to(Path(sys.executable).resolve())  # uv wants one, of whatever version
    own = machine(next(artefact.layer.rglob("*.so*")))
    architecture = next(name for name, number in MACHINES.items() if number == own)
    # Another home has no pyenv and no Python of uv's. What uv has to know of the package index stays.
    kept = {name: value for name, value in os.environ.items() if name.startswith(("UV_", "PIP_", "SSL_"))}
    cache = run(tools / "uv", "cache", "dir").stdout.strip()
    settings = os.environ.get("XDG_CONFIG_HOME", str(Path.home() / ".config"))
    done = subprocess.run(
        [
            *(str(ROOT / ".venv-sam" / "bin" / "sam"), "build", "--build-dir", str(tmp_path / "build")),
            *("--parameter-overrides", f"Architecture={architecture}"),
        ],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={
            "UV_CACHE_DIR": cache,
            "XDG_CONFIG_HOME": settings,
            **kept,
            "PATH": str(tools),
            "HOME": str(tmp_path / "home"),
            "ARCHITECTURE": architecture,
            "AWS_DEFAULT_REGION": "eu-central-1",
            "SAM_CLI_TELEMETRY": "0",
        },
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = "*** NO BYTECODE IN THE LAYER" in done.stdout + done.stderr
    assert told == (sys.version_info[:2] != (3, 13))
    assert (tmp_path / "build" / "RetrievalFunction" / "handler" / "app.py").exists()
    assert (tmp_path / "build" / "DependenciesLayer" / "python" / "cohere").is_dir()


@pytest.mark.parametrize("architecture", sorted(MACHINES))
def test_templates_edge_folder_overrides_the_environment(architecture: str, tmp_path: Path) -> None:
    """SAM runs <ContextPath>/Makefile in a copy of the layer's folder; the path holds the template's parameter."""
    copy = tmp_path / "copy"
    shutil.copytree(ROOT / "layers" / "dependencies", copy)
    recipe = ROOT / "layers" / "dependencies" / architecture / "Makefile"
    done = make(
        "--makefile",
        str(recipe),
        "--dry-run",
        "build-DependenciesLayer",
        folder=copy,
        ARTIFACTS_DIR=str(tmp_path / "out"),
        ARCHITECTURE="nonsense",
    )
    assert done.returncode == 0, done.stderr
    assert f"--python-platform {'aarch64' if architecture == 'arm64' else 'x86_64'}-manylinux_2_28" in done.stdout


def test_every_template_architecture_has_a_layer_folder(parameters: dict[str, Any]) -> None:
    allowed = parameters["Architecture"]["AllowedValues"]
    assert set(allowed) == set(MACHINES)
    for name in allowed:
        assert (ROOT / "layers" / "dependencies" / name / "Makefile").exists()


@pytest.mark.parametrize(
    ("folder", "target"), [("layers/dependencies", "build-DependenciesLayer"), ("src", "build-RetrievalFunction")]
)
def test_without_a_compiler_no_bytecode_is_built_with_a_banner(folder: str, target: str, tmp_path: Path) -> None:
    """On stdout: SAM hides the stderr of a recipe that succeeds."""
    done = make("-s", target, folder=ROOT / folder, ARTIFACTS_DIR=str(tmp_path), COMPILER="")
    assert done.returncode == 0, done.stderr
    assert "*** NO BYTECODE" in done.stdout
    assert list(tmp_path.rglob("*.pyc")) == []


@pytest.mark.parametrize(
    ("target", "package"), [("RetrievalFunction", "handler"), ("ReleaseCheckFunction", "release_check")]
)
def test_a_function_is_one_package_that_everyone_may_read(target: str, package: str, tmp_path: Path) -> None:
    """Lambda reads the files as another user than the one who built them, whatever that one's umask."""
    command = f"umask 077; make -s build-{target} ARTIFACTS_DIR={tmp_path} COMPILER="
    run("bash", "-c", command, cwd=ROOT / "src")
    assert [path.name for path in tmp_path.iterdir()] == [package]
    assert (tmp_path / package / "app.py").exists()
    modes = {(path.is_dir(), path.stat().st_mode & 0o005) for path in tmp_path.rglob("*")}
    assert modes <= {(True, 0o005), (False, 0o004), (False, 0o005)}


def test_a_build_above_the_limit_fails(tmp_path: Path) -> None:
    layer = tmp_path / "DependenciesLayer" / "python"
    layer.mkdir(parents=True)
    with (layer / "large.so").open("wb") as file:
        file.truncate(80_000_000)
    command = [sys.executable, str(ROOT / "layers" / "size.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "above the limit of 75 MB" in done.stdout


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_overrides_are_template_parameters_and_never_secrets(
    samconfig: dict[str, Any], parameters: dict[str, Any], environment: str
) -> None:
    deploy = samconfig[environment]["deploy"]["parameters"]
    assert deploy["confirm_changeset"] == (environment != "dev"), "outside development, a person confirms the changes"
    overrides = [line.partition("=") for line in deploy["parameter_overrides"]]
    assert "Architecture" in [name for name, _, _ in overrides]
    for name, _, value in overrides:
        allowed = parameters[name].get("AllowedValues")
        assert not parameters[name].get("NoEcho")
        assert allowed is None or value in [str(item) for item in allowed]


@pytest.mark.parametrize("target", ["build", "deploy", "logs", "destroy"])
def test_unknown_environment_is_named(target: str) -> None:
    done = make(target, "ENV=prd")
    assert done.returncode != 0
    assert "dev, staging and prod" in done.stderr


def test_the_shells_own_variable_named_env_is_not_an_environment() -> None:
    done = make("--dry-run", "build", ENV="/home/user/.shrc")
    assert "--config-env dev " in done.stdout


def test_deployment_has_the_architecture_of_its_environment() -> None:
    done = make("deploy", "ARCH=x86_64")
    assert done.returncode != 0
    assert "samconfig.toml" in done.stderr
    dry = make("--dry-run", "deploy", "ENV=prod", "PARAMETERS=QdrantUrl=https://host").stdout
    assert "Architecture=arm64" in dry
    assert "sam deploy --config-env prod" in dry
    assert "QdrantUrl=https://host" in dry
    # Given a template, SAM would deploy the sources as they are, not what was built.
    deploy = dry[dry.index("sam deploy ") :]
    assert "--template" not in deploy
    assert " -t " not in deploy


def test_layer_folder_has_no_file_of_the_function() -> None:
    """ContentUri is the layer's source. With code in it, every edit would build the layer again."""
    assert "ContentUri: layers/dependencies\n" in (ROOT / "template.yaml").read_text(encoding="utf-8")
    folder = ROOT / "layers" / "dependencies"
    held = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    recipes = {f"{architecture}/Makefile" for architecture in MACHINES}
    recipes |= {"Makefile", "passage_stub.py", "prune.py", "prune.toml"}
    assert held == {"left-out.txt", "qdrant-edge-py.LICENSE", "requirements-unpruned.txt", "requirements.txt"} | recipes
