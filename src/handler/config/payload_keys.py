"""Payload keys: where a point stores a passage's fields, and which values of a chunk can be written."""

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal, NamedTuple, Self, get_args

from pydantic import BaseModel, ConfigDict, Field

Key = Annotated[str, Field(min_length=1)]
Keys = Annotated[tuple[Key, ...], Field(min_length=1)]
"""Payload keys in order of preference: the first one present is used. A dot reaches into a nested object.

The object may be stored as a JSON text."""


class ProfileSection(BaseModel):
    """A table of a profile's TOML file."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    def with_changes(self, **changes: Any) -> Self:
        """This section with the changes that are not None."""
        return self.model_copy(update={key: value for key, value in changes.items() if value is not None})


KNOWN_KEYS: dict[str, tuple[str, ...]] = {
    "text": ("text_content", "content", "chunk_text", "text", "original_text", "page_content", "document", "body"),
    "url": (
        *("source_url", "url", "source", "source_document", "source_file", "file_path"),
        *("link", "permalink", "page_url", "sourceURL"),
    ),
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

RANKED_KEY = "ranked_text"
"""The text that a search by words ranks: a passage below the titles above it. `passage index` writes it, and no answer
shows it. A collection without it is ranked by the passages alone."""


TITLES_KEY = "ranked_title"
"""The titles that begin with a passage: that of its section, and those above it that no passage has before. A search in
titles ranks them, so a section is found once. `passage index` writes the key, and no answer shows it."""


def ranked_key(language: str) -> str:
    """The key of that text in one language, as `ranked_text_pt` for `pt-BR`: its index has the language's stemmer.

    `passage index` writes it for a site in several languages, beside `RANKED_KEY`.
    """
    return f"{RANKED_KEY}_{language_code(language)}"


def language_code(language: str) -> str:
    """The code (ISO 639) at the beginning of a language tag: `pt` of `pt-BR`."""
    return language.lower().replace("_", "-").partition("-")[0]


def is_ranked(key: str) -> bool:
    """Whether a key holds text that only a search reads: titles, or words in any language or in one (ISO 639-1)."""
    return key in (RANKED_KEY, TITLES_KEY) or (len(key) == len(RANKED_KEY) + 3 and key.startswith(f"{RANKED_KEY}_"))


NESTED_OBJECTS = ("metadata", "document_metadata", "meta")
"""Payload objects under which live collections nest some of these keys."""


_Heading = Literal["title", "chapter", "section", "headings", "anchor"]
_Text = Literal["text", "url", "page_url", "content_type", "model", "language", "version"]
_Number = Literal["position", "total", "tokens", "words"]
_Identity = Literal["number", "uuid", "sha256"]
ChunkField = Literal[_Heading, _Text, _Number, _Identity, "epoch", "iso"]
"""The chunk values that `passage index` can store. `passage.indexing.payloads` defines each."""

Kind = Literal["text", "number", "time", "epoch", "any"]
"""What a payload key holds, for filters."""


def kind_of(field: str) -> Kind:
    """The kind of a chunk field. A chunk's id is of any kind, as in live collections."""
    if field == "epoch":
        return "epoch"
    if field == "iso":
        return "time"
    if field in get_args(_Number):
        return "number"
    return "any" if field in get_args(_Identity) else "text"


def open_object(value: Any) -> Mapping[str, Any]:
    """A nested object, or one that is stored as a JSON text, as LlamaIndex's `_node_content`; else an empty one."""
    if isinstance(value, str) and value.startswith("{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}


class KeyPath(NamedTuple):
    """A payload key, split at its dots: `inner` is the path within the object under `outer`."""

    key: str
    outer: str
    inner: tuple[str, ...]

    @classmethod
    def of(cls, key: str) -> "KeyPath":
        outer, *inner = key.split(".")
        return cls(key, outer, tuple(inner))

    def value(self, payload: Mapping[str, Any]) -> Any:
        """What a payload stores under the key; None without it."""
        key, outer, inner = self
        value = payload.get(key)
        if value is None and inner:
            value = payload.get(outer)
            for part in inner:
                if value is None:
                    break
                value = (value if isinstance(value, dict) else open_object(value)).get(part)
        return value


class Payload(ProfileSection):
    """The payload keys of a passage's fields. A point without a valid `text` and `url` is skipped.

    The profile's own keys come first. With `variants`, the keys in `KNOWN_KEYS` follow: several versions of an indexer
    may have written a collection's points.
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
    page: tuple[Key, ...] = ()
    """The page's address: the URL without its fragment. Neighbors are then found by one exact match."""
    variants: bool = True

    def keys(self, field: str) -> tuple[str, ...]:
        """The keys for `page` or one of the fields in `KNOWN_KEYS`, in order of preference."""
        return tuple(path.key for path in self.paths[field])

    @cached_property
    def paths(self) -> Mapping[str, tuple[KeyPath, ...]]:
        """The keys of every field, split once here because every point needs them."""
        named_paths: dict[str, tuple[KeyPath, ...]] = {}
        for field, known in KNOWN_KEYS.items():
            own: tuple[str, ...] = getattr(self, field)
            nested = (f"{outer}.{key}" for outer in NESTED_OBJECTS for key in known)
            keys = dict.fromkeys((*own, *known, *nested)) if self.variants else own
            named_paths[field] = tuple(map(KeyPath.of, keys))
        return {**named_paths, "page": tuple(map(KeyPath.of, self.page))}

    @cached_property
    def read(self) -> tuple[str, ...]:
        """All top-level keys in use, so that the store returns only these."""
        return tuple(dict.fromkeys(path.outer for paths in self.paths.values() for path in paths))
