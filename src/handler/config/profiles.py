"""Profiles: how to query one collection. Each is a TOML file under `profiles/`, read and validated once."""

import tomllib
from collections.abc import Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from handler.config import models
from handler.config.settings import CollectionSettings
from handler.core.errors import ConfigurationError, NotFound

FOLDER = Path(__file__).parent / "profiles"

Key = Annotated[str, Field(min_length=1)]
Keys = Annotated[tuple[Key, ...], Field(min_length=1)]
"""Payload keys in order of preference: the first one present is used. A dot reaches into a nested object."""


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Collection(_Section):
    """The Qdrant collection. `vector` is the vector's name, empty for the unnamed one."""

    name: str = Field(min_length=1)
    vector: str = ""
    dimension: int = Field(ge=1, le=65_536)
    distance: Literal["Cosine", "Dot"] = "Cosine"


class Embedding(_Section):
    """The models that embed questions and texts. Both give vectors of one space (`handler.config.models`)."""

    provider: models.Provider = "cohere"
    model: str = Field(min_length=1)
    """Embeds questions."""
    document_model: str | None = Field(None, min_length=1)
    """Embeds texts; None for the same model."""

    @property
    def for_texts(self) -> str:
        """The model that `passage index` embeds with."""
        return self.document_model or self.model

    def overridden(self, settings: CollectionSettings) -> "Embedding":
        """This section with the deployment's settings. A model of another vector space embeds the texts, too."""
        provider = settings.embedding_provider or self.provider
        model = settings.embedding_model or self.model
        kept = provider == self.provider and models.comparable(self.for_texts, model)
        document_model = settings.embedding_document_model or (self.document_model if kept else None)
        return self.model_copy(update={"provider": provider, "model": model, "document_model": document_model})


SEEN: dict[str, tuple[str, ...]] = {
    "text": ("text_content", "content", "chunk_text", "text", "original_text", "page_content", "document"),
    "url": ("source_url", "url", "source", "source_document", "source_file", "file_path"),
    "title": ("page_title", "title", "source_page_title", "section_title", "heading"),
    "chapter": ("chapter", "module", "chapter_id"),
    "section": ("section", "section_id", "subsection", "lesson"),
    "headings": ("section_headers", "headings", "headers", "heading_path"),
    "index": ("chunk_index", "position", "original_chunk_index", "start_position", "chunk_id"),
    "chunk_id": ("chunk_id",),
    "tokens": ("token_count", "chunk_size_tokens", "token_length", "tokens", "word_count"),
    "created_at": ("created_at", "timestamp", "stored_at", "ingested_at", "updated_at"),
    "model": ("embedding_model", "model_version"),
}
"""A passage's fields, each with the payload keys that live collections use for it."""

NESTED = ("metadata", "document_metadata")
"""Payload objects under which live collections nest some of these keys."""


Part = Literal[
    "text",
    "url",
    "title",
    "chapter",
    "section",
    "headings",
    "position",
    "total",
    "number",
    "uuid",
    "sha256",
    "tokens",
    "words",
    "content_type",
    "model",
    "epoch",
    "iso",
    "anchor",
    "language",
    "version",
]
"""The chunk values that `passage index` can store. `passage.indexing.payloads` defines each."""


class KeyPath(NamedTuple):
    """A payload key, split at its dots: `inner` is the path within the object under `outer`."""

    key: str
    outer: str
    inner: tuple[str, ...]

    @classmethod
    def of(cls, key: str) -> "KeyPath":
        outer, *inner = key.split(".")
        return cls(key, outer, tuple(inner))


class Payload(_Section):
    """The payload keys of a passage's fields. A point without a valid `text` and `url` is skipped.

    The profile's own keys come first. With `variants`, the keys in `SEEN` follow: a collection's points may have been
    written by several versions of its indexer.
    """

    text: Keys
    url: Keys
    title: tuple[Key, ...] = ()
    chapter: tuple[Key, ...] = ()
    section: tuple[Key, ...] = ()
    headings: tuple[Key, ...] = ()
    index: tuple[Key, ...] = ()
    chunk_id: tuple[Key, ...] = ()
    tokens: tuple[Key, ...] = ()
    created_at: tuple[Key, ...] = ()
    model: tuple[Key, ...] = ()
    variants: bool = True

    def keys(self, meaning: str) -> tuple[str, ...]:
        """The keys for one of the fields in `SEEN`, in order of preference."""
        return tuple(path.key for path in self.paths[meaning])

    @cached_property
    def paths(self) -> Mapping[str, tuple[KeyPath, ...]]:
        """The keys of every field, split once here because every point needs them."""
        found: dict[str, tuple[KeyPath, ...]] = {}
        for meaning, seen in SEEN.items():
            own: tuple[str, ...] = getattr(self, meaning)
            nested = (f"{outer}.{key}" for outer in NESTED for key in seen)
            keys = dict.fromkeys((*own, *seen, *nested)) if self.variants else own
            found[meaning] = tuple(map(KeyPath.of, keys))
        return found

    @cached_property
    def read(self) -> tuple[str, ...]:
        """All top-level keys in use, so that the store returns only these."""
        return tuple(dict.fromkeys(path.outer for paths in self.paths.values() for path in paths))


