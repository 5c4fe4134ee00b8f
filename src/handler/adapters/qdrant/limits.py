"""What a collection's strict mode allows a search (Qdrant, "Strict mode")."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Limits:
    """The limits that Passage keeps to or names; None for no limit.

    Attributes:
        points: `max_query_limit`: how many points one search may ask for.
        searches: `search_max_batchsize`: how many searches one request may have.
        conditions: `filter_max_conditions`: of one filter.
        values: `condition_max_size`: of one condition.
    """

    points: int | None = None
    searches: int | None = None
    conditions: int | None = None
    values: int | None = None

    @classmethod
    def of(cls, info: Mapping[str, Any]) -> "Limits":
        """The limits in a collection's metadata, in Qdrant's REST form."""
        strict = (info.get("config") or {}).get("strict_mode_config") or {}
        if not strict.get("enabled"):
            return cls()
        return cls(
            points=strict.get("max_query_limit"),
            searches=strict.get("search_max_batchsize"),
            conditions=strict.get("filter_max_conditions"),
            values=strict.get("condition_max_size"),
        )

    def fitted(self, each: int, top_k: int, shards: int) -> int:
        """The length of a hybrid search's lists within the limit, but not below the requested number of passages.

        Args:
            each: the length of each list. The similarities of what words found take `each * shards` points.
        """
        return each if self.points is None else max(top_k, min(each, self.points // shards))


NO_LIMITS = Limits()
