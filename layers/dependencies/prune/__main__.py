"""Prune the packages in a folder as `prune.toml` says, and check that what is left does what Passage asks of it.

python -m prune <folder of the layer's packages> --uv uv
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from prune.constants import make_dicts, replace, write_versions
from prune.cut import cut, stub_imports
from prune.failure import PruneFailed
from prune.models import split
from prune.stubs import make_lazy, write_stub, write_submodules

HERE = Path(__file__).resolve().parent
LIST = HERE.parent / "prune.toml"
REQUIREMENTS = HERE.parent / "requirements.txt"
ALONE = ("-P", "-s", "-S", "-B")
"""An interpreter without installed packages, which writes no bytecode."""

NATIVE = "pydantic-core"
"""The one compiled package that importing the others needs. The layer's may be of another processor or Python."""


def main() -> int:
    """0, or 1 with a message on stderr."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("site", type=Path)
    parser.add_argument("--uv", default="uv")
    options = parser.parse_args()
    try:
        prune(options.site, tomllib.loads(LIST.read_text(encoding="utf-8")))
        check(options.site, options.uv)
    except PruneFailed as failure:
        sys.stderr.write(
            f"\n*** THE LAYER CANNOT BE PRUNED: {failure}\n"
            "*** A new release of an SDK may have changed: adapt layers/dependencies/prune.toml.\n"
            "*** PRUNE=0 builds the layer unpruned. It works as well; only the cold start takes longer.\n\n"
        )
        return 1
    return 0


def prune(site: Path, listed: dict[str, Any]) -> None:
    """Do to the packages in `site` what the list says.

    Raises:
        PruneFailed: a package does not fit the list.
    """
    shutil.copyfile(HERE / "passage_stub.py", site / "passage_stub.py")
    models = listed["models"]
    split(
        site, models["module"], models["later"], models["calls_at_once"], models["calls_later"], names=models["names"]
    )
    _write_constants(site, listed)
    _cut(site, listed)
    for module in listed["stubs"]:
        write_stub(site, module)
    write_submodules(site, listed["stubs"])
    _remove(site, listed["removed"])


def _write_constants(site: Path, listed: dict[str, Any]) -> None:
    for module in listed["versions"]:
        write_versions(site, module)
    for module in listed["typed_dicts"]:
        make_dicts(site, module)
    for module, text in listed["replaced"].items():
        replace(site, module, text)


def _cut(site: Path, listed: dict[str, Any]) -> None:
    for module, kept in listed["keep"].items():
        cut(site, module, kept, listed["stubbed_imports"].get(module, ()))
    for module, stubbed in listed["stubbed_imports"].items():
        if module not in listed["keep"]:
            stub_imports(site, module, stubbed)
    for package in listed["lazy"]:
        make_lazy(site, package)


def _remove(site: Path, patterns: Sequence[str]) -> None:
    for pattern in patterns:
        found = sorted(site.glob(pattern))
        if not found:
            raise PruneFailed(f"`removed` names {pattern}, which is not there")
        for path in found:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def check(site: Path, uv: str) -> None:
    """Import and call the pruned packages in a fresh interpreter that has nothing else.

    Raises:
        PruneFailed: an import or a call failed.
    """
    with tempfile.TemporaryDirectory() as folder:
        places = [str(site)]
        if _run(sys.executable, *ALONE, "-c", "import pydantic_core", path=places):
            _install_native(Path(folder), uv)
            places.insert(0, folder)
        problem = _run(sys.executable, *ALONE, str(HERE / "check.py"), path=places)
    if problem:
        raise PruneFailed(f"what is left of it does not work.\n{problem}")


def _install_native(folder: Path, uv: str) -> None:
    entries = re.split(r"\n(?=[a-z])", REQUIREMENTS.read_text(encoding="utf-8"))
    pin = folder / "requirements.txt"
    pin.write_text("\n".join(entry for entry in entries if entry.startswith(f"{NATIVE}==")) + "\n", encoding="utf-8")
    options = ("--quiet", "--no-deps", "--only-binary", ":all:", "--require-hashes", "--target", str(folder))
    problem = _run(uv, "pip", "install", "--python", sys.executable, *options, "-r", str(pin))
    if problem:
        raise PruneFailed(f"{NATIVE} for this machine is needed to check it, and was not installed.\n{problem}")


def _run(*command: str, path: Sequence[str] = ()) -> str:
    """What a command that failed printed; empty if it did not fail.

    Args:
        path: folders that Python imports from.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)  # noqa: S603
    return (done.stdout + done.stderr or "It failed.") if done.returncode else ""


if __name__ == "__main__":
    sys.exit(main())
