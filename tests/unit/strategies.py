"""Strategies for payloads and requests: mostly plausible, sometimes any JSON."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from handler.adapters.qdrant.payload import Hit
from handler.config.payload_keys import KNOWN_KEYS, NESTED_OBJECTS
from handler.config.profiles import Profile
from handler.contracts import registry
from handler.core.texts import INVISIBLE


def at_most(examples: int) -> int:
    """The number of examples for a property; fewer with `make test-fast`, whose profile has a lower limit."""
    return min(examples, settings.default.max_examples)


bounded = settings(max_examples=at_most(25), deadline=None)
"""For properties that test a whole request, so that all of them together take less than a minute."""

encodable = st.text(max_size=40)
wild = st.text(st.characters(exclude_categories=()), max_size=40)
"""Text with anything in it, unpaired surrogates and NUL as well."""

huge = st.sampled_from([2**31, 2**53, 2**53 + 1, 2**63, 2**64, -(2**63), 10**30, -(10**30), 10**400, -(10**400)])
numbers = st.integers(-5, 200) | st.integers() | huge | st.floats()
anything = st.recursive(
    st.none() | st.booleans() | numbers | wild,
    lambda children: st.lists(children, max_size=3) | st.dictionaries(wild, children, max_size=3),
    max_leaves=6,
)
words = st.text(min_size=1, max_size=60).filter(lambda text: text.strip(INVISIBLE))
"""Text that a question or a passage may be."""

ids = st.integers(0, 2**64 - 1) | st.uuids().map(str)
scores = st.floats(-1.1, 1.1) | st.floats() | st.sampled_from([0.0, -0.0, 0.5, 1.0, 1.0000001, -1.0])
addresses = st.sampled_from(
    ["https://example.com/ros2/", "http://localhost:3000/a#b", "https://user.github.io/", "https://пример.рф/страница"]
)
not_addresses = st.sampled_from(
    [
        "docs/intro.md",
        "ftp://example.com/",
        "https://",
        "http:///x",
        "https://a b/",
        "http://[",
        "javascript:alert(1)",
        "//h",
    ]
)
times = (
    st.integers(0, 4_102_444_800)
    | st.floats(0, 4_102_444_800)
    | st.integers(1_000_000_000_000, 4_102_444_800_000)
    | st.datetimes().map(lambda moment: moment.isoformat())
    | st.datetimes(timezones=st.timezones()).map(lambda moment: moment.isoformat())
    | st.dates().map(lambda day: day.isoformat())
    | st.sampled_from(["2025-12-10T15:30:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00", "today", ""])
    | st.sampled_from([1e300, -1e300, float("nan"), 10**400, -62_135_596_801, 253_402_300_800])
)


def hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


PLAUSIBLE: Mapping[str, st.SearchStrategy[Any]] = {
    "text": words,
    "url": addresses | not_addresses | wild,
    "title": wild,
    "chapter": wild,
    "section": wild,
    "headings": st.lists(wild, max_size=3) | wild,
    "index": st.integers(0, 500) | numbers,
    "chunk_id": st.integers(0, 10**6)
    | st.uuids().map(str)
    | words.map(lambda t: hashlib.sha256(t.encode()).hexdigest()),
    "tokens": st.integers(0, 600) | numbers,
    "created_at": times,
    "model": wild,
}


def _places(profile: Profile) -> dict[str, list[tuple[str, bool]]]:
    """For each field of a passage, all its payload keys, and whether their dots reach into objects."""
    return {
        meaning: [(key, nested) for key in profile.payload.keys(meaning) for nested in ({False, "." in key})]
        for meaning in KNOWN_KEYS
    }


def place(payload: dict[str, Any], key: str, value: Any, *, nested: bool) -> None:
    """Put a value where a profile reads it. An existing value that is not an object is kept."""
    *outer, last = key.split(".") if nested else [key]
    for name in outer:
        payload = payload.setdefault(name, {})
        if not isinstance(payload, dict):
            return
    payload[last] = value


@st.composite
def payloads(draw: st.DrawFn, profile: Profile) -> Any:
    """A point's payload: some fields, each under one or two of its known keys, flat or nested."""
    if draw(st.integers(0, 9)) == 0:
        return draw(st.none() | st.dictionaries(wild, anything, max_size=3))
    payload: dict[str, Any] = {}
    if draw(st.integers(0, 9)) == 0:
        payload[draw(st.sampled_from(NESTED_OBJECTS))] = draw(anything)
    for meaning, places in _places(profile).items():
        needed = meaning in ("text", "url")
        for _ in range(draw(st.sampled_from([1, 1, 1, 1, 2, 0] if needed else [0, 0, 1, 2]))):
            key, nested = draw(st.sampled_from(places))
            value = draw(PLAUSIBLE[meaning]) if draw(st.integers(0, 7)) else draw(anything)
            place(payload, key, value, nested=nested)
    return payload


