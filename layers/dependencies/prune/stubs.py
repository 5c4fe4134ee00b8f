"""Writes stub modules, and packages that import what they re-export at its first use."""

import ast
import re
import shutil
from collections.abc import Collection
from pathlib import Path

from prune.cut import LIST
from prune.failure import PruneFailed
from prune.source import Source, defined, file_of, used, write

STUB = '''"""Stub, written by Passage: what retrieval needs never calls {module}."""

from passage_stub import stub_module

__getattr__ = stub_module({module!r}, {remedy!r})
'''


def write_stub(site: Path, module: str) -> None:
    """Put a stub in the place of a module or a package, or where one would be whose distribution is left out.

    Raises:
        PruneFailed: an installed package has no such module.
    """
    place = site.joinpath(*module.split("."))
    left_out = "." not in module and not place.exists()
    remedy = f"Remove {module!r} from `stubs` in {LIST}"
    remedy += " and its distribution from left-out.txt, run `make lock`" if left_out else ""
    text = STUB.format(module=module, remedy=f"{remedy} and build the layer again.")
    if left_out:
        place.mkdir(parents=True)
        write(place / "__init__.py", text)
        return
    path = file_of(site, module)
    if path.name == "__init__.py":
        shutil.rmtree(place)
        place.mkdir()
    write(path, text)


def write_submodules(site: Path, packages: Collection[str]) -> None:
    """Write stubs of the modules below stub packages, those that the rest of the layer imports by their full name."""
    names = "|".join(re.escape(package) for package in packages)
    wanted = re.compile(rf"^\s*(?:from|import)\s+((?:{names})\.[\w.]+)", re.MULTILINE)
    for path in sorted(site.rglob("*.py")):
        for module in sorted(set(wanted.findall(path.read_text(encoding="utf-8")))):
            package = next(package for package in packages if module.startswith(f"{package}."))
            place = site.joinpath(*module.split("."))
            if not place.exists():
                place.mkdir(parents=True)
                text = (site.joinpath(*package.split(".")) / "__init__.py").read_text(encoding="utf-8")
                write(place / "__init__.py", text.replace(f"({package!r},", f"({module!r},"))


def make_lazy(site: Path, package: str) -> None:
    """Have a package import what it re-exports when it is asked for; nothing is lost.

    Raises:
        PruneFailed: there is no such package.
    """
    path = file_of(site, package)
    if path.name != "__init__.py":
        raise PruneFailed(f"`lazy` names {package}, which is no package")
    source = Source(path.read_text(encoding="utf-8"))
    own = [statement for statement in source.tree.body if not isinstance(statement, ast.Import | ast.ImportFrom)]
    needed = used(own, annotations=True) - _listed_in_all(source.tree)
    places: dict[str, str] = {}
    for statement in source.tree.body:
        if not isinstance(statement, ast.ImportFrom) or statement.module == "__future__":
            continue
        origin = f"{package}.{statement.module}" if statement.level == 1 else str(statement.module)
        last = origin.rpartition(".")[2]
        # A name that is its module's too would be the module, once that is imported.
        if (
            statement.level > 1
            or any(alias.name in (last, "*") for alias in statement.names)
            or needed & defined(statement)
        ):
            continue
        source.remove(statement)
        places |= {alias.asname or alias.name: f"{origin}:{alias.name}" for alias in statement.names}
        if origin.startswith(f"{package}."):
            below = origin.removeprefix(f"{package}.").partition(".")[0]
            places.setdefault(below, f"{package}.{below}")
    source.add("import passage_stub", f"__getattr__ = passage_stub.lazy_names({package!r}, {places!r})")
    write(path, source.text())


def _listed_in_all(tree: ast.Module) -> set[str]:
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and defined(statement) == {"__all__"}:
            return {str(node.value) for node in ast.walk(statement) if isinstance(node, ast.Constant)}
    return set()
