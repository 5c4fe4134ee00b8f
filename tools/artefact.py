"""Builds the function and its layer as they are deployed, for this machine, and a Python without other packages."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from tools.runtime import architecture

LAMBDA_PYTHON = "3.13"
"""The version that template.yaml names."""

FROM_THE_RUNTIME = (
    "awslambdaric",
    "boto3",
    "botocore",
    "jmespath",
    "python-dateutil",
    "s3transfer",
    "simplejson",
    "six",
    "snapshot-restore-py",
    "urllib3",
)
"""Packages of Lambda's runtime: its client and the AWS SDK, with their dependencies."""

KEPT_SECONDS = 24 * 3600
"""How long an unused build is kept."""


class BuildFailed(Exception):
    """A recipe or an installation failed. The message has its output."""


@dataclass(frozen=True, slots=True)
class Artefact:
    """Folders of a deployment, and the interpreter that runs it.

    Attributes:
        python: an interpreter without installed packages.
        runtime: the packages of Lambda's runtime.
    """

    python: Path
    function: Path
    layer: Path
    runtime: Path

    @property
    def code(self) -> tuple[Path, ...]:
        """Where to import from, in Lambda's order."""
        return self.function, self.layer / "python", self.runtime


def find_python(version: str = LAMBDA_PYTHON) -> Path | None:
    """An interpreter of that version, on PATH, pyenv's or uv's. Each is run: a name on PATH may be a broken shim."""
    candidates = [f"python{version}", *map(str, Path.home().glob(f".pyenv/versions/{version}*/bin/python{version}"))]
    for candidate in (*candidates, _known_to_uv(version)):
        said = _said(candidate, "-c", "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)").split(" ", 1)
        if said[0] == version:
            return Path(said[1].strip())
    return None


def build(root: Path, cache: Path, python: Path, *, bytecode: bool = True, pruned: bool = True) -> Artefact:
    """Build by the recipes that `sam build` runs, once for each state of their inputs.

    Args:
        root: the repository.
        cache: a folder for the builds.
        python: the interpreter to build for; the layer's packages are of its version.
        pruned: False for the layer with its packages as they are published.

    Raises:
        BuildFailed: a recipe failed.
    """
    version = _said(str(python), "-c", "import sys; print('%d.%d' % sys.version_info[:2])").strip()
    processor = architecture()
    facts = (version, processor, str(python), str(bytecode), str(pruned))
    dependencies, source, pins = root / "layers" / "dependencies", root / "src", root / "requirements" / "dev.txt"
    handed = {
        "ARCHITECTURE": processor,
        "PYTHON_VERSION": version,
        "COMPILER": str(python) if bytecode else "",
        "PRUNE": str(int(pruned)),
        "UV": _uv(),
    }

    def layer(out: Path) -> None:
        recipe = dependencies / processor / "Makefile"
        _run(["make", "-s", "-f", str(recipe), "build-DependenciesLayer"], dependencies, out, handed)

    def function(out: Path) -> None:
        _run(["make", "-s", "build-RetrievalFunction"], source, out, handed)

    def runtime(out: Path) -> None:
        (out / "requirements.txt").write_text(_pinned(pins, FROM_THE_RUNTIME), encoding="utf-8")
        _install(out, out / "requirements.txt", python)

    def interpreter(out: Path) -> None:
        _run([str(python), "-m", "venv", "--without-pip", "--symlinks", str(out)], root, out, {})

    return Artefact(
        python=_once(cache, "python", _digest([], facts), interpreter) / "bin" / "python",
        function=_once(cache, "function", _digest([source / "handler", source / "Makefile"], facts), function),
        layer=_once(cache, "layer", _digest([dependencies], facts), layer),
        runtime=_once(cache, "runtime", _digest([pins], facts), runtime),
    )


def installed(requirements: Path, cache: Path, python: Path) -> Path:
    """A folder with the packages of a pinned list, byte-compiled for that interpreter.

    Raises:
        BuildFailed: it could not be installed.
    """

    def packages(out: Path) -> None:
        _install(out, requirements, python)

    return _once(cache, "installed", _digest([requirements], [str(python)]), packages)


def _install(out: Path, requirements: Path, python: Path) -> None:
    command = [_uv(), "pip", "install", "--quiet", "--python", str(python), "--target", str(out), "--no-deps"]
    command += ["--only-binary", ":all:", "--require-hashes", "--compile-bytecode", "-r", str(requirements)]
    _run(command, out, out, {})


def _uv() -> str:
    beside = Path(sys.executable).parent / "uv"
    return str(beside) if beside.exists() else "uv"


def _known_to_uv(version: str) -> str:
    return _said(_uv(), "python", "find", "--no-python-downloads", version).strip()


def _said(*command: str) -> str:
    """A command's output; empty if there is no such command or it fails."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return ""


def _run(command: list[str], folder: Path, out: Path, variables: dict[str, str]) -> None:
    environment = {**os.environ, **variables, "ARTIFACTS_DIR": str(out)}
    environment.pop("MAKEFLAGS", None)  # of a make that runs us
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise BuildFailed(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")


def _pinned(requirements: Path, names: Iterable[str]) -> str:
    """The entries of a list for these names, with their hashes."""
    entries = re.split(r"\n(?=[a-z])", requirements.read_text(encoding="utf-8"))
    return "\n".join(entry for entry in entries if entry.split("==")[0] in names) + "\n"


def _digest(paths: Iterable[Path], facts: Iterable[str]) -> str:
    found = hashlib.sha256("\n".join(facts).encode())
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and "__pycache__" not in file.parts:
                found.update(f"\n{file.relative_to(path)}\n".encode())
                found.update(file.read_bytes())
    return found.hexdigest()[:16]


def _once(cache: Path, kind: str, digest: str, make: Callable[[Path], None]) -> Path:
    """The folder of a build. It is made elsewhere and then renamed, so an existing folder is complete."""
    place = cache.resolve() / f"{kind}-{digest}"
    if not place.exists():
        cache.mkdir(parents=True, exist_ok=True)
        for old in cache.glob(f"{kind}-*"):
            if time.time() - old.stat().st_mtime > KEPT_SECONDS:
                shutil.rmtree(old, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=cache, ignore_cleanup_errors=True) as folder:
            make(Path(folder).resolve())
            try:
                Path(folder).rename(place)
            except OSError:  # another process was quicker
                if not place.exists():
                    raise
    place.touch()
    return place
