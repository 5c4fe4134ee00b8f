"""Finds out whether a collection can rank by text, from the server's version and metadata. Once per container.

Qdrant ranks by BM25 since 1.20, over a payload's text index with `scoring`. An older server ignores `scoring` without
an error. So the version is read before the first search.
"""

import json
import math
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from handler import telemetry
from handler.adapters.qdrant.limits import NO_LIMITS, Limits
from handler.config.payload_keys import RANKED_KEY, TITLES_KEY, is_ranked, ranked_key
from handler.config.profiles import Profile
from handler.config.validation import check_embedder
from handler.core import deadline as deadlines
from handler.core.deadline import Deadline, with_one_retry
from handler.core.errors import (
    CollectionNotFound,
    ConfigurationError,
    CredentialsRefused,
    ModelMismatch,
    PassageError,
    UpstreamError,
    UpstreamUnavailable,
)
from handler.core.model import Noise, Search
from handler.core.words import indexed_words

LEAST_VERSION = (1, 20)

LONGEST_PREFIX = 10
"""The characters of a word that a search in titles compares. Each beginning of a word is a term of the index."""

UNREADABLE = (
    "The passages were found by their vectors alone: the vector store did not say whether it can also search by words."
)

FAILED_SECONDS = 60.0
"""How long metadata counts as unreadable after a failure, or a page, a redirect or a refusal in its place."""
COLLECTION = "/collections/{collection_name}"
"""The path of a collection's metadata."""


@dataclass(frozen=True)
class TextSearch:
    """How to search a collection by text and by vectors.

    Attributes:
        field: the payload key whose text index ranks.
        balance: how much vectors count against words, from 0 to 1.
        shards: of the collection. Each gives its own candidates.
        by_language: the keys that hold the text of one language each, with an index of their own.
        titles: whether titles have an index of their own.
    """

    field: str
    balance: float
    shards: int = 1
    by_language: frozenset[str] = frozenset()
    titles: bool = False

    def key(self, search: Search) -> str:
        """The payload key that ranks a search: the language's own if its filter names one language, else `field`.

        The filter keeps passages of other languages out anyway, so the language's index lacks none of the answer.
        """
        named = search.filters.get("language")
        keys = {ranked_key(str(value)) for value in named} if isinstance(named, tuple) else set()
        return keys.pop() if len(keys) == 1 and keys <= self.by_language else self.field


@dataclass(frozen=True)
class TextSupport:
    """Whether a collection can be searched by text.

    Attributes:
        search: how to; None when it can only be searched by vectors.
        note: for the operator: why it can not, and what would change it. Empty for a hybrid search.
        limits: of the collection.
        embedding_model: that the collection's metadata names; None if it names none.
        failure: why the indexes could not be read; None if they were.
        noise: as the collection's metadata has it; see `noise_of`.
        until: when to read again, on the monotonic clock: a reading that failed is not kept for ever.
    """

    search: TextSearch | None
    note: str = ""
    limits: Limits = NO_LIMITS
    embedding_model: str | None = None
    failure: PassageError | None = None
    noise: object = None
    until: float = math.inf

    @property
    def holds(self) -> bool:
        return time.monotonic() < self.until


class Get(Protocol):
    """Reads a path of the server as a JSON object. Raises PassageError."""

    def __call__(self, path: str, **parameters: str) -> Mapping[str, Any]: ...


def definition(language: str, tokenizer: str = "word") -> dict[str, Any]:
    """A text index in Qdrant's REST form (Qdrant, API reference, "Create payload index").

    Args:
        language: Qdrant's name for the stemmer and stop words; empty for none.
        tokenizer: Qdrant's name. With "prefix", each word is found by its beginning, as in `retr` for Retries.
    """
    words: dict[str, Any] = {"type": "text", "tokenizer": tokenizer, "lowercase": True, "ascii_folding": True}
    words["scoring"] = True
    if tokenizer == "prefix":
        words |= {"min_token_len": 1, "max_token_len": LONGEST_PREFIX}
    if language:
        words["stemmer"] = {"type": "snowball", "language": language}
        words["stopwords"] = {"languages": [language]}
    return words


def asked_words(key: str, question: str) -> str:
    """A question in the form in which a text index under that key has its words: Passage's own, or as it is."""
    return indexed_words(question) if is_ranked(key) else question


def ranking_field(profile: Profile, indexes: Mapping[str, Any]) -> str | None:
    """The key that a search by words ranks: the text with its titles, or the first text key with a scoring index.

    Args:
        indexes: the parameters of each text index, by payload key.
    """
    keys = (RANKED_KEY, *profile.payload.keys("text"))
    return next((key for key in keys if _scores(indexes.get(key))), None)


def noise_of(profile: Profile, stored: object) -> Noise | None:
    """The noise of a collection: the profile's, else the one stored with it; None without either.

    Args:
        stored: as `passage index` wrote it. It holds for the model that embedded its questions.
    """
    if profile.noise is not None:
        return Noise(profile.noise.p50, profile.noise.p90)
    if not isinstance(stored, Mapping) or stored.get("model") != profile.embedding.model:
        return None
    p50, p90 = stored.get("p50"), stored.get("p90")
    return Noise(p50, p90) if isinstance(p50, float) and isinstance(p90, float) else None


def language_keys(indexes: Mapping[str, Any]) -> frozenset[str]:
    """The keys that hold the text of one language and have a scoring index.

    Args:
        indexes: see `ranking_field`.
    """
    others = (RANKED_KEY, TITLES_KEY)
    return frozenset(key for key, one in indexes.items() if key not in others and is_ranked(key) and _scores(one))


