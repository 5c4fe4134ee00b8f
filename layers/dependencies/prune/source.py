"""Module text, cut by line: removed lines become empty, so that line numbers stay those of the original, plus one."""

import ast
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from prune.failure import PruneFailed

NOTICE = "# Changed by the build of Passage's layer: layers/dependencies/prune.toml in its repository says how."


def file_of(site: Path, module: str) -> Path:
    """Where a module's text is.

    Raises:
        PruneFailed: the package has no such module.
    """
    place = site.joinpath(*module.split("."))
    for path in (place.with_suffix(".py"), place / "__init__.py"):
        if path.is_file():
            return path
    raise PruneFailed(f"there is no module {module}")


def write(path: Path, text: str) -> None:
    """Write a new file in the place of an old one.

    An installed file is a hard link to uv's cache: writing into it would change the package in every environment.
    """
    path.unlink(missing_ok=True)
    path.write_text(text, encoding="utf-8")


class Source:
    """One module's text and its statements."""

    def __init__(self, text: str) -> None:
        self.tree = ast.parse(text)
        self._lines = text.splitlines()
        self._first = ""
        self._added: list[str] = []

    def remove(self, statement: ast.stmt) -> None:
        """Empty the lines of a statement, its decorators included."""
        decorators = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(decorator.lineno for decorator in decorators)])
        for number in range(first, (statement.end_lineno or first) + 1):
            self._lines[number - 1] = ""

    def replace(self, statement: ast.stmt, text: str) -> None:
        """Put one line in the place of a statement."""
        self.remove(statement)
        self._lines[statement.lineno - 1] = " " * statement.col_offset + text

    def narrow(self, statement: ast.ImportFrom, names: Collection[str]) -> None:
        """Keep of an import what is in `names`, or all of it if it is a star's."""
        wanted = [alias for alias in statement.names if alias.name == "*" or (alias.asname or alias.name) in names]
        if len(wanted) < len(statement.names):
            origin = "." * statement.level + (statement.module or "")
            kept = ", ".join(alias.name + (f" as {alias.asname}" if alias.asname else "") for alias in wanted)
            self.replace(statement, f"from {origin} import {kept}")

    def begin(self, code: str) -> None:
        """Have the module begin with this code, after its docstring."""
        self._first = code

    def add(self, *lines: str) -> None:
        """Add lines at the end."""
        self._added += lines

    def text(self) -> str:
        """The module as it is now. A line of the original is one line further down."""
        header, lines = NOTICE, list(self._lines)
        if self._first and ast.get_docstring(self.tree):
            lines[(self.tree.body[0].end_lineno or 1) - 1] += f"; {self._first}"
        elif self._first:
            header = f"{self._first}  {NOTICE}"
        return "\n".join([header, *lines, *self._added]) + "\n"


def defined(statement: ast.stmt) -> set[str]:
    """The module's names that a statement at its top level binds."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    names = set()
    for node in _own(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
    return names


def _own(statement: ast.AST) -> Iterator[ast.AST]:
    """A statement's nodes, but for those inside a function or a class."""
    yield statement
    if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        for child in ast.iter_child_nodes(statement):
            yield from _own(child)


def used(nodes: Iterable[ast.AST], *, annotations: bool) -> set[str]:
    """The names that code reads.

    Args:
        annotations: count those in annotations too, and those that a string names, as a model's field may.
    """
    names = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif annotations and isinstance(node, ast.Constant) and isinstance(node.value, str):
            names |= _named_in(node.value)
        elif isinstance(node, ast.AnnAssign) and not annotations:
            waiting += [child for child in (node.target, node.value) if child is not None]
            continue
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not annotations:
            waiting += [*node.decorator_list, *_defaults(node.args), *node.body]
            continue
        waiting += ast.iter_child_nodes(node)
    return names


def _defaults(arguments: ast.arguments) -> list[ast.expr]:
    return [*arguments.defaults, *(value for value in arguments.kw_defaults if value is not None)]


def _named_in(text: str) -> set[str]:
    if not text.isidentifier() and "[" not in text:
        return set()
    try:
        return {node.id for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Name)}
    except SyntaxError:
        return set()
