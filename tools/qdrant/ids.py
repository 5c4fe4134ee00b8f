"""Point ids: unsigned 64-bit integers and UUIDs."""

from uuid import UUID

from tools.qdrant.errors import format_error

PointId = int | UUID | str  # the types of the engine's bindings

_MAX_ID = 2**64 - 1


def parse_id(value: object) -> PointId:
    """A point id from JSON."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_ID:
        return value
    if isinstance(value, str):
        try:
            return UUID(value)
        except ValueError:
            pass  # refused below, like every other value
    raise format_error(f"value {value} is not a valid point ID, valid values are either an unsigned integer or a UUID")


def parse_ids(values: object) -> list[PointId]:
    """Point ids from a JSON list."""
    if not isinstance(values, list):
        raise format_error("expected a list of point ids")
    return [parse_id(value) for value in values]


def id_json(point_id: object) -> int | str:
    """A point id as JSON."""
    return point_id if isinstance(point_id, int) else str(point_id)
