"""A collection's options, as the server stores and shows them. Few of them affect a small shard."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from tools.qdrant.errors import format_error

# The server's defaults.
_HNSW = {
    "m": 16,
    "ef_construct": 100,
    "full_scan_threshold": 10_000,
    "max_indexing_threads": 0,
    "on_disk": False,
}
_OPTIMIZERS = {
    "deleted_threshold": 0.2,
    "vacuum_min_vector_number": 1000,
    "default_segment_number": 0,
    "indexing_threshold": 10_000,
    "flush_interval_sec": 5,
}
_VECTOR_OPTIONS = ("on_disk", "datatype", "memory", "hnsw_config", "quantization_config")


@dataclass(frozen=True)
class Settings:
    """The options of one collection, with the API's names.

    Attributes:
        vectors: each dense vector's options beside size and distance, by the vector's name.
    """

    metadata: dict[str, Any] | None = None
    hnsw: dict[str, Any] = field(default_factory=lambda: dict(_HNSW))
    optimizers: dict[str, Any] = field(default_factory=lambda: dict(_OPTIMIZERS))
    quantization: dict[str, Any] | None = None
    vectors: dict[str, dict[str, Any]] = field(default_factory=dict)
    strict_mode: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def asked(cls, body: Mapping[str, Any]) -> Self:
        """The options in the body of `PUT /collections/{name}`."""
        given = body.get("vectors") or {}
        named = {"": given} if "size" in given else given
        options = {name: {key: one[key] for key in _VECTOR_OPTIONS if one.get(key)} for name, one in named.items()}
        return cls(vectors={name: one for name, one in options.items() if one}).changed(body)

    @classmethod
    def read(cls, file: Path) -> Self:
        """The options in the file that `write` wrote; the defaults without a file."""
        return cls(**json.loads(file.read_text(encoding="utf-8"))) if file.exists() else cls()

    def write(self, file: Path) -> None:
        """Write the options to a file next to the shard."""
        file.write_text(json.dumps(asdict(self)), encoding="utf-8")

    def changed(self, body: Mapping[str, Any]) -> Self:
        """These options with those of the body of `PATCH /collections/{name}`, merged as the server merges them."""
        metadata = _map(body, "metadata")
        return replace(
            self,
            # A key set to null is removed (Qdrant, API reference, "Update collection parameters").
            metadata=self.metadata if metadata is None else _merged(self.metadata or {}, metadata),
            hnsw=_merged(self.hnsw, _map(body, "hnsw_config") or {}),
            optimizers=_merged(self.optimizers, _map(body, "optimizers_config") or {}),
            quantization=_map(body, "quantization_config") or self.quantization,
            strict_mode=_merged(self.strict_mode, _map(body, "strict_mode_config") or {}),
        )

    def with_vector_options(self, shown: Any) -> Any:
        """Add each vector's options to the part of collection info that describes vectors."""
        if "size" in shown:
            return {**shown, **self.vectors.get("", {})}
        return {name: {**one, **self.vectors.get(name, {})} for name, one in shown.items()}


def _map(body: Mapping[str, Any], key: str) -> dict[str, Any] | None:
    given = body.get(key)
    if given is not None and not isinstance(given, dict):
        raise format_error(f"invalid type for {key}, expected a map")
    return given


def _merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in {**old, **new}.items() if value is not None}
