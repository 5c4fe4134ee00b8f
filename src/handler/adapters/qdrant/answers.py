"""What Passage reads of a Qdrant server's answers about points (Qdrant, API reference). Other fields are ignored."""

from typing import Any

from pydantic import BaseModel, StrictInt, StrictStr


class StoredPoint(BaseModel):
    """A stored point. `vector` is a list, or a mapping by name, as the server sent it."""

    id: StrictInt | StrictStr
    payload: dict[str, Any] | None = None
    vector: Any = None


class ScoredPoint(StoredPoint):
    """A point that a search found."""

    score: float


class Points(BaseModel):
    """The points of one search."""

    points: list[ScoredPoint]


class Searched(BaseModel):
    """The answer to one search."""

    result: Points


class SearchedEach(BaseModel):
    """The answer to several searches, in their order."""

    result: list[Points]


class Records(BaseModel):
    """The answer to a request for points by their ids."""

    result: list[StoredPoint]


class ScrolledPage(BaseModel):
    """A page of points."""

    points: list[StoredPoint]


class FacetHit(BaseModel):
    """A value of a payload key."""

    value: Any


class Facet(BaseModel):
    """The values of a payload key."""

    hits: list[FacetHit]


class Faceted(BaseModel):
    """The answer to a request for a payload key's values."""

    result: Facet


class Scrolled(BaseModel):
    """The answer to a request for a page of points."""

    result: ScrolledPage
