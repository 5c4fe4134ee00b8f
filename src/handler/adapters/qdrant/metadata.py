"""A collection's metadata on a Qdrant server, and whether it can be searched by text. Read once per container.

An older server ignores a text index's `scoring` without an error, so its version is read before the first search.
"""

import json
import math
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import AliasPath, BaseModel, Field

from handler import telemetry
from handler.adapters.qdrant.connection import COLLECTION, Answer, Connection, version_of
from handler.adapters.qdrant.text_search import TextSearch, definition
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
)

RANKS_BY_TEXT = (1, 20)
"""The first version that ranks by text (Qdrant, "Text index")."""

UNREADABLE = (
    "The passages were found by their vectors alone: the vector store did not say whether it can also search by words."
)

FAILED_SECONDS = 60.0
"""How long metadata counts as unreadable after a failure, or a page, a redirect or a refusal in its place."""


class VectorParams(BaseModel, defer_build=True):
    """What one vector of each point is."""

    size: int
    distance: str


class Limits(BaseModel, defer_build=True, frozen=True):
    """What strict mode allows a search; None for no limit (Qdrant, "Strict mode").

    Attributes:
        max_query_limit: how many points one search may ask for.
        search_max_batchsize: how many searches one request may have.
        filter_max_conditions: of one filter.
        condition_max_size: how many values one condition may have.
    """

    enabled: bool | None = None
    max_query_limit: int | None = None
    search_max_batchsize: int | None = None
    filter_max_conditions: int | None = None
    condition_max_size: int | None = None

    def fit(self, each: int, top_k: int, shards: int) -> int:
        """The length of a hybrid search's lists within the limit, but not below the requested number of passages.

        Args:
            each: the length of each list. The similarities of what words found take `each * shards` points.
        """
        most = self.max_query_limit
        return each if most is None else max(top_k, min(each, most // shards))


NO_LIMITS = Limits.model_construct()  # `Limits()` would build the validator at each cold start


class PayloadIndex(BaseModel, defer_build=True):
    """An index of one payload key."""

    data_type: str
    params: dict[str, Any] | None = None


class CollectionMetadata(BaseModel, defer_build=True):
    """What Passage reads of a collection's metadata (Qdrant, API reference, "Get collection details")."""

    status: str
    points_count: int | None = None
    indexed_vectors_count: int | None = None
    params: dict[str, Any] = Field(validation_alias=AliasPath("config", "params"), repr=False)
    """Every collection has them: an answer without is no metadata."""
    vectors: VectorParams | dict[str, VectorParams] | None = Field(
        None, validation_alias=AliasPath("config", "params", "vectors")
    )
    shards: int = Field(1, validation_alias=AliasPath("config", "params", "shard_number"))
    strict_mode: Limits | None = Field(None, validation_alias=AliasPath("config", "strict_mode_config"))
    metadata: dict[str, Any] | None = Field(None, validation_alias=AliasPath("config", "metadata"))
    """By the collection's owner: `passage index` gives the service, the model and the noise."""
    payload_schema: dict[str, PayloadIndex] = {}

    def text(self, key: str) -> str | None:
        """What its owner gave it under a key, if that is text."""
        value = (self.metadata or {}).get(key)
        return value if isinstance(value, str) else None

    @property
    def limits(self) -> Limits:
        return self.strict_mode if self.strict_mode and self.strict_mode.enabled else NO_LIMITS

    @property
    def vectors_by_name(self) -> Mapping[str, VectorParams]:
        """The unnamed one has the empty name."""
        return {"": self.vectors} if isinstance(self.vectors, VectorParams) else self.vectors or {}

    @property
    def sizes(self) -> dict[str, int]:
        """The dimension of each vector, by name."""
        return {name: params.size for name, params in self.vectors_by_name.items()}


def read(connection: Connection) -> CollectionMetadata:
    """The collection's metadata. Raises the same errors as a search."""
    return connection.get(COLLECTION, Answer[CollectionMetadata]).result


@dataclass(frozen=True)
class TextSupport:
    """Whether a collection can be searched by text.

    Attributes:
        search: how to; None when it can only be searched by vectors.
        note: for the operator: why it can not, and what would change it. Empty for a hybrid search.
        limits: of the collection.
        embedding_model: that the collection's metadata names; None if it names none.
        failure: why the indexes could not be read; None if they were.
        noise: as the collection's metadata has it; see `text_search.noise_of`.
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


def read_text_support(connection: Connection, profile: Profile, services: Collection[str]) -> TextSupport:
    """Read the server's version and the collection's indexes. The log says why a hybrid search is not possible.

    A server that tells its version but not its indexes may still search by vectors, so that is a `failure`, not raised.
    One that tells neither is taken to be down.

    Args:
        services: see `check_embedder`.

    Raises:
        CollectionNotFound, CredentialsRefused: as a search would.
        ModelMismatch: another service embedded the collection.
        UpstreamError, DeadlineExceeded: temporary failures.
    """
    version, down = None, False
    try:
        version = server_version(connection)
    except UpstreamError:
        down = True
    until = deadlines.current() or Deadline.after(1.0)
    try:
        info = read(connection) if down else with_one_retry(lambda: read(connection), until, "store")
        check_metadata(profile, info, services)
        support = text_support(profile, info, version)
    except (CollectionNotFound, CredentialsRefused, ModelMismatch):
        raise
    except (ConfigurationError, UpstreamError) as error:
        if down and isinstance(error, UpstreamError):
            raise
        name = profile.collection.name
        note = f"The collection '{name}' is searched by vectors only: its metadata cannot be read: {error}"
        support = TextSupport(None, note, failure=error, until=time.monotonic() + FAILED_SECONDS)
    if support.note and profile.search.mode != "dense":  # which reads them for `fit` alone
        telemetry.logger.warning(support.note)
    return support


def check_metadata(profile: Profile, info: CollectionMetadata, services: Collection[str]) -> None:
    """Check who embedded a collection, if its metadata says that. See `check_embedder`.

    Raises:
        ModelMismatch: a service whose vectors are not comparable with the questions'.
    """
    made_by, model = info.text("embedded_by"), info.text("embedding_model")
    if made_by is not None and model is not None:
        check_embedder(profile, made_by, model, services, f"The collection '{profile.collection.name}'")


def server_version(connection: Connection) -> tuple[int, int] | None:
    """The server's version; None where a proxy hides it. Only Qdrant 1.20 or newer shows `scoring` anyway.

    Raises:
        UpstreamError, DeadlineExceeded: temporary failures.
    """
    try:
        return version_of(connection.get("/", dict[str, Any]))
    except ConfigurationError:
        return None


def text_support(profile: Profile, info: CollectionMetadata, version: tuple[int, int] | None) -> TextSupport:
    """Whether a collection can be searched by text, and how.

    Args:
        version: the server's; None if it is not known.
    """
    name, indexes = profile.collection.name, {key: index.params for key, index in info.payload_schema.items()}
    search = None
    if version is not None and version < RANKS_BY_TEXT:
        note = (
            f"The collection '{name}' is searched by vectors only: ranking by text needs Qdrant 1.20, and the server "
            f"is {version[0]}.{version[1]}. Update the server, and run `passage index` again."
        )
    else:
        search = TextSearch.of(profile, indexes, info.text("embedded_by") or "", info.shards)
        note = "" if search else _explain_missing_index(profile, indexes)
    noise = (info.metadata or {}).get("noise")
    return TextSupport(search, note, info.limits, info.text("embedding_model"), noise=noise)


def _explain_missing_index(profile: Profile, indexed: Collection[str]) -> str:
    """The note that names the index a collection lacks, and the request that creates it."""
    name, keys = profile.collection.name, profile.payload.keys("text")
    key = next((key for key in keys if key in indexed), keys[0])
    body = json.dumps({"field_name": key, "field_schema": definition("english")})
    return (
        f"The collection '{name}' is searched by vectors only: it has no text index with scoring on '{key}'. To search "
        f"by words, too, create one, with the site's language in place of english: PUT /collections/{name}/index {body}"
    )