class TextLimit(_Section):
    """Limits on the question's length, in characters. `names` are the request fields that may hold it."""

    names: Keys
    min: int = Field(1, ge=1)
    max: int = Field(ge=1)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min > self.max:
            raise ValueError("min must not be above max")
        return self


class CountLimit(_Section):
    """Limits on the number of passages. `outside` says whether a number out of range is rejected or clamped."""

    names: Keys
    default: int = Field(ge=1)
    min: int = Field(1, ge=1)
    max: int = Field(ge=1)
    outside: Literal["reject", "clamp"] = "reject"

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.min <= self.default <= self.max:
            raise ValueError("min, default and max must be in ascending order")
        return self


class Query(_Section):
    text: TextLimit
    count: CountLimit

    @model_validator(mode="after")
    def _apart(self) -> Self:
        both = sorted(set(self.text.names) & set(self.count.names))
        if both:
            raise ValueError(f"text and count share the names {', '.join(both)}")
        return self


class Profile(_Section):
    name: str
    contract: str
    collection: Collection
    embedding: Embedding
    payload: Payload
    query: Query
    filters: dict[str, Keys] = Field(default_factory=dict)
    """The fields a request may filter by, mapped to their payload keys."""
    stored: dict[str, Part | dict[str, Part]] = Field(default_factory=dict)
    """The payload that `passage index` writes: keys, possibly nested, mapped to the chunk value each holds. If empty,
    every field is stored under its first key in `payload`."""

    def serving(self, collection: str) -> "Profile":
        """This profile for another collection of the same shape."""
        return self.model_copy(update={"collection": self.collection.model_copy(update={"name": collection})})

    def overridden(self, settings: CollectionSettings) -> "Profile":
        """This profile with the deployment's settings for its collection."""
        collection = {
            "name": settings.collection_name,
            "vector": settings.vector_name,
            "dimension": settings.embedding_dimension,
        }
        changes = {key: value for key, value in collection.items() if value is not None}
        return self.model_copy(
            update={
                "collection": self.collection.model_copy(update=changes),
                "embedding": self.embedding.overridden(settings),
            }
        )


def deployed(name: str, settings: CollectionSettings) -> Profile:
    """A profile as the function serves it. The deployment's collection settings apply to the default profile only.

    Raises:
        NotFound, ConfigurationError: as `load`.
    """
    profile = load(name)
    return profile.overridden(settings) if name == settings.default_profile else profile


def names() -> list[str]:
    """The names of all profiles, in alphabetical order."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


@cache
def load(name: str) -> Profile:
    """Read and validate one profile.

    Raises:
        NotFound: there is no profile of that name.
        ConfigurationError: names the file, the key and what is allowed.
    """
    if name not in names():  # never build a path from a caller's text
        raise NotFound(f"There is no such profile. The profiles are: {', '.join(names())}.")
    path = FOLDER / f"{name}.toml"
    try:
        return Profile.model_validate({**tomllib.loads(path.read_text(encoding="utf-8")), "name": name})
    except (OSError, ValueError) as error:  # not readable, not UTF-8, not TOML, not a profile
        raise ConfigurationError(f"profiles/{path.name} is invalid: {_explain(error)}") from error


def _explain(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    items: list[Any] = list(error.errors())
    return "; ".join(f"{'.'.join(str(part) for part in item['loc'])}: {_expected(item)}" for item in items)


def _expected(item: Any) -> str:
    """The reason a key is refused; for an unknown key, the names of the known ones."""
    if item["type"] != "extra_forbidden":
        return str(item["msg"])
    section: Any = Profile
    for part in item["loc"][:-1]:
        section = section.model_fields[part].annotation
    allowed = [key for key in section.model_fields if section is not Profile or key != "name"]
    return f"unknown key; allowed: {', '.join(allowed)}"
