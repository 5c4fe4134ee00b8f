"""How one collection is asked and answered: a TOML file under `profiles/`, read once and checked whole."""

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
"""Payload keys, the first one present wins; a dot reaches into a nested object."""


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
        """This section with what a deployment sets. Another space's model embeds the texts too."""
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
"""What a passage is made of, and the payload keys it was found under in live collections."""

NESTED = ("metadata", "document_metadata")
"""Objects that live collections keep some of these keys in."""


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
"""What `passage index` knows of a chunk; `passage.indexing.payloads` says what each is."""


class KeyPath(NamedTuple):
    """A key; with dots, a way into nested objects: `inner` leads on from the object under `outer`."""

    key: str
    outer: str
    inner: tuple[str, ...]

    @classmethod
    def of(cls, key: str) -> "KeyPath":
        outer, *inner = key.split(".")
        return cls(key, outer, tuple(inner))


class Payload(_Section):
    """Where a point keeps what a passage is made of. A point without a usable `text` and `url` is left out.

    A profile names its own keys; they come first. With `variants`, those met in live collections follow, so that a
    profile need not know every form its collection was ever written in.
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
        """The keys to look under, in order, for one of the meanings in `SEEN`."""
        return tuple(path.key for path in self.paths[meaning])

    @cached_property
    def paths(self) -> Mapping[str, tuple[KeyPath, ...]]:
        """The same for each meaning, taken apart: they are looked under for every point."""
        found: dict[str, tuple[KeyPath, ...]] = {}
        for meaning, seen in SEEN.items():
            own: tuple[str, ...] = getattr(self, meaning)
            nested = (f"{outer}.{key}" for outer in NESTED for key in seen)
            keys = dict.fromkeys((*own, *seen, *nested)) if self.variants else own
            found[meaning] = tuple(map(KeyPath.of, keys))
        return found

    @cached_property
    def read(self) -> tuple[str, ...]:
        """Every top-level key that is looked under, for asking the store for these alone."""
        return tuple(dict.fromkeys(path.outer for paths in self.paths.values() for path in paths))


class TextLimit(_Section):
    """Characters of the question. Names are those under which a request may carry it."""

    names: Keys
    min: int = Field(1, ge=1)
    max: int = Field(ge=1)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min > self.max:
            raise ValueError("min must not be above max")
        return self


class CountLimit(_Section):
    """How many passages may be asked for. `outside` says what a number beyond the limits gets."""

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
    """The fields a request may filter by, to the payload keys that stand for them."""
    stored: dict[str, Part | dict[str, Part]] = Field(default_factory=dict)
    """The payload `passage index` writes: its keys, nested ones too, to the part of the chunk each holds. Without it,
    every meaning is stored under the first key that `payload` names for it."""

    def serving(self, collection: str) -> "Profile":
        """This profile for another collection of the same shape."""
        return self.model_copy(update={"collection": self.collection.model_copy(update={"name": collection})})

    def overridden(self, settings: CollectionSettings) -> "Profile":
        """This profile with what a deployment sets for its own collection."""
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
    """A profile as the function serves it: what a deployment sets for a collection is the default profile's.

    Raises:
        As `load`.
    """
    profile = load(name)
    return profile.overridden(settings) if name == settings.default_profile else profile


def names() -> list[str]:
    """The profiles there are, in alphabetical order."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


@cache
def load(name: str) -> Profile:
    """Read and check one profile.

    Raises:
        NotFound: there is none of that name.
        ConfigurationError: names the file, the key and what is allowed.
    """
    if name not in names():  # a listing, not a path made from a caller's words
        raise NotFound(f"There is no such profile. Known are: {', '.join(names())}.")
    path = FOLDER / f"{name}.toml"
    try:
        return Profile.model_validate({**tomllib.loads(path.read_text(encoding="utf-8")), "name": name})
    except (OSError, ValueError) as error:  # not readable, not UTF-8, not TOML, not a profile
        raise ConfigurationError(f"profiles/{path.name} is not usable: {_explain(error)}") from error


def _explain(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    items: list[Any] = list(error.errors())
    return "; ".join(f"{'.'.join(str(part) for part in item['loc'])}: {_expected(item)}" for item in items)


def _expected(item: Any) -> str:
    """What a key takes; of one that there is not, which ones there are."""
    if item["type"] != "extra_forbidden":
        return str(item["msg"])
    section: Any = Profile
    for part in item["loc"][:-1]:
        section = section.model_fields[part].annotation
    allowed = [key for key in section.model_fields if section is not Profile or key != "name"]
    return f"there is no such key, allowed are {', '.join(allowed)}"
