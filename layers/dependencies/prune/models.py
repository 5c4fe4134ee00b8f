"""Splits a generated module of models: what an answer needs at once, what other calls need later, and the rest goes."""

import ast
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from prune.cut import LIST
from prune.failure import PruneFailed
from prune.source import NOTICE, Source, defined, file_of, used, write

Calls = Mapping[str, Sequence[str]]
"""Module to the functions and methods in it whose bodies name the models they need."""


def split(site: Path, module: str, later_module: str, at_once: Calls, later: Calls, names: Collection[str]) -> None:
    """Write two modules in the place of one. The first one gives the second one's names too, and imports it for them.

    Args:
        names: models that are needed later, beside those that the calls name.

    Raises:
        PruneFailed: a module, a call or a name does not exist.
    """
    path = file_of(site, module)
    text = path.read_text(encoding="utf-8")
    by_name = {name: statement for statement in ast.parse(text).body for name in defined(statement)}
    for name in names:
        if name not in by_name:
            raise PruneFailed(f"[models] names {name} in `names`, which {module} does not have")
    first = _closure(by_name, _models_of(site, module, at_once))
    shared = {name for name in first if not isinstance(by_name[name], ast.Import | ast.ImportFrom)}
    second = _closure(by_name, _models_of(site, module, later) | {*names}) - shared

    first_source, second_source = _only(text, first), _only(text, second)
    second_source.begin(f"from {module} import {', '.join(sorted(shared))}")
    removed = " ".join(sorted(set(by_name) - first - second))
    remedy = f"Add {{}} to `names` of [models] in {LIST}, and build the layer again."
    given = (later_module, " ".join(sorted(second - first)))
    first_source.add("import passage_stub")
    first_source.add(f"__getattr__ = passage_stub.pruned_module({module!r}, {removed!r}, {remedy!r}, {given!r})")
    write(path, first_source.text())
    write(site.joinpath(*later_module.split(".")).with_suffix(".py"), second_source.text())
    package = file_of(site, module.rpartition(".")[0])  # it has the module's names as its own
    write(package, f"{package.read_text(encoding='utf-8')}{NOTICE}\nfrom {module} import __getattr__\n")


def _models_of(site: Path, module: str, calls: Calls) -> set[str]:
    """The models that the bodies of these calls name, as an attribute of what they import the module as."""
    found = set()
    for place, functions in calls.items():
        tree = ast.parse(file_of(site, place).read_text(encoding="utf-8"))
        aliases = _aliases(tree, module)
        known = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        for function in functions:
            if function not in known:
                raise PruneFailed(f"[models] names the call {function}, which {place} does not have")
            for node in _body(known[function]):
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in aliases:
                    found.add(node.attr)
    return found


def _aliases(tree: ast.Module, module: str) -> set[str]:
    """The names that a module's text has for the models' module or its package."""
    own = {module, module.rpartition(".")[0]}
    return {
        alias.asname or alias.name
        for statement in tree.body
        if isinstance(statement, ast.ImportFrom)
        for alias in statement.names
        if f"{statement.module}.{alias.name}" in own
    }


def _body(function: ast.FunctionDef) -> Iterable[ast.AST]:
    """A function's nodes, without its annotations."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [node.value] if isinstance(node, ast.AnnAssign) and node.value else ast.iter_child_nodes(node)


def _closure(by_name: Mapping[str, ast.stmt], names: Iterable[str]) -> set[str]:
    """These names of the module, and the names that their definitions read, annotations included."""
    reached: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name in by_name and name not in reached:
            reached.add(name)
            if not isinstance(by_name[name], ast.Import | ast.ImportFrom):
                waiting += used([by_name[name]], annotations=True)
    return reached


def _only(text: str, names: Collection[str]) -> Source:
    """The text with the statements that define one of these names."""
    source = Source(text)
    for statement in source.tree.body:
        own = defined(statement)
        if own and not own & {*names}:
            source.remove(statement)
        elif isinstance(statement, ast.ImportFrom):
            source.narrow(statement, names)
    return source
