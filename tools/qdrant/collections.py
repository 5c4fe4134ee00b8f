"""The collections in a storage folder: each is a Qdrant Edge shard with a JSON file of options."""

import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import qdrant_edge as edge

from passage.emulators.server import ApiError
from tools.qdrant.aliases import Aliases
from tools.qdrant.errors import engine_errors, out_of_range, wrong_input
from tools.qdrant.settings import Settings
from tools.qdrant.vectors import VectorSpace, parse_space, read_space

NEWEST = (1, 20)
"""The version of Qdrant whose server the engine is part of."""

_SHARD_CONFIG = "edge_config.json"  # written by the engine, which offers no other way to ask a shard for its vectors
_FORBIDDEN_IN_NAMES = '<>:"/\\|?*\0\x1f'
_LONGEST_NAME = 240  # bytes; with the sidecar's ending still a legal file name


@dataclass
class Collection:
    """An open shard. Calls run one at a time, so that none runs while the shard is closed."""

    name: str
    space: VectorSpace
    settings: Settings
    shard: edge.EdgeShard
    version: tuple[int, ...]
    operations: int = 0
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @contextmanager
    def engine(self) -> Iterator[edge.EdgeShard]:
        """Use the shard, one caller at a time. The engine's exceptions become the server's errors."""
        with self._lock, engine_errors():
            yield self.shard

    def update(self, operation: edge.UpdateOperation) -> int:
        """Apply an operation and put it on disk; returns its number."""
        with self.engine() as shard:
            shard.update(operation)
            shard.flush()
            self.operations += 1
            return self.operations


class Collections:
    """All collections in a folder, opened and closed together: only one process at a time can use a shard."""

    def __init__(self, storage: Path, version: str | None = None) -> None:
        self.version = version
        self._numbers = tuple(int(number) for number in version.split(".")[:2]) if version else NEWEST
        self._storage = storage
        self._lock = threading.RLock()
        self._open: dict[str, Collection] = {}
        self.aliases = Aliases(storage)

    def open(self) -> None:
        """Load every shard in the folder. Raises RuntimeError when one cannot be opened."""
        self._storage.mkdir(parents=True, exist_ok=True)
        self.aliases.read()
        for config in sorted(self._storage.glob(f"*/{_SHARD_CONFIG}")):
            name = config.parent.name
            try:
                shard = edge.EdgeShard.load(str(config.parent))
            except Exception as error:  # the engine raises only this class
                self.close()
                raise RuntimeError(
                    f"cannot open the collection in {config.parent} (a shard belongs to one process at a time): {error}"
                ) from error
            settings = Settings.read(self._sidecar(name))
            self._open[name] = Collection(name, read_space(config), settings, shard, self._numbers)

    def close(self) -> None:
        """Flush and release every shard."""
        with self._lock:
            for collection in self._open.values():
                with collection.engine() as shard:
                    shard.close()
            self._open.clear()

    def names(self) -> list[str]:
        """The names of all collections, in order."""
        return sorted(self._open)

    def find(self, name: str) -> Collection | None:
        """The collection of that name or alias; None if it does not exist."""
        with self._lock:
            return self._open.get(self.aliases.target(name))

    def get(self, name: str) -> Collection:
        """The collection of that name. Raises the server's 404 if it does not exist."""
        collection = self.find(name)
        if collection is None:
            raise ApiError(404, f"Not found: Collection `{name}` doesn't exist!")
        return collection

    def create(self, name: str, body: Mapping[str, Any]) -> bool:
        """A new collection from the body of `PUT /collections/{name}`."""
        _check_name(name)
        space, settings = parse_space(body), Settings.asked(body)
        with self._lock, engine_errors():
            if self.aliases.target(name) != name:
                raise wrong_input(f"Can't create collection with name {name}. Alias with the same name already exists")
            if name in self._open:
                raise ApiError(409, f"Wrong input: Collection `{name}` already exists!")
            shard = edge.EdgeShard.create(str(self._storage / name), space.engine_config())
            settings.write(self._sidecar(name))
            self._open[name] = Collection(name, space, settings, shard, self._numbers)
        return True

    def update(self, name: str, body: Mapping[str, Any]) -> bool:
        """Change a collection's options from the body of `PATCH /collections/{name}`."""
        with self._lock:
            collection = self.get(name)
            collection.settings = collection.settings.changed(body)
            collection.settings.write(self._sidecar(collection.name))
        return True

    def change_aliases(self, body: Mapping[str, Any]) -> bool:
        """Apply the actions of `POST /collections/aliases`."""
        with self._lock:
            self.aliases.change(body.get("actions"), self._open)
        return True

    def delete(self, name: str) -> bool:
        """Remove a collection, its aliases and its files; False when there was none."""
        with self._lock:
            collection = self._open.pop(name, None)
            if collection is None:
                return False
            with collection.engine() as shard:
                shard.close()
            shutil.rmtree(self._storage / name)
            self._sidecar(name).unlink(missing_ok=True)
            self.aliases.forget(name)
            return True

    def _sidecar(self, name: str) -> Path:
        return self._storage / f"{name}.collection.json"


def _check_name(name: str) -> None:
    """Refuse names that the server forbids, and names outside of the storage folder."""
    bad = next((char for char in _FORBIDDEN_IN_NAMES if char in name), None)
    if bad is not None:
        raise out_of_range("path parameters", "collection_name", repr(name), f'cannot contain "{bad}" char')
    if name in {"", ".", ".."} or len(name.encode("utf-8", "replace")) > _LONGEST_NAME:
        raise out_of_range("path parameters", "collection_name", repr(name), "cannot be the name of a folder")
