"""Containers of the deployed and the developed function, started at first use."""

import json
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

import pytest

from conftest import ROOT
from handler.adapters.qdrant.manifest import SHARD
from handler.config import profiles
from textbook import copy_index
from tools.artefact import Artefact
from tools.runtime import LAMBDAS, Runtime

Side = Literal["deployed", "elsewhere", "unpruned", "developed"]
"""The built function with Lambda's variables, and without them; the build with PRUNE=0; the source, without them."""

Store = Literal["server", "server of ranked", "index"]


class Containers:
    """One container for each side and each store."""

    def __init__(
        self,
        artefact: Artefact,
        unpruned: Callable[[], Artefact],
        shared: Mapping[str, str],
        stores: Mapping[Store, Mapping[str, str]],
        running: ExitStack,
        folders: pytest.TempPathFactory,
    ) -> None:
        self._artefact = artefact
        self._unpruned = unpruned
        self._shared = shared
        self._stores = stores
        self._running = running
        self._folders = folders
        self._started: dict[tuple[Side, Store], Runtime] = {}

    def of(self, side: Side, store: Store) -> Runtime:
        if (side, store) not in self._started:
            self._started[side, store] = self.start(side, store)
        return self._started[side, store]

    def start(
        self, side: Side, store: Store, handler: str = "handler.app.lambda_handler", *code: Path, **environment: str
    ) -> Runtime:
        """A new container. `code` comes first on its path, and `environment` overrides its variables."""
        artefact = self._unpruned() if side == "unpruned" else self._artefact
        no_lambda = {} if side in ("deployed", "unpruned") else dict.fromkeys(LAMBDAS)
        runtime = Runtime(
            handler,
            environment={**no_lambda, **self._shared, **self._stores[store], "IDEMPOTENCY_TABLE": side, **environment},
            code=(*code, *((ROOT / "src",) if side == "developed" else artefact.code)),
            python=Path(sys.executable) if side == "developed" else artefact.python,
            log=self._folders.mktemp("runtime") / "log",
        )
        return self._running.enter_context(runtime)


def storage(indexes: Path, folder: Path, left_out: str) -> Path:
    """A server's collections, for all profiles except one."""
    for profile in map(profiles.load, profiles.names()):
        if profile.name != left_out:
            copy_index(indexes / profile.name / SHARD, folder / profile.collection.name)
    return folder


def settled(value: Any) -> Any:
    """An answer without times, with parsed bodies."""
    if isinstance(value, dict):
        return {name: settled(_read(name, item)) for name, item in value.items() if not _of_the_moment(name)}
    return [settled(item) for item in value] if isinstance(value, list) else value


def _of_the_moment(name: str) -> bool:
    return name in ("timestamp", "query_id", "request_id") or name.endswith("_ms")


def _read(name: str, item: Any) -> Any:
    if name == "body" and isinstance(item, str):
        try:
            return json.loads(item)
        except ValueError:
            return item
    return item
