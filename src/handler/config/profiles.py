"""Profiles: how to query one collection. Each is a TOML file under `profiles/`, read and validated once."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Literal, Self, get_args

from pydantic import Field, ValidationError, model_validator

from handler.config import models, providers
from handler.config.payload_keys import ChunkField, Keys, Kind, Payload, ProfileSection, kind_of
from handler.config.settings import CollectionSettings
from handler.core.errors import ConfigurationError, NotFound
from handler.core.model import SearchMode

FOLDER = Path(__file__).parent / "profiles"


class Collection(ProfileSection):
    """The Qdrant collection. `vector` is the vector's name, empty for the unnamed one."""

    name: str = Field(min_length=1)
    vector: str = ""
    dimension: int = Field(ge=1, le=65_536)
    distance: Literal["Cosine", "Dot"] = "Cosine"


class Embedding(ProfileSection):
    """The models that embed questions and texts. Both give vectors of one space (`handler.config.providers`)."""

    provider: providers.EmbeddingProvider = providers.DEFAULT
    model: str = Field(min_length=1)
    """Embeds questions."""
    document_model: str | None = Field(None, min_length=1)
    """Embeds texts; None for the same model."""

    @property
    def for_texts(self) -> str:
        """The model that `passage index` embeds with."""
        return self.document_model or self.model

    def with_settings(self, settings: CollectionSettings) -> "Embedding":
        """This section with the deployment's settings. A model of another vector space embeds the texts, too."""
        provider = settings.embedding_provider or self.provider
        model = settings.embedding_model or self.model
        kept = provider == self.provider and models.are_comparable(self.for_texts, model)
        document_model = settings.embedding_document_model or (self.document_model if kept else None)
        return self.model_copy(update={"provider": provider, "model": model, "document_model": document_model})


class SearchOptions(ProfileSection):
    """How the collection is searched: by vectors alone (dense), also by words (hybrid), or by words alone (words).

    Words need a collection whose text index ranks by BM25. A hybrid profile searches any other by vectors alone.
    """

    mode: SearchMode = "hybrid"
    without_embedding: Literal["error", "words"] = "error"
    """How a question is answered whose embedding fails or takes longer than `embedding_ms`."""
    embedding_ms: int = Field(3_000, ge=100, le=60_000)
    """The most milliseconds of an embedding, with `without_embedding = "words"`."""
    balance: float | None = Field(None, ge=0, le=1, strict=True)
    """How much vectors count against words: 0 for words alone, 1 for vectors alone. None for that of the vectors."""
    candidates: int = Field(30, ge=1, le=1000)
    """How many passages each list has. A larger number of requested passages makes the lists longer."""

    @property
    def has_vectors(self) -> bool:
        """Whether questions and texts are embedded."""
        return self.mode != "words"

    @property
    def embedding_seconds(self) -> float | None:
        """See `handler.core.retrieve.Retriever`."""
        return self.embedding_ms / 1000 if self.without_embedding == "words" and self.has_vectors else None

    def balance_for(self, embedded_by: str) -> float:
        """The balance of a search: this section's, else that of the vectors.

        Args:
            embedded_by: the provider that made the collection's vectors; empty if it is not known.
        """
        if self.balance is not None:
            return self.balance
        return providers.EMULATED_BALANCE if embedded_by == providers.EMULATOR else providers.BALANCE


class NoiseLevels(ProfileSection):
    """The best cosines that questions of other subjects get: their median and their 90th percentile.

    `passage index` stores them with an index. A profile has them for a collection that something else filled.
    """

    p50: float = Field(allow_inf_nan=False)
    p90: float = Field(allow_inf_nan=False)


class TextLimit(ProfileSection):
    """Limits on the question's length, in characters. `names` are the request fields that may hold it."""

    names: Keys
    min: int = Field(1, ge=1)
    max: int = Field(ge=1)

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.min > self.max:
            raise ValueError("min must not be above max")
        return self


class CountLimit(ProfileSection):
    """Limits on the number of passages. `outside` says whether a number out of range is rejected or clamped."""

    names: Keys
    default: int = Field(ge=1)
    min: int = Field(1, ge=1)
    max: int = Field(ge=1)
    outside: Literal["reject", "clamp"] = "reject"

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if not self.min <= self.default <= self.max:
            raise ValueError("min, default and max must be in ascending order")
        return self


class Query(ProfileSection):
    """What a request may send: the question's text, and the number of passages."""

    text: TextLimit
    count: CountLimit

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        both = sorted(set(self.text.names) & set(self.count.names))
        if both:
            raise ValueError(f"text and count share the names {', '.join(both)}")
        return self


class Profile(ProfileSection):
    """How one collection is queried: its contract, models, payload keys and limits. `name` is that of its file."""

    name: str
    contract: str
    collection: Collection
    embedding: Embedding
    payload: Payload
    query: Query
    search: SearchOptions = Field(default_factory=lambda: SearchOptions.model_validate({}))
    noise: NoiseLevels | None = None
    filters: dict[str, Keys] = Field(default_factory=dict)
    """The fields a request may filter by, mapped to their payload keys."""
    written_payload: dict[str, ChunkField | dict[str, ChunkField]] = Field(default_factory=dict)
    """The payload that `passage index` writes: keys, possibly nested, mapped to the chunk value each holds. If empty,
    every field is stored under its first key in `payload`."""

    def kind(self, key: str) -> Kind:
        """What `passage index` stores under a payload key: "any" where it stores nothing, or an id of any kind."""
        written: Any = self.written_payload
        for part in key.split("."):
            written = written.get(part) if isinstance(written, dict) else None
        return kind_of(written) if isinstance(written, str) else "any"

    def with_collection(self, collection: str) -> "Profile":
        """This profile for another collection of the same shape."""
        return self.with_changes(collection=self.collection.with_changes(name=collection))

    def with_settings(self, settings: CollectionSettings) -> "Profile":
        """This profile with the deployment's settings for its collection."""
        collection = self.collection.with_changes(
            name=settings.collection_name, vector=settings.vector_name, dimension=settings.embedding_dimension
        )
        search = self.search.with_changes(mode=settings.search_mode, without_embedding=settings.without_embedding)
        return self.with_changes(collection=collection, embedding=self.embedding.with_settings(settings), search=search)


def load_with_settings(name: str, settings: CollectionSettings) -> Profile:
    """A profile as the function serves it. The deployment's collection settings apply to the default profile only.

    Raises:
        NotFound, ConfigurationError: as `load`.
    """
    profile = load(name)
    return profile.with_settings(settings) if name == settings.default_profile else profile


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
        return str(item["msg"]).removeprefix("Value error, ")
    section: Any = Profile
    for part in item["loc"][:-1]:
        kind = section.model_fields[part].annotation
        section = next(iter(get_args(kind)), kind)  # a section that may be absent is `Section | None`
    allowed = [key for key in section.model_fields if section is not Profile or key != "name"]
    return f"unknown key; allowed: {', '.join(allowed)}"
