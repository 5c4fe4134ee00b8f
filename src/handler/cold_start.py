"""What makes the SDKs' imports cheap at INIT, in one place. Used in Lambda only; elsewhere they are imported plainly.

Three costs dominate (docs/performance.md has the figures):

- Pydantic builds a validator for each of the SDKs' several hundred models, and qdrant-client builds all of its own a
  second time. A question needs a dozen. Deferred, each is built at its first use.
- qdrant-client imports numpy, grpc, its local mode and its asynchronous client, the Cohere SDK imports requests,
  tokenizers and its chat API, for features that no question reaches. While the SDKs are imported, stand-ins take
  these packages' names.
- The garbage collector (`handler.garbage`).

If a new SDK release does not load this way, it is loaded plainly: slower, never broken. The layer leaves out most of
these packages altogether (layers/dependencies/left-out.txt); what is not installed has a stand-in in either case.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import pydantic

from handler import telemetry
from handler.core.errors import ConfigurationError
from handler.garbage import no_collection
from handler.sources.question import Services

NOT_NEEDED = (
    "cohere.raw_base_client",
    "cohere.types.chat_messages",
    "cohere.types.parse_response",
    "cohere.v2.types.v2chat_response",
    "cohere.v2.types.v2chat_stream_response",
    "fastavro",
    "google",
    "grpc",
    "numpy",
    "qdrant_client.async_qdrant_client",
    "qdrant_client.conversions.conversion",
    "qdrant_client.grpc",
    "qdrant_client.local",
    "qdrant_client.migrate",
    "qdrant_client.parallel_processor",
    "qdrant_client.uploader",
    "requests",
    "tokenizers",
)
"""Packages the SDKs import for what Passage never calls: gRPC, local mode, chat, the API before v2, datasets."""

ABSENT = ("h2", "httpx._main")
"""What is used when it is installed and done without when it is not: HTTP/2, httpx's command line."""


def warm(services: Services) -> None:
    """Do at INIT what the first question would otherwise wait for: INIT has a full CPU, whatever memory is configured.

    A wrong setting does not fail INIT, which Lambda would repeat and then hide behind an error of its own: it is logged
    here and answered to every question. So is a profile that is not usable, to the questions that name it.
    """
    if _INSTEAD_OF_NOTHING not in sys.meta_path:
        sys.meta_path.append(_INSTEAD_OF_NOTHING)
    for broken in services.broken_profiles():
        _report(broken)
    try:
        with no_collection():
            with _deferred_models(), _stand_ins(NOT_NEEDED):
                services.load()
            services.warm()
    except ConfigurationError as error:
        _report(error)
    except Exception:  # noqa: BLE001 - whatever a new release of an SDK trips over, the plain way is still open
        telemetry.logger.warning("lean imports failed; importing plainly", exc_info=True)
        services.unload()
        _forget(("cohere", "qdrant_client", "handler.adapters"))
        _warm_plainly(services)


def _report(error: ConfigurationError) -> None:
    telemetry.logger.error(str(error), extra={"code": error.code, "detail": error.detail})


def _warm_plainly(services: Services) -> None:
    try:
        services.warm()
    except Exception as error:  # noqa: BLE001 - a failed INIT would hide the reason from every caller
        telemetry.logger.error("warm-up failed; the first question will try again", exc_info=error)


@contextmanager
def _deferred_models() -> Iterator[None]:
    """Have pydantic build models defined inside the block at their first use (its `defer_build`, for all of them)."""
    from pydantic._internal import _config  # noqa: PLC0415 - the defaults have no public name

    defaults = _config.config_defaults
    rebuild = pydantic.BaseModel.__dict__["model_rebuild"]
    before = defaults["defer_build"]
    defaults["defer_build"] = True
    pydantic.BaseModel.model_rebuild = classmethod(lambda _, *__, **___: None)  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        defaults["defer_build"] = before
        pydantic.BaseModel.model_rebuild = rebuild  # type: ignore[method-assign]


@contextmanager
def _stand_ins(packages: Sequence[str]) -> Iterator[None]:
    """Have imports of `packages` inside the block find stand-ins, and imports after it the real ones."""
    absent = tuple(package for package in packages if package not in sys.modules)
    finder = _StandInFinder(absent)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name, module in sys.modules.items() if isinstance(module, _StandIn)]:
            del sys.modules[name]


def _forget(packages: Sequence[str]) -> None:
    for name in list(sys.modules):
        if any(name == package or name.startswith(f"{package}.") for package in packages):
            del sys.modules[name]


class _StandInType(type):
    """A class that has any attribute, so that it can be a base, part of a type, or a decorator at import time.

    No value of ours is ever an instance of one, so an `isinstance` check answers what it would with the real class.
    """

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _named(name)

    def __getitem__(cls, _: Any) -> Any:
        return cls

    def __or__(cls, _: Any) -> Any:
        return cls

    def __ror__(cls, other: Any) -> Any:
        return other


def _named(name: str) -> _StandInType:
    return _StandInType(name, (), {"__module__": __name__, "__init__": lambda *_, **__: None})


class _StandIn(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _named(name)


class _StandInFinder:
    """Finder and loader in one, by shape: importing `importlib.abc` to derive from would cost more than it is worth."""

    def __init__(self, packages: Sequence[str]) -> None:
        self._packages = packages

    def find_spec(self, fullname: str, _path: Any, _target: Any = None) -> ModuleSpec | None:
        if fullname in ABSENT:
            raise ModuleNotFoundError(f"{fullname} is left out at a cold start", name=fullname)
        if any(fullname == package or fullname.startswith(f"{package}.") for package in self._packages):
            return ModuleSpec(fullname, self, is_package=True)  # type: ignore[arg-type]  # a loader by shape
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing to run."""


_INSTEAD_OF_NOTHING = _StandInFinder(NOT_NEEDED)
"""Asked last, when no package of the name is installed, for as long as the container lives: an import after INIT, as
after a setting that was wrong at INIT, needs stand-ins no less."""
