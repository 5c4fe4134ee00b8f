"""Stubs and lazy names of Passage's layer. The recipe copies this module into the layer, beside the pruned packages."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


class StubUsed(RuntimeError):
    """Something that the layer was built without was called. The message names the line of the list to change."""


class Stub(type):
    """A class that may be imported, named in a type and derived from, but not called. No value is an instance of it."""

    path: str
    remedy: str

    def __call__(cls, *_args: Any, **_options: Any) -> Any:
        """Raises StubUsed, always."""
        raise StubUsed(f"{cls.path} is not in this layer. {cls.remedy}")

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _stub(f"{cls.path}.{name}", cls.remedy)


def _stub(path: str, remedy: str) -> Stub:
    return Stub(path.rpartition(".")[2], (), {"path": path, "remedy": remedy})


def stub_module(module: str, remedy: str) -> Callable[[str], Any]:
    """The `__getattr__` of a stub module: every name is a stub. `remedy` says how to have the real module back."""

    def get(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return _stub(f"{module}.{name}", remedy)

    return get


Unused = _stub(
    "This part of the SDK", "Remove the line that imports Unused from `edits` in layers/dependencies/prune.toml."
)
"""In the place of one name that a module imports."""


def lazy_names(package: str, places: Mapping[str, tuple[str, str]]) -> Callable[[str], Any]:
    """The `__getattr__` of a package that imports what it re-exports at its first use.

    Args:
        places: name to the module that has it and to its name there.
    """

    def get(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, original = places[name]
        value = getattr(import_module(module), original)
        setattr(sys.modules[package], name, value)
        return value

    return get


class TypedDict(dict[str, Any]):
    """In the place of `typing.TypedDict`, whose classes take ten times as long to make. Their values are dicts, too."""

    def __init_subclass__(cls, *, total: bool = True) -> None:
        """Accept the option of a TypedDict."""
