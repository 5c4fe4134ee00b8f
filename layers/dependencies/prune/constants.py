"""Writes down at build time what a module would otherwise work out at each import."""

import ast
import re
from pathlib import Path

from prune.failure import PruneFailed
from prune.source import NOTICE, Source, file_of, write


def write_versions(site: Path, module: str) -> None:
    """Write a package's version in the place of each call of `importlib.metadata.version`.

    Raises:
        PruneFailed: the module calls it nowhere, or the package is not installed.
    """
    path = file_of(site, module)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    tree = ast.parse("".join(lines))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _asks_version(node)]
    if not calls:
        raise PruneFailed(f"`versions` names {module}, which has no importlib.metadata.version('…')")
    for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset), reverse=True):
        line = lines[call.lineno - 1]
        version = _version(site, ast.literal_eval(call.args[0]))
        lines[call.lineno - 1] = f"{line[: call.col_offset]}{version!r}{line[call.end_col_offset :]}"
    write(path, "".join(lines))


def make_dicts(site: Path, module: str) -> None:
    """Put `dict` in the place of each TypedDict class.

    Raises:
        PruneFailed: the module has none.
    """
    path = file_of(site, module)
    source = Source(path.read_text(encoding="utf-8"))
    known = {"TypedDict"}
    for statement in source.tree.body:
        if isinstance(statement, ast.ClassDef) and any(ast.unparse(base) in known for base in statement.bases):
            known.add(statement.name)
            source.replace(statement, f"{statement.name} = dict")
    if len(known) == 1:
        raise PruneFailed(f"`typed_dicts` names {module}, which has no TypedDict")
    write(path, source.text())


def replace(site: Path, module: str, text: str) -> None:
    """Put other text in the place of a module's.

    Raises:
        PruneFailed: there is no such module.
    """
    write(file_of(site, module), f"{NOTICE}\n{text}")


def _asks_version(call: ast.Call) -> bool:
    named = len(call.args) == 1 and isinstance(call.args[0], ast.Constant) and call.lineno == call.end_lineno
    return named and ast.unparse(call.func) == "importlib.metadata.version"


def _version(site: Path, distribution: str) -> str:
    name = distribution.replace("-", "_")
    for metadata in site.glob(f"{name}-*.dist-info/METADATA"):
        found = re.search(r"^Version: (\S+)$", metadata.read_text(encoding="utf-8"), re.MULTILINE)
        if found:
            return found[1]
    raise PruneFailed(f"{distribution} is not installed; its version is asked for")
