"""The SDKs' pydantic models: their validators are built at first use, and qdrant-client's classes made when asked for.

qdrant-client has some four hundred models in one module, and making their classes is most of what importing it costs
(docs/performance.md). While that module runs, a statement that makes a class gives a stand-in, unless an answer to a
search needs the class. Whoever asks for one of the others later, by `models.Filter` as anyone would, has the module run
again, whole this time.
"""

import builtins
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from threading import RLock
from types import CodeType, ModuleType
from typing import Any

import pydantic

from handler.cold_start.stubs import holds_stand_in, stand_in

MODULE = "qdrant_client.http.models.models"
PACKAGE = "qdrant_client.http.models"
"""It has the module's names as its own."""

FOR_AN_ANSWER = frozenset(
    (
        "HardwareUsage",
        "InferenceUsage",
        "InlineResponse20022",
        "InlineResponse20023",
        "ModelUsage",
        "QueryResponse",
        "ScoredPoint",
        "SparseVector",
        "Usage",
    )
)
"""What the answer to one search, or to several at once, is read into."""


@contextmanager
def deferred() -> Iterator[None]:
    """Have pydantic build models defined inside the block at their first use (its `defer_build`, for all of them)."""
    from pydantic._internal import _config  # noqa: PLC0415 - the defaults have no public name

    defaults = _config.config_defaults
    before = defaults["defer_build"]
    defaults["defer_build"] = True
    try:
        yield
    finally:
        defaults["defer_build"] = before


@contextmanager
def _not_rebuilt() -> Iterator[None]:
    """Have qdrant-client's models not be built inside the block: it rebuilds each of them once it has them all."""
    rebuild = pydantic.BaseModel.__dict__["model_rebuild"]

    def model_rebuild(cls: type[pydantic.BaseModel], /, **options: Any) -> bool | None:
        if cls.__module__ == MODULE:
            return None
        above = options.pop("_parent_namespace_depth", 2) + 1  # frames; this is one more
        built: bool | None = rebuild.__func__(cls, _parent_namespace_depth=above, **options)
        return built

    pydantic.BaseModel.model_rebuild = classmethod(model_rebuild)  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        pydantic.BaseModel.model_rebuild = rebuild  # type: ignore[method-assign]


@contextmanager
def lean() -> Iterator[None]:
    """Have SDKs imported inside the block cost little."""
    partial = _Partial()
    sys.meta_path.insert(0, partial)
    try:
        with deferred(), _not_rebuilt():
            yield
    finally:
        sys.meta_path.remove(partial)
        partial.finish()


class _Partial:
    """Finder and loader of qdrant-client's models, by shape."""

    def __init__(self) -> None:
        self._code: CodeType | None = None
        self._made: dict[str, Any] = {}
        self._completing = RLock()

    def find_spec(self, fullname: str, path: Sequence[str] | None, _target: Any = None) -> ModuleSpec | None:
        if fullname != MODULE:
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is None or spec.loader is None or not hasattr(spec.loader, "get_code"):
            return None
        self._code = spec.loader.get_code(fullname)
        spec.loader = self  # type: ignore[assignment]  # a loader by shape
        return spec

    def create_module(self, _: ModuleSpec) -> None:
        """The usual one."""

    def exec_module(self, module: ModuleType) -> None:
        self._run(module, lambda name: name in FOR_AN_ANSWER)

    def finish(self) -> None:
        """The imports are over: from now on, a model that is not there is one to be made."""
        if self._code is None:
            return
        for module in self._modules():
            names = vars(module)
            for name in [name for name, value in names.items() if holds_stand_in(value)]:
                del names[name]
            names["__getattr__"] = self._asked(module)

    def _modules(self) -> list[ModuleType]:
        return [sys.modules[name] for name in (MODULE, PACKAGE) if name in sys.modules]

    def _asked(self, module: ModuleType) -> Callable[[str], Any]:
        def asked(name: str) -> Any:
            if not name.startswith("__"):
                self._complete()
                if name in vars(module):
                    return vars(module)[name]
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

        return asked

    def _complete(self) -> None:
        with self._completing:
            models, package = self._modules()
            if "__getattr__" not in vars(models):  # another thread has
                return
            with deferred():
                self._run(models, lambda _: True)
            for name, value in list(vars(models).items()):
                if not name.startswith("_"):
                    setattr(package, name, value)
            del models.__getattr__, package.__getattr__

    def _run(self, module: ModuleType, wanted: Callable[[str], bool]) -> None:
        def build_class(body: Any, name: str, *bases: Any, **keywords: Any) -> Any:
            if name not in self._made:  # what an answer was read into stays what it was
                if not wanted(name):
                    return stand_in(name)
                self._made[name] = builtins.__build_class__(body, name, *bases, **keywords)
            return self._made[name]

        assert self._code is not None  # noqa: S101 - found before it is run
        names = vars(module)
        names["__builtins__"] = {**vars(builtins), "__build_class__": build_class}
        try:
            exec(self._code, names)  # noqa: S102 - the module's own code
        finally:
            names["__builtins__"] = vars(builtins)
