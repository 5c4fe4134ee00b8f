"""Stubs and lazy names of Passage's layer. The recipe copies this module into the layer, beside the pruned packages."""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


class StubUsed(RuntimeError):
    """Something that the layer was built without was called. The message names the line of the list to change."""


class Stub(type):
    """A class that may be imported, named in a type and derived from, but not called.

    No value is an instance of a stub, so `isinstance` answers as it would with the real class.
    """

    path: str
    remedy: str

    def __call__(cls, *_args: Any, **_options: Any) -> Any:
        """Raises StubUsed, always."""
        raise StubUsed(f"{cls.path} is not in this layer. {cls.remedy}")

    __iter__ = __enter__ = __call__

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return stub(f"{cls.path}.{name}", cls.remedy)

    def __getitem__(cls, _: Any) -> Any:
        return cls


def stub(path: str, remedy: str) -> Stub:
    """A stub of that name. `remedy` says how to have the real thing back."""
    return Stub(path.rpartition(".")[2], (), {"path": path, "remedy": remedy})


def stub_module(module: str, remedy: str) -> Callable[[str], Any]:
    """The `__getattr__` of a stub module: every name is a stub."""

    def get(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return stub(f"{module}.{name}", remedy)

    return get


def pruned_module(module: str, names: str, remedy: str, later: tuple[str, str] | None = None) -> Callable[[str], Any]:
    """The `__getattr__` of a pruned module: the names that were removed are stubs.

    Args:
        names: the removed names, separated by spaces. `remedy` has {} for the name that is asked for.
        later: another module, and the names that are imported from it when they are asked for.
    """
    removed = frozenset(names.split())
    elsewhere, given = (later[0], frozenset(later[1].split())) if later else ("", frozenset())

    def get(name: str) -> Any:
        if name in given:
            return getattr(import_module(elsewhere), name)
        if name in removed:
            return stub(f"{module}.{name}", remedy.format(name))
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return get


class PrunedMethod:
    """Stands in a class for a method that was removed: a stub, made when it is asked for."""

    def __init__(self, path: str, remedy: str) -> None:
        self._path, self._remedy = path, remedy

    def __get__(self, _instance: object, _owner: object) -> Stub:
        return stub(self._path, self._remedy)


def pruned_class(cls: type, names: str, remedy: str) -> None:
    """Put stubs in the place of the methods that were removed from a class."""
    for name in names.split():
        setattr(cls, name, PrunedMethod(f"{cls.__module__}.{cls.__name__}.{name}", remedy.format(name)))


def lazy_names(module: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package that imports what it re-exports at its first use.

    Args:
        places: name to the module that has it, or to the module and the name in it, with a colon between them.
    """

    def get(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        source, _, attribute = places[name].partition(":")
        value = import_module(source)
        if attribute:
            value = getattr(value, attribute)
        setattr(sys.modules[module], name, value)
        return value

    return get
