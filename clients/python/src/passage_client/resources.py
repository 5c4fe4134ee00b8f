"""Types of the answers that are the same for every contract."""

from typing import Any, Literal, NotRequired, TypedDict


class Chunk(TypedDict):
    """One stored chunk."""

    id: int | str
    payload: dict[str, Any]
    vector: list[float] | None
    retrieval_time_ms: float


class CollectionInfo(TypedDict):
    """A collection's metadata; `notes` say how it is searched, `problems` lists its mismatches with the profile."""

    name: str
    vector_size: int
    distance_metric: str
    points_count: int
    indexed_vectors_count: int
    status: Literal["green", "yellow", "red"]
    embedding_model: NotRequired[str | None]
    search: NotRequired[Literal["dense", "hybrid"]]
    notes: NotRequired[list[str]]
    problems: NotRequired[list[str]]


class Profile(TypedDict):
    """One way to ask."""

    name: str
    contract: str
    collection: str
    dimension: int
    embedding_model: str
    query: str


class Profiles(TypedDict):
    """All profiles, and the name of the default one."""

    default: str
    profiles: list[Profile]
