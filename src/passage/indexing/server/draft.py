"""Drafts the profile of an existing collection from its description and some of its points."""

import json
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qdrant_client.models import PayloadIndexInfo

from handler.adapters.qdrant.payload import without_ranked_text
from handler.config import models, providers
from handler.config.payload_keys import KNOWN_KEYS, NESTED_OBJECTS, open_object
from handler.config.profiles import Profile
from passage.indexing import noise
from passage.indexing.run import CachedEmbedder, Watch
from passage.indexing.server.connection import ServerConnection
from passage.indexing.target import TargetError

SAMPLE = 50
SHOWN = 60
"""The most characters of a value in a remark."""

TITLES = ("title", "page_title", "name")

FILTERED = ("keyword", "integer", "uuid", "bool")
"""Kinds of payload indexes that a filter by value can use."""

Payloads = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Draft:
    """A profile's file, what it reads as, and the parts that a person must check."""

    toml: str
    profile: Profile
    remarks: tuple[str, ...]


def draft(connection: ServerConnection, collection: str, contract: str, model: str | None = None) -> Draft:
    """The profile of a collection.

    Args:
        model: the one that made the vectors, if it was identified; None for the one that the collection names.

    Raises:
        TargetError: the collection does not exist, or no profile can describe it.
    """
    info = connection.collection(collection)
    if info is None:
        there = ", ".join(connection.collections()) or "none"
        raise TargetError(f"There is no collection '{collection}'. There are: {there}.")
    records, _ = connection.call(lambda client: client.scroll(collection, limit=SAMPLE))
    payloads = [_flat(without_ranked_text(record.payload or {})) for record in records]
    name, size, distance, others = _vector(info.config.params.vectors, collection)
    remarks = [f"other vectors: {', '.join(others)}"] if others else []
    said = (info.config.metadata or {}).get("embedding_model") or _most(payloads, KNOWN_KEYS["model"])
    if model and said and not models.are_comparable(model, str(said)):
        remarks.append(f"the collection names '{said}', but its vectors are those of {model}")
    keys = _require_keys(payloads, collection)
    name_of_model, provider = _model(model or said, size, remarks)
    remarks += _doubts(payloads, keys, list(info.config.params.sparse_vectors or ()))
    lines = [
        f"# Drafted from the collection {collection}: {info.points_count or 0:,} points, {len(payloads)} of them read.",
        *(f"# Look at: {remark}." for remark in remarks),
        f"contract = {_text(contract)}",
        "",
        "[collection]",
        f"name = {_text(collection)}",
        *([f"vector = {_text(name)}"] if name else []),
        f"dimension = {size}",
        f"distance = {_text(distance)}",
        "",
        "[embedding]",
        f"provider = {_text(provider)}",
        f"model = {_text(name_of_model)}",
        "",
        "[payload]",
        *(f"{meaning} = {_texts(keys_of)}" for meaning, keys_of in keys.items() if keys_of),
        "",
        "[query]",
        'text = { names = ["text", "query", "question"], max = 10000 }',
        'count = { names = ["k", "top_k"], default = 5, max = 100 }',
        *_filters(info.payload_schema),
    ]
    toml = "\n".join(lines) + "\n"
    return Draft(toml, Profile.model_validate({**tomllib.loads(toml), "name": "draft"}), tuple(remarks))


def noise_section(connection: ServerConnection, profile: Profile, asking: CachedEmbedder, watch: Watch) -> str:
    """The profile's `[noise]`, measured in its collection.

    Args:
        asking: embeds the questions.

    Raises:
        EmbeddingError: a question could not be embedded.
        TargetError: the server could not be searched.
    """
    vectors = asking.vectors(list(noise.texts(asking.kind)), watch)
    cosines = connection.best_cosines(profile.collection.name, profile.collection.vector, vectors)
    values = noise.measured(cosines, asking.kind, "")
    return f"\n[noise]\np50 = {values['p50']}\np90 = {values['p90']}\n"