def hits(profile: Profile, max_size: int = 8) -> st.SearchStrategy[list[Hit]]:
    """Results of a store that breaks its contract: any order, any score, points twice."""
    return st.lists(st.builds(Hit, ids, scores, payloads(profile)), max_size=max_size)


def passages(profile: Profile, min_size: int = 1, max_size: int = 12) -> st.SearchStrategy[list[Hit]]:
    """Displayable points with the profile's keys, best first, no text twice on a page."""
    own = profile.payload

    def hit(identity: Any, score: float, text: str, number: int) -> Hit:
        payload = {own.text[0]: text, own.url[0]: f"https://example.com/{number % 4}/"}
        if own.index:
            payload[own.index[0]] = number  # type: ignore[assignment]  # payloads hold anything
        return Hit(identity, score, payload)

    found = st.builds(hit, ids, st.floats(-1.05, 1.05), words, st.integers(0, 30))
    keys = (lambda item: item.id, lambda item: (item.payload[own.text[0]], item.payload[own.url[0]]))
    unique = st.lists(found, min_size=min_size, max_size=max_size, unique_by=keys)
    return unique.map(lambda items: sorted(items, key=lambda item: item.score, reverse=True))


FIELDS: Mapping[str, st.SearchStrategy[Any]] = {
    "max_chars": numbers,
    "max_tokens": numbers,
    "query_id": wild,
    "threshold": st.floats(0, 1) | numbers,
    "score_threshold": st.floats(0, 1) | numbers,
    "include_metadata": st.booleans(),
    "with_vectors": st.booleans(),
    "with_payload": st.booleans(),
    "collection_name": st.sampled_from(["textbook_embeddings", "rag_embeddings", "other", ""]) | wild,
    "query_vector": st.integers(0, 3).map(lambda size: [0.5] * size)
    | st.sampled_from([[0.5] * 1024, [1e300] * 1024, ["x"] * 1024]),
    "filters": st.dictionaries(
        st.sampled_from(["source_url", "chunk_index", "undeclared"]) | wild,
        wild | numbers | st.lists(wild | numbers, max_size=3),
        max_size=2,
    ),
}


def requests(profile: Profile) -> st.SearchStrategy[dict[str, Any]]:
    """A request's fields: its question under one of its names or none, other fields of the contract, unknown ones."""
    contract, limits = registry.find(profile), profile.query
    others = {name: FIELDS[name] for name in contract.request_model.model_fields if name in FIELDS}
    optional = {name: strategy | anything for name, strategy in others.items()}
    optional |= dict.fromkeys(limits.text.names, wild | anything)
    optional |= dict.fromkeys(limits.count.names, st.integers(-1, 101) | numbers | anything)
    question = st.sampled_from(limits.text.names).flatmap(lambda name: st.fixed_dictionaries({name: words | wild}))
    rest = st.fixed_dictionaries({}, optional=optional) | st.fixed_dictionaries({})
    unknown = st.dictionaries(wild, anything, max_size=2)
    return st.builds(lambda *parts: {**parts[0], **parts[1], **parts[2]}, unknown, rest, question | st.just({}))


def _deep(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


def _document(fields: Any, *, escaped: bool) -> bytes:
    return json.dumps(fields, ensure_ascii=escaped).encode("utf-8", "surrogatepass")


def bodies(profile: Profile) -> st.SearchStrategy[bytes]:
    """Any bytes: empty, any JSON, broken JSON, other text, invalid UTF-8."""
    sent = st.builds(_document, requests(profile) | anything, escaped=st.booleans())
    deep = st.sampled_from([_deep(10), _deep(500), _deep(200_000), b'{"text":' + _deep(900) + b"}", b"1" * 5_000])
    cut = st.builds(lambda document, end: document[:end], sent, st.integers(0, 30))
    return sent | sent | cut | deep | st.binary(max_size=60)
