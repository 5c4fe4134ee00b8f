"""Cuts a module to the names that are listed, and to what these reach within the module."""

import ast
import builtins
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from prune.failure import PruneFailed
from prune.source import Source, defined, file_of, used, write

Kept = Mapping[str, Sequence[str] | Literal["all"]]
"""A module's classes and functions: the methods that stay, or "all"."""

LIST = "layers/dependencies/prune.toml"


def cut(site: Path, module: str, kept: Kept, stubbed: Collection[str]) -> None:
    """Write the module without the rest. What was removed becomes a stub, whose error says how to have it back.

    Args:
        stubbed: modules whose imports become stubs in this module alone.

    Raises:
        PruneFailed: the module or one of its listed names does not exist.
    """
    path = file_of(site, module)
    source = Source(path.read_text(encoding="utf-8"))
    section = f'[keep."{module}"]'
    body = source.tree.body
    classes = {node.name: node for node in body if isinstance(node, ast.ClassDef)}
    gone = _methods_gone(module, classes, kept)
    by_name = {name: statement for statement in body for name in defined(statement)}
    for name in kept:
        if name not in by_name:
            raise PruneFailed(f"{section} names {name}, which {module} does not have")
    reached = _reached(body, by_name, kept, gone)

    removed = set()
    source.begin("from __future__ import annotations")  # they name what is removed; Python need not evaluate them
    for statement in body:
        names = defined(statement)
        if names and not names & reached:
            source.remove(statement)
            removed |= names
        elif isinstance(statement, ast.ImportFrom | ast.Import):
            _narrow(source, statement, reached, stubbed, module)
    for name, methods in gone.items():
        for method in methods:
            source.remove(method)
        if methods and len(methods) == len(classes[name].body):
            source.replace(methods[0], "pass")
    _add_stubs(source, module, removed, {name: gone[name] for name in gone if name in reached}, section)
    write(path, source.text())


def stub_imports(site: Path, module: str, stubbed: Collection[str]) -> None:
    """Put stubs in the place of what a module imports from other modules, and keep the rest of it.

    Raises:
        PruneFailed: there is no such module, or it imports nothing from one of them.
    """
    path = file_of(site, module)
    source = Source(path.read_text(encoding="utf-8"))
    found = [each for each in source.tree.body if isinstance(each, ast.ImportFrom) and each.module in stubbed]
    absent = sorted({*stubbed} - {str(statement.module) for statement in found})
    if absent:
        raise PruneFailed(f"`stubbed_imports` names {absent[0]}, from which {module} imports nothing")
    for statement in found:
        names = {alias.asname or alias.name for alias in statement.names}
        _narrow(source, statement, names, stubbed, module)
    write(path, source.text())


def _methods_gone(module: str, classes: Mapping[str, ast.ClassDef], kept: Kept) -> dict[str, list[ast.stmt]]:
    gone: dict[str, list[ast.stmt]] = {}
    for name, methods in kept.items():
        if methods == "all" or name not in classes:
            continue
        own = [node for node in classes[name].body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        absent = sorted(set(methods) - {method.name for method in own})
        if absent:
            raise PruneFailed(f'[keep."{module}"] names {name}.{absent[0]}, which {module} does not have')
        gone[name] = [method for method in own if method.name not in methods]
    return gone


def _reached(
    body: Iterable[ast.stmt],
    by_name: Mapping[str, ast.stmt],
    kept: Kept,
    gone: Mapping[str, Sequence[ast.stmt]],
) -> set[str]:
    """The module's names that stay: the listed ones, and those that the code that stays reads."""
    reached: set[str] = set()
    unknown = False
    waiting = [*kept]
    for statement in body:
        if not defined(statement):
            waiting += used([statement], annotations=False)
    while waiting:
        name = waiting.pop()
        if name in reached or name not in by_name:
            unknown = unknown or not (name in by_name or hasattr(builtins, name))
            continue
        statement = by_name[name]
        reached |= {name} if isinstance(statement, ast.Import | ast.ImportFrom) else defined(statement)
        waiting += used(_without(statement, gone.get(name, ())), annotations=False)
    return reached | ({"*"} if unknown else set())


def _without(statement: ast.stmt, methods: Sequence[ast.stmt]) -> list[ast.AST]:
    return [child for child in ast.iter_child_nodes(statement) if child not in methods] if methods else [statement]


def _narrow(
    source: Source, statement: ast.Import | ast.ImportFrom, reached: set[str], stubbed: Collection[str], module: str
) -> None:
    """Keep of an import what is used, and put stubs in the place of what is not to be imported."""
    if isinstance(statement, ast.Import) or statement.module == "__future__":
        if isinstance(statement, ast.Import) and any(alias.name in stubbed for alias in statement.names):
            raise PruneFailed(f"{module} has `{ast.unparse(statement)}`; only `from … import` can be made a stub")
        return
    origin = "." * statement.level + (statement.module or "")
    if origin not in stubbed:
        source.narrow(statement, reached)
        return
    wanted = [alias for alias in statement.names if (alias.asname or alias.name) in reached]
    remedy = f"Remove {origin!r} from `stubbed_imports` of {module} in {LIST}, and build the layer again."
    made = ", ".join(f"stub({f'{origin}.{alias.name}'!r}, {remedy!r})" for alias in wanted)
    names = ", ".join(alias.asname or alias.name for alias in wanted)
    source.replace(statement, f"from passage_stub import stub; {names} = {made}")


def _add_stubs(
    source: Source,
    module: str,
    removed: Iterable[str],
    gone: Mapping[str, Sequence[ast.stmt]],
    section: str,
) -> None:
    back = f"under {section} in {LIST}, and build the layer again."
    source.add("import passage_stub")
    source.add(
        f"__getattr__ = passage_stub.pruned_module({module!r}, {' '.join(sorted(removed))!r}, {f'Add {{}} {back}'!r})"
    )
    for name, methods in gone.items():
        names = " ".join(sorted({method.name for method in methods if hasattr(method, "name")}))
        if names:
            source.add(f"passage_stub.pruned_class({name}, {names!r}, {f'Add {{}} to {name} {back}'!r})")
