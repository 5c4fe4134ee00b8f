"""Prune the packages in a folder as `prune.toml` says: `python -m prune <folder of the layer's packages>`.

Modules are replaced as a whole or edited by a few words. Python's code is neither parsed for what it calls nor cut.
"""

import ast
import re
import shutil
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIST = HERE / "prune.toml"
NOTICE = "# Changed by the build of Passage's layer: layers/dependencies/prune.toml in its repository says how.\n"


class PruneFailed(Exception):
    """A package does not fit the list. The message names the line."""


def main() -> int:
    """0, or 1 with a message on stderr."""
    listed = tomllib.loads(LIST.read_text(encoding="utf-8"))
    site = Path(sys.argv[1])
    try:
        shutil.copyfile(HERE / "passage_stub.py", site / "passage_stub.py")
        remove(site, listed["removed"])
        for pattern in listed["stubs"]:
            write_stubs(site, pattern)
        for package in listed["lazy"]:
            make_lazy(site, package)
        for module, edits in listed["edits"].items():
            edit(site, module, edits)
    except PruneFailed as failure:
        sys.stderr.write(
            f"\n*** THE LAYER CANNOT BE PRUNED: {failure}\n"
            "*** A new release of an SDK may have changed: adapt layers/dependencies/prune.toml.\n"
            "*** PRUNE=0 builds the layer unpruned. It works as well; only the cold start takes longer.\n\n"
        )
        return 1
    return 0


def remove(site: Path, patterns: Sequence[str]) -> None:
    """Delete files and folders. Raises PruneFailed when a pattern matches none."""
    for pattern in patterns:
        found = sorted(site.glob(pattern))
        if not found:
            raise PruneFailed(f"`removed` names {pattern}, which is not there")
        for path in found:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def write_stubs(site: Path, pattern: str) -> None:
    """Put a stub in the place of each module that matches, or of a package that the layer is built without.

    Raises:
        PruneFailed: an installed package has no such module.
    """
    if "." not in pattern and not (site / pattern).exists():
        (site / pattern).mkdir()
        (site / pattern / "__init__.py").touch()
    found = sorted(site.glob(pattern.replace(".", "/") + ".py")) or sorted(site.glob(f"{pattern}/__init__.py"))
    if not found:
        raise PruneFailed(f"`stubs` names {pattern}, and there is no such module")
    for path in found:
        module = ".".join(path.relative_to(site).with_suffix("").parts)
        remedy = f"Remove {pattern!r} from `stubs` in layers/dependencies/prune.toml, and build the layer again."
        _write(path, f"from passage_stub import stub_module\n\n__getattr__ = stub_module({module!r}, {remedy!r})\n")


def make_lazy(site: Path, package: str) -> None:
    """Have a package import what it re-exports when it is asked for. What its other statements use stays imported.

    Raises:
        PruneFailed: there is no such package.
    """
    path = site.joinpath(*package.split("."), "__init__.py")
    if not path.is_file():
        raise PruneFailed(f"`lazy` names {package}, and there is no such package")
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    places: dict[str, tuple[str, str]] = {}
    body = ast.parse(text).body
    used = {node.id for each in body for node in ast.walk(each) if isinstance(node, ast.Name)}
    for statement in body:
        if not isinstance(statement, ast.ImportFrom) or not statement.module:
            continue
        origin = f"{package}.{statement.module}" if statement.level else statement.module
        names = {alias.asname or alias.name: alias.name for alias in statement.names}
        # A name that is its module's too would be the module, once that is imported.
        if not origin.startswith(package) or used & {*names} or origin.rpartition(".")[2] in names:
            continue
        places |= {name: (origin, original) for name, original in names.items()}
        for number in range(statement.lineno, (statement.end_lineno or 0) + 1):
            lines[number - 1] = ""
    lines += ["from passage_stub import lazy_names", f"__getattr__ = lazy_names({package!r}, {places!r})"]
    _write(path, "\n".join(lines) + "\n")


def edit(site: Path, module: str, edits: Mapping[str, str]) -> None:
    """Replace lines of a module, given as regular expressions. The others keep their numbers, plus one.

    Raises:
        PruneFailed: a line is not there.
    """
    path = site.joinpath(*module.split(".")).with_suffix(".py")
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    for old, new in edits.items():

        def put(found: re.Match[str], new: str = new) -> str:
            return found.expand(new) + "\n" * found[0].count("\n")

        text, count = re.subn(f"^{old}", put, text, flags=re.MULTILINE)
        if not count:
            raise PruneFailed(f"`edits` names the line {old!r} of {module}, which is not there")
    _write(path, text)


def _write(path: Path, text: str) -> None:
    """An installed file is a hard link to uv's cache: writing into it would change the package everywhere."""
    path.unlink(missing_ok=True)
    path.write_text(NOTICE + text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