def has_titles(indexes: Mapping[str, Any]) -> bool:
    """Whether titles can be searched.

    Args:
        indexes: see `ranking_field`.
    """
    return _scores(indexes.get(TITLES_KEY))


def _scores(index: Mapping[str, Any] | None) -> bool:
    return index is not None and index.get("scoring") is True


def read_text_support(get: Get, profile: Profile, services: Collection[str] = ()) -> TextSupport:
    """Read the server's version and the collection's indexes. Without a hybrid search, the log says why.

    A server that tells its version but not its indexes may still search by vectors, so that is a `failure`, not raised.
    One that tells neither is taken to be down.

    Args:
        services: see `check_embedder`.

    Raises:
        CollectionNotFound, CredentialsRefused: as a search would.
        ModelMismatch: another service embedded the collection.
        UpstreamError, DeadlineExceeded: temporary failures.
    """
    name = profile.collection.name
    version, down = None, False
    try:
        version = server_version(get)
    except UpstreamError:
        down = True
    try:
        info = _read_twice(get, name) if not down else get(COLLECTION, collection_name=name)
        check_metadata(profile, (info["result"].get("config") or {}).get("metadata") or {}, services)
        support = text_support(profile, info["result"], version)
    except (CollectionNotFound, CredentialsRefused, ModelMismatch):
        raise
    except (ConfigurationError, UpstreamError) as error:
        if down and isinstance(error, UpstreamError):
            raise
        note = f"The collection '{name}' is searched by vectors only: its metadata cannot be read: {error}"
        support = TextSupport(None, note, failure=error, until=time.monotonic() + FAILED_SECONDS)
    except (LookupError, TypeError, AttributeError) as error:
        raise UpstreamUnavailable(
            "The vector store returned an unreadable answer.", upstream="store", detail=repr(error)
        ) from error
    if support.note:
        telemetry.logger.warning(support.note)
    return support


def _read_twice(get: Get, name: str) -> Mapping[str, Any]:
    """A collection's metadata, read again after a temporary failure."""
    until = deadlines.current() or Deadline.after(1.0)
    return with_one_retry(lambda: get(COLLECTION, collection_name=name), until, "store")


def check_metadata(profile: Profile, metadata: Mapping[str, Any], services: Collection[str]) -> None:
    """Check who embedded a collection, if its metadata says that. See `check_embedder`.

    Raises:
        ModelMismatch: a service whose vectors are not comparable with the questions'.
    """
    made_by, model = metadata.get("embedded_by"), metadata.get("embedding_model")
    if isinstance(made_by, str) and isinstance(model, str):
        what = f"The collection '{profile.collection.name}'"
        check_embedder(profile, made_by, model, services, what)


def server_version(get: Get) -> tuple[int, int] | None:
    """The server's version; None where a proxy hides it. Only Qdrant 1.20 or newer shows `scoring` anyway.

    Raises:
        UpstreamError, DeadlineExceeded: temporary failures.
    """
    try:
        return version_of(get("/"))
    except ConfigurationError:
        return None


def text_support(profile: Profile, info: Mapping[str, Any], version: tuple[int, int] | None) -> TextSupport:
    """Whether a collection can be searched by text, and how.

    Args:
        info: the collection's metadata in Qdrant's REST form.
        version: the server's; None if it is not known.
    """
    config = info.get("config") or {}
    metadata = config.get("metadata") or {}
    model = metadata.get("embedding_model")
    model = model if isinstance(model, str) else None
    by_vectors = TextSupport(None, limits=Limits.of(info), embedding_model=model, noise=metadata.get("noise"))
    if version is not None and version < LEAST_VERSION:
        return replace(
            by_vectors,
            note=f"The collection '{profile.collection.name}' is searched by vectors only: ranking by text needs "
            f"Qdrant 1.20, and the server is {version[0]}.{version[1]}. Update the server, and run `passage index` "
            "again.",
        )
    schema: Mapping[str, Any] = info.get("payload_schema") or {}
    indexes = {key: one.get("params") for key, one in schema.items()}
    field = ranking_field(profile, indexes)
    if field is None:
        return replace(by_vectors, note=_missing(profile, schema))
    embedded_by = metadata.get("embedded_by")
    shards = (config.get("params") or {}).get("shard_number")
    balance = profile.search.balance_for(str(embedded_by or ""))
    by_text = TextSearch(
        field,
        balance,
        shards if isinstance(shards, int) else 1,
        by_language=language_keys(indexes),
        titles=has_titles(indexes),
    )
    return replace(by_vectors, search=by_text)


def _missing(profile: Profile, schema: Mapping[str, Any]) -> str:
    """The note that names the index a collection lacks, and the request that creates it."""
    name, keys = profile.collection.name, profile.payload.keys("text")
    key = next((key for key in keys if key in schema), keys[0])
    body = json.dumps({"field_name": key, "field_schema": definition("english")})
    return (
        f"The collection '{name}' is searched by vectors only: it has no text index with scoring on '{key}'. To search "
        f"by words, too, create one, with the site's language in place of english: PUT /collections/{name}/index {body}"
    )


def version_of(answer: Mapping[str, Any]) -> tuple[int, int] | None:
    """Major and minor version in the answer of `GET /`; None if it has none."""
    major, _, rest = str(answer.get("version")).partition(".")
    minor = rest.partition(".")[0]
    return (int(major), int(minor)) if major.isdecimal() and minor.isdecimal() else None
