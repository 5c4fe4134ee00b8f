"""The collections of one alias. Questions name the alias; each whole index is a separate collection.

A collection's name is its alias, two underscores, its creation time and four random digits.
"""

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from qdrant_client import models

from passage.indexing.server.connection import ServerConnection
from passage.indexing.target import TargetError

TIME = "%Y%m%dT%H%M%S%f"
"""To the microsecond: releases made in the same second still have an order."""
ABANDONED = timedelta(days=1)
"""An incomplete collection counts as abandoned after this time."""


@dataclass(frozen=True, slots=True)
class Release:
    """A collection that `passage index` made."""

    name: str
    made: datetime
    metadata: Mapping[str, Any]

    @property
    def passage(self) -> Mapping[str, Any]:
        """The collection metadata of `passage index`."""
        passage = self.metadata.get("passage")
        return passage if isinstance(passage, Mapping) else {}

    def says(self, metadata: Mapping[str, Any]) -> bool:
        """Whether its metadata has these values. It may have others, too: a server keeps what people added."""
        return all(self.metadata.get(key) == value for key, value in metadata.items())

    @property
    def ready(self) -> bool:
        """Whether it is complete and passed the checks."""
        return bool(self.passage.get("state") == "ready")

    @property
    def abandoned(self) -> bool:
        """Whether a run began it long ago and no run completed it."""
        return self.passage.get("state") == "building" and datetime.now(UTC) - self.made > ABANDONED


class Releases:
    """The releases of one alias on one server."""

    def __init__(self, connection: ServerConnection, alias: str) -> None:
        self._connection = connection
        self.alias = alias

    def current(self) -> Release | None:
        """The release that serves questions.

        Raises:
            TargetError: a collection has the alias' name.
        """
        aliases = self._connection.call(lambda client: client.get_aliases().aliases)
        target = next((one.collection_name for one in aliases if one.alias_name == self.alias), None)
        if target is not None:
            return self._find(target)
        if self.alias in self._connection.collections():
            raise TargetError(
                f"The server has a collection named '{self.alias}' that `passage index` did not make. Questions reach "
                "an index by an alias of that name, which a collection stands in the way of. Set COLLECTION_NAME to "
                "another name, here and for the function; or delete the collection yourself if nobody needs it."
            )
        return None

    def all(self) -> list[Release]:
        """Every release, the newest first."""
        names = [name for name in self._connection.collections() if _time_of(self.alias, name) is not None]
        releases = [release for name in names if (release := self._find(name)) is not None]
        return sorted(releases, key=lambda release: (release.made, release.name), reverse=True)

    def new_name(self) -> str:
        """A name for a new release."""
        return f"{self.alias}__{datetime.now(UTC).strftime(TIME)}-{uuid.uuid4().hex[:4]}"

    def switch(self, name: str) -> None:
        """Point the alias to a release.

        `create_alias` replaces an alias in one step. Deleting it first is a second step, which stays done if the
        server refuses the other: then no question finds a collection.
        """
        action = models.CreateAliasOperation(
            create_alias=models.CreateAlias(collection_name=name, alias_name=self.alias)
        )
        self._connection.call(lambda client: client.update_collection_aliases([action]))

    def roll_back(self, name: str | None) -> Release:
        """Point the alias to an earlier release: the named one, or the newest one before the current one.

        Raises:
            TargetError: the release does not exist; the message lists the existing ones.
        """
        current = self.current()
        ready = [one for one in self.all() if one.ready and (current is None or one.name != current.name)]
        if name is not None:
            chosen = next((one for one in ready if one.name == name), None)
        else:
            chosen = next((one for one in ready if current is None or one.made <= current.made), None)
        if chosen is None:
            others = ", ".join(one.name for one in ready) or "none"
            wanted = f"named '{name}'" if name else f"before '{current.name if current else self.alias}'"
            raise TargetError(
                f"The server keeps no collection {wanted}. It keeps: {others}. `passage index --keep` sets how many."
            )
        self.switch(chosen.name)
        return chosen

    def describe(self) -> Iterator[str]:
        """Every release for people, the newest first."""
        current = self.current()
        for one in self.all():
            state = "serving" if current and one.name == current.name else str(one.passage.get("state", "unknown"))
            yield f"{one.name}  {one.passage.get('points', '?')} points  {state}"

    def prune(self, keep: int) -> list[str]:
        """Delete abandoned releases and old ready ones except the newest `keep`; gives the deleted names."""
        current = self.current()
        serving = current.name if current else ""
        old = [release for release in self.all() if release.name != serving]
        ready = [release for release in old if release.ready]
        names = [release.name for release in (*ready[keep:], *(one for one in old if one.abandoned))]
        for name in names:
            self._connection.call(lambda client, name=name: client.delete_collection(name))  # type: ignore[misc]
        return names

    def _find(self, name: str) -> Release | None:
        """A collection by its name; None where it does not exist."""
        info = self._connection.collection(name)
        if info is None:
            return None
        return Release(name, _time_of(self.alias, name) or datetime.min.replace(tzinfo=UTC), info.config.metadata or {})


def _time_of(alias: str, name: str) -> datetime | None:
    """When a release was made; None for a collection with another kind of name."""
    start, separator, rest = name.rpartition("__")
    if start != alias or not separator:
        return None
    try:
        return datetime.strptime(rest.partition("-")[0], TIME).replace(tzinfo=UTC)
    except ValueError:
        return None