def _require_keys(payloads: Payloads, collection: str) -> dict[str, list[str]]:
    """The keys of each meaning; see `_keys`.

    Raises:
        TargetError: no key holds a text, or none a URL.
    """
    keys = _keys(payloads)
    for meaning in ("text", "url"):
        if not keys[meaning]:
            raise TargetError(
                f"In {len(payloads)} points of '{collection}', no payload key holds a {meaning}: keys are "
                f"{', '.join(sorted({key for payload in payloads for key in payload})) or 'none'}. "
                "A profile cannot answer from such points."
            )
    return keys


def _doubts(payloads: Payloads, keys: Mapping[str, Sequence[str]], sparse: Sequence[str]) -> Iterator[str]:
    """What the draft does not use, or reads in a way that may be wrong."""
    if sparse:
        yield f"the sparse vectors {', '.join(sparse)} are not used; a hybrid search ranks the words of the text"
    for key in keys["url"]:
        values = [str(payload[key]) for payload in payloads if _is_text(payload.get(key))]
        if values and not any(map(_is_url, values)):
            yield f"'{key}' holds no links but, as it seems, file paths, as in '{values[0][:SHOWN]}'"
    for key in set(keys["title"]) & set(_guess_title(payloads)):
        yield f"'{key}' is read as the title, by its name alone"
    for key in keys["text"]:
        if any(open_object(payload.get(key)) or str(payload.get(key)).startswith("[{") for payload in payloads):
            yield f"the text in '{key}' is JSON in some points"


def _filters(schema: Mapping[str, PayloadIndexInfo]) -> Iterator[str]:
    """The lines of `[filters]`: indexed keys by their last part; none without an index."""
    filters: defaultdict[str, list[str]] = defaultdict(list)
    for key, index in schema.items():
        if index.data_type.value in FILTERED:
            filters[key.rpartition(".")[2]].append(key)
    if filters:
        yield from ("", "[filters]", *(f"{_text(name)} = {_texts(keys_of)}" for name, keys_of in filters.items()))


def _vector(vectors: Any, collection: str) -> tuple[str, int, str, list[str]]:
    """The vector to search: its name (empty: unnamed), size and distance, and the names of the others."""
    named = vectors if isinstance(vectors, dict) else {"": vectors} if vectors else {}
    usable = {name: params for name, params in named.items() if params.distance.value in ("Cosine", "Dot")}
    if not usable:
        has = ", ".join(f"'{name}' by {params.distance.value}" for name, params in named.items()) or "none"
        raise TargetError(
            f"'{collection}' has no dense vector that is compared by Cosine or Dot, as a profile needs: it has {has}."
        )
    name = next(iter(usable))
    return name, usable[name].size, usable[name].distance.value, [other for other in named if other != name]


def _model(said: object, size: int, remarks: list[str]) -> tuple[str, str]:
    """The model's name and provider; guessed from the dimension where the metadata has none."""
    fitting = models.with_dimension(providers.DEFAULT, size)
    name = str(said or (fitting[0] if fitting else "unknown"))
    known = models.find(name)
    if not said:
        choice = " or ".join(fitting) or f"no model of {providers.PROVIDERS[providers.DEFAULT].label}'s"
        remarks.append(
            f"the collection does not name its embedding model; {choice} gives vectors of {size}; "
            "--identify-model compares them"
        )
    elif known is None:
        remarks.append(f"'{name}' is none of the models that Passage knows; questions must be embedded with it")
    elif known.state == "retired":
        remarks.append(f"'{name}' was retired on {known.since}; index the site again, with {known.replacement}")
    return name, models.provider_of(known) if known else providers.DEFAULT


