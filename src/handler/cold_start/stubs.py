"""Stand-ins: what takes the name of a package or a class that is imported for a feature no question reaches."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, get_args


class StandIn(type):
    """A class that has any attribute, so that it can be a base, part of a type, or a decorator at import time.

    No value of ours is ever an instance of one, so an `isinstance` check answers what it would with the real class.
    """

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return stand_in(name)

    def __getitem__(cls, _: Any) -> Any:
        return cls

    def __or__(cls, _: Any) -> Any:
        return cls

    def __ror__(cls, other: Any) -> Any:
        return other


def stand_in(name: str) -> StandIn:
    """A class of that name, which is nothing."""
    return StandIn(name, (), {"__module__": __name__, "__init__": lambda *_, **__: None})


def holds_stand_in(value: Any) -> bool:
    """Whether it is a stand-in, or a type that is made with one."""
    return isinstance(value, StandIn) or any(map(holds_stand_in, get_args(value)))


class StandInFinder:
    """Finder and loader in one, by shape: importing `importlib.abc` to derive from would cost more than it is worth.

    Args:
        absent: modules that are not to be found at all.
        until: modules that need the real `packages`: with the first of them, these stand-ins end.
    """

    def __init__(self, packages: Sequence[str], absent: Sequence[str] = (), until: Sequence[str] = ()) -> None:
        self._packages = frozenset(packages)
        self._absent = frozenset(absent)
        self._until = frozenset(until)

    def end(self) -> None:
        """From now on, imports find the real packages."""
        self._packages = self._absent = self._until = frozenset()
        for name in [name for name, module in sys.modules.items() if _made_by(self, module)]:
            del sys.modules[name]

    def find_spec(self, fullname: str, _path: Any, _target: Any = None) -> ModuleSpec | None:
        if fullname in self._until:
            self.end()
        if fullname in self._absent:
            raise ModuleNotFoundError(f"{fullname} is left out at a cold start", name=fullname)
        parent = fullname
        while parent:
            if parent in self._packages:
                return ModuleSpec(fullname, self, is_package=True)  # type: ignore[arg-type]  # a loader by shape
            parent = parent.rpartition(".")[0]
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _StandInModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to run."""


def _made_by(finder: StandInFinder, module: ModuleType) -> bool:
    return isinstance(module, _StandInModule) and getattr(module.__spec__, "loader", None) is finder


class _StandInModule(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return stand_in(name)


@contextmanager
def stand_ins(packages: Sequence[str], absent: Sequence[str] = (), until: Sequence[str] = ()) -> Iterator[None]:
    """Have imports of `packages` inside the block find stand-ins, and imports after it the real ones.

    Args:
        absent: modules that imports inside the block do not find, installed or not.
        until: see `StandInFinder`.
    """
    finder = StandInFinder([package for package in packages if package not in sys.modules], absent, until)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        finder.end()
