"""Aliases: other names for collections, stored in a file next to them."""

import json
from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any

from passage.emulators.server import ApiError
from tools.qdrant.errors import format_error, unsupported

_ACTIONS: Mapping[str, tuple[str, ...]] = {
    "create_alias": ("alias_name", "collection_name"),
    "delete_alias": ("alias_name",),
    "rename_alias": ("old_alias_name", "new_alias_name"),
}
"""The actions, each with its fields."""


class Aliases:
    """Every alias in a storage folder. The caller holds a lock while it changes them."""

    def __init__(self, storage: Path) -> None:
        self._file = storage / "aliases.json"
        self._targets: dict[str, str] = {}

    def read(self) -> None:
        """Read the aliases from the file, if it exists."""
        self._targets = json.loads(self._file.read_text(encoding="utf-8")) if self._file.exists() else {}

    def target(self, name: str) -> str:
        """The collection of an alias; any other name is returned unchanged."""
        return self._targets.get(name, name)

    def shown(self, of: str | None = None) -> list[dict[str, str]]:
        """The aliases as the API lists them: all, or those of one collection."""
        return [
            {"alias_name": alias, "collection_name": target}
            for alias, target in sorted(self._targets.items())
            if of in (None, target)
        ]

    def change(self, actions: object, collections: Container[str]) -> None:
        """Apply the actions one by one. Those before a refused one stay, as on the server."""
        if not isinstance(actions, list):
            raise format_error("missing field `actions`")
        for kind, given in [_parsed(action) for action in actions]:
            changed = dict(self._targets)
            _apply(kind, given, changed, collections)
            self._keep(changed)

    def forget(self, collection: str) -> None:
        """Drop the aliases of a collection that was deleted."""
        self._keep({alias: target for alias, target in self._targets.items() if target != collection})

    def _keep(self, targets: dict[str, str]) -> None:
        self._targets = targets
        self._file.write_text(json.dumps(targets), encoding="utf-8")


def _parsed(action: Any) -> tuple[str, dict[str, str]]:
    """An action's kind and fields. The server parses all actions before it applies the first."""
    kind = str(next(iter(action), None)) if isinstance(action, dict) and len(action) == 1 else "none"
    if kind not in _ACTIONS or not isinstance(action[kind], dict):
        raise unsupported(f"the alias action {kind}", _ACTIONS)
    missing = next((name for name in _ACTIONS[kind] if name not in action[kind]), None)
    if missing is not None:
        raise format_error(f"missing field `{missing}`")
    return kind, {name: str(value) for name, value in action[kind].items()}


def _apply(kind: str, given: dict[str, str], targets: dict[str, str], collections: Container[str]) -> None:
    match kind:
        case "create_alias":
            _create(given["alias_name"], given["collection_name"], targets, collections)
        case "delete_alias":
            targets.pop(given["alias_name"], None)  # the server answers true for one that is not there, too
        case _:
            targets[given["new_alias_name"]] = _existing(given["old_alias_name"], targets)
            del targets[given["old_alias_name"]]


def _create(alias: str, collection: str, targets: dict[str, str], collections: Container[str]) -> None:
    if alias in collections:
        raise ApiError(409, f"Wrong input: Collection `{alias}` already exists!")
    if collection not in collections:
        raise ApiError(404, f"Not found: Collection `{collection}` doesn't exist!")
    targets[alias] = collection


def _existing(alias: str, targets: dict[str, str]) -> str:
    if alias not in targets:
        raise ApiError(404, f"Not found: Alias {alias} does not exists!")
    return targets[alias]
