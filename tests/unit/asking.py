"""The whole function with fakes at the core's ports: takes an event, returns an answer."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from handler.adapters.qdrant.payload import Hit, read
from handler.bootstrap.container import Container
from handler.config import profiles
from handler.config.profiles import Profile
from handler.contracts import registry
from handler.core.errors import PassageError
from handler.core.model import Noise, PointId, Search, SearchResult, Vector
from handler.core.retrieve import Retriever
from handler.entrypoints.detect import Source
from handler.entrypoints.http import handler as http
from passage.local.http_event import http_api_event
from published import published_schema
from unit.pipelines import BareStore, pipeline

NAMES = profiles.names()
every_profile = pytest.mark.parametrize("name", NAMES)
ENVIRON = {
    "COHERE_API_KEY": "key",
    "QDRANT_URL": "http://127.0.0.1:1",
    "ALLOWED_COLLECTIONS": "rag_embeddings",
    "PROFILES": ",".join(NAMES),
}


@dataclass
class FixedEmbedder:
    """Returns the same vector for every text, or fails."""

    profile: Profile
    failure: PassageError | None = None
    asked: list[str] = field(default_factory=list)

    @property
    def model(self) -> str:
        return self.profile.embedding.model

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.asked += texts
        if self.failure is not None:
            raise self.failure
        return [[1.0] * self.profile.collection.dimension for _ in texts]

    def warm(self) -> None: ...


@dataclass
class FixedStore(BareStore):
    """Returns all its points for any search, like a store that breaks its contract, or fails."""

    profile: Profile
    hits: Sequence[Hit] = ()
    failure: PassageError | None = None
    asked: list[Search] = field(default_factory=list)
    measured: Noise | None = None

    @property
    def collection(self) -> str:
        return self.profile.collection.name

    def search(self, searches: Sequence[tuple[Vector, Search]]) -> list[SearchResult]:
        self.asked += [search for _, search in searches]
        if self.failure is not None:
            raise self.failure
        return [read(self.hits, self.profile.payload) for _ in searches]

    def noise(self) -> Noise | None:
        return self.measured

    def holders(self, words: Sequence[str], most: int) -> Mapping[str, frozenset[PointId]]:
        return {}

    def values(self, keys: Sequence[str], most: int) -> Mapping[str, tuple[str, ...]]:
        return {}


class FakedContainer(Container):
    """A container with fakes at its ports."""

    def __init__(self, **variables: str) -> None:
        super().__init__(ENVIRON | variables)
        self.hits: Sequence[Hit] = ()
        self.embedding_failure: PassageError | None = None
        self.store_failure: PassageError | None = None
        self.embedded: list[str] = []
        self.searches: list[Search] = []
        self.noise: Noise | None = None

    def hold(self, hits: Sequence[Hit]) -> None:
        """Answer from these points, without a failure."""
        self.hits, self.embedding_failure, self.store_failure = hits, None, None
        self.served.cache_clear()  # so that the pipelines are built with these fakes

    def retriever(self, profile: Profile) -> Retriever:
        embedder = FixedEmbedder(profile, self.embedding_failure, self.embedded)
        store = FixedStore(profile, self.hits, self.store_failure, self.searches, self.noise)
        contract = registry.find(profile)
        return pipeline(
            embedder,
            store,
            dimension=profile.collection.dimension,
            displayable=contract.displayable,
            order=contract.order,
        )


CONTAINER = FakedContainer()
"""One for all; its fakes change with each question."""


@dataclass(frozen=True)
class Answer:
    """An HTTP answer, and the calls of the two ports."""

    status: int
    kind: str
    text: str
    embedded: tuple[str, ...]
    searches: tuple[Search, ...]

    @property
    def json(self) -> Any:
        """The body, which must be strict JSON."""
        return json.loads(self.text, parse_constant=_not_json)


def _not_json(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def send(
    event: Mapping[str, Any],
    hits: Sequence[Hit] = (),
    *,
    embedding_failure: PassageError | None = None,
    store_failure: PassageError | None = None,
) -> Answer:
    """The answer to an event."""
    CONTAINER.hold(hits)
    CONTAINER.embedded, CONTAINER.searches = [], []
    CONTAINER.embedding_failure, CONTAINER.store_failure = embedding_failure, store_failure
    response = http.handle(event, None, CONTAINER, Source.HTTP_API)
    headers = {name.lower(): value for name, value in response["headers"].items()}
    return Answer(
        response["statusCode"],
        headers["content-type"],
        response["body"],
        tuple(CONTAINER.embedded),
        tuple(CONTAINER.searches),
    )


def post(profile: str, body: bytes, hits: Sequence[Hit] = (), **failures: Any) -> Answer:
    return send(http_api_event("POST", f"/profiles/{profile}/query", body=body), hits, **failures)


def ask(profile: str, fields: Any, hits: Sequence[Hit] = (), **failures: Any) -> Answer:
    return post(profile, json.dumps(fields).encode(), hits, **failures)


def answered(profile: str, hits: Sequence[Hit], **fields: Any) -> dict[str, Any]:
    """The body of a successful answer. A question is added if none is given."""
    limits = profiles.load(profile).query.text
    question = {} if set(limits.names) & fields.keys() or "query_vector" in fields else {limits.names[0]: "question"}
    answer = ask(profile, {**question, **fields}, hits)
    assert answer.status == 200, answer.text
    body: dict[str, Any] = answer.json
    return body


def refusal(profile: str, **fields: Any) -> dict[str, Any]:
    """The body of a refused request. Checks that neither service was called."""
    answer = ask(profile, fields)
    assert answer.status == 400, answer.text
    assert not answer.embedded
    assert not answer.searches
    assert_published(profile, answer)
    body: dict[str, Any] = answer.json
    return body


def code_of(body: dict[str, Any]) -> str:
    """The code of an error in any contract's form."""
    error = body["error"] if isinstance(body.get("error"), dict) else body
    code: str = error["code"]
    return code


@cache
def _validator(profile: str, *, error: bool) -> Draft202012Validator:
    schema = published_schema(profiles.load(profile), "Error" if error else "Response")
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def assert_published(profile: str, answer: Answer) -> None:
    """Check that an answer matches the profile's published schema, in strict JSON and UTF-8."""
    answer.text.encode("utf-8")
    assert answer.kind == "application/json"
    body = answer.json
    json.dumps(body, allow_nan=False)
    _validator(profile, error=answer.status != 200).validate(body)
