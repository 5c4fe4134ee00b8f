"""Describes a collection for `GET /collections/{name}`."""

from tools.qdrant.collections import Collection
from tools.qdrant.indexes import payload_schema

_WAL = {"wal_capacity_mb": 32, "wal_segments_ahead": 0}
_STRICT = {"enabled": True, "unindexed_filtering_retrieve": False, "unindexed_filtering_update": False}


def collection_info(collection: Collection, strict: bool) -> dict[str, object]:
    """Counts, status and configuration of a collection."""
    with collection.engine() as shard:
        info = shard.info()
        schema = payload_schema(shard, collection.version)
    settings = collection.settings
    shown = collection.space.info()
    config: dict[str, object] = {
        "params": {
            **shown,
            "vectors": settings.with_vector_options(shown["vectors"]),
            "shard_number": 1,
            "replication_factor": 1,
            "write_consistency_factor": 1,
            "on_disk_payload": True,
        },
        "hnsw_config": settings.hnsw,
        "optimizer_config": settings.optimizers,
        "wal_config": _WAL,
        "quantization_config": settings.quantization,
        "strict_mode_config": {**(_STRICT if strict else {"enabled": False}), **settings.strict_mode},
    }
    if settings.metadata is not None:
        config["metadata"] = settings.metadata
    return {
        "status": "green",
        "optimizer_status": "ok",
        "indexed_vectors_count": info.indexed_vectors_count,
        "points_count": info.points_count,
        "segments_count": info.segments_count,
        "config": config,
        "payload_schema": schema,
    }