def _keys(payloads: Payloads) -> dict[str, list[str]]:
    """For each meaning, the keys that hold it, the most frequent first."""
    by_meaning: dict[str, list[str]] = {}
    taken: set[str] = set()
    for meaning in dict.fromkeys(("text", "url", "chunk_id", *KNOWN_KEYS)):  # these three choose their keys first
        fits = _FITS.get(meaning, _is_text)
        known = KNOWN_KEYS[meaning]
        candidates = [*known, *(f"{outer}.{key}" for outer in NESTED_OBJECTS for key in known)]
        counts = _count(payloads, candidates, fits)
        if not counts and meaning in _GUESSES:
            counts = Counter(_GUESSES[meaning](payloads))
        # One key may be a position and an id; otherwise a key has one meaning.
        keys = [key for key in counts if key not in taken or (meaning == "index" and key not in by_meaning["text"])]
        by_meaning[meaning] = sorted(
            keys, key=lambda key: (-counts[key], candidates.index(key) if key in candidates else 0)
        )
        taken |= set(by_meaning[meaning])
    return {meaning: by_meaning[meaning] for meaning in KNOWN_KEYS}


def _count(payloads: Payloads, keys: Sequence[str], fits: Callable[[Any], bool]) -> Counter[str]:
    """In how many payloads each key holds a fitting value."""
    return Counter(key for payload in payloads for key in keys if key in payload and fits(payload[key]))


def _guess_text(payloads: Payloads) -> Iterator[str]:
    """The key with the longest texts, of those with a usual name in another object if there are any."""
    lengths: Counter[str] = Counter()
    for payload in payloads:
        lengths.update({key: len(value) for key, value in payload.items() if _is_text(value) and not _is_url(value)})
    usual = [key for key, _ in lengths.most_common() if key.rpartition(".")[2] in KNOWN_KEYS["text"]]
    yield from usual[:1] or [key for key, _ in lengths.most_common(1)]


def _guess_title(payloads: Payloads) -> Iterator[str]:
    """The most frequent key that ends as a title's does, in an object that is not a usual one."""
    outer = ("", *(f"{outer}." for outer in NESTED_OBJECTS))
    known = {f"{above}{key}" for above in outer for key in KNOWN_KEYS["title"]}
    named = Counter(
        key
        for payload in payloads
        for key, value in payload.items()
        if key.rpartition(".")[2] in TITLES and _is_text(value)
    )
    yield from [key for key, _ in named.most_common() if key not in known][:1]


def _guess_url(payloads: Payloads) -> Iterator[str]:
    yield from (key for payload in payloads for key, value in payload.items() if _is_url(value))


def _most(payloads: Payloads, keys: Sequence[str]) -> str | None:
    values = Counter(str(payload[key]) for payload in payloads for key in keys if _is_text(payload.get(key)))
    return values.most_common(1)[0][0] if values else None


def _flat(payload: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """The payload's values by their keys, with dots into nested objects, also those stored as a JSON text."""
    flat: dict[str, Any] = {}
    for key, value in payload.items():
        inner = open_object(value)
        flat |= _flat(inner, f"{above}{key}.") if inner else {f"{above}{key}": value}
    return flat


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_url(value: object) -> bool:
    return isinstance(value, str) and value.startswith(("http://", "https://", "/"))


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_list_of_texts(value: object) -> bool:
    return isinstance(value, list) and any(map(_is_text, value))


def _text(value: str) -> str:
    """A string in TOML. JSON's differ in two ways: TOML has no escapes for halves of a character, and escapes DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _texts(values: Sequence[str]) -> str:
    return f"[{', '.join(map(_text, values))}]"


_FITS: Mapping[str, Callable[[Any], bool]] = {
    "headings": lambda value: _is_list_of_texts(value) or _is_text(value),
    "index": _is_whole,
    "tokens": _is_whole,
    "chunk_id": lambda value: _is_text(value) or _is_whole(value),
    "created_at": lambda value: _is_text(value) or isinstance(value, int | float),
}
_GUESSES: Mapping[str, Callable[[Payloads], Iterator[str]]] = {
    "text": _guess_text,
    "url": _guess_url,
    "title": _guess_title,
}
