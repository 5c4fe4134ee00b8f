"""Describes a collection the way `GET /collections/{name}` does."""

from passage.emulators.qdrant.collections import Collection
from passage.emulators.qdrant.indexes import payload_schema

# The server's defaults. They tune what a small shard does not have; clients only check that they are there.
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
_WAL = {"wal_capacity_mb": 32, "wal_segments_ahead": 0}
_STRICT = {"enabled": True, "unindexed_filtering_retrieve": False, "unindexed_filtering_update": False}


def collection_info(collection: Collection, strict: bool) -> dict[str, object]:
    """Counts, status and configuration of a collection."""
    with collection.engine() as shard:
        info = shard.info()
        schema = payload_schema(shard)
    config: dict[str, object] = {
        "params": {
            **collection.space.info(),
            "shard_number": 1,
            "replication_factor": 1,
            "write_consistency_factor": 1,
            "on_disk_payload": True,
        },
        "hnsw_config": _HNSW,
        "optimizer_config": _OPTIMIZERS,
        "wal_config": _WAL,
        "quantization_config": None,
        "strict_mode_config": _STRICT if strict else {"enabled": False},
    }
    if collection.metadata is not None:
        config["metadata"] = collection.metadata
    return {
        "status": "green",
        "optimizer_status": "ok",
        "indexed_vectors_count": info.indexed_vectors_count,
        "points_count": info.points_count,
        "segments_count": info.segments_count,
        "config": config,
        "payload_schema": schema,
    }
