"""The parts of answers, each with any input."""

import json
import math
import struct
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from handler.adapters.qdrant.payload import MILLISECONDS_FROM, Hit, read, threshold
from handler.config import profiles
from handler.config.payload_keys import Payload
from handler.config.profiles import Profile
from handler.contracts import context
from handler.contracts.context import SEPARATOR, RetrievedChunk, assemble, block
from handler.contracts.fields import has_web_address, json_safe, rename_fields, zulu
from handler.core.errors import InvalidRequest
from handler.core.model import Passage
from unit.asking import every_profile
from unit.strategies import anything, encodable, place, wild, words

# The known payload keys of live systems, by field.
VARIANTS = {
    "text": "content text chunk_text text_content original_text page_content document body meta.text",
    "url": "url source_url source file_path source_document source_file link permalink page_url sourceURL meta.url",
    "title": "title page_title section_title source_page_title heading metadata.title",
    "chapter": "chapter module chapter_id metadata.chapter",
    "section": "section section_id subsection lesson document_metadata.section",
    "headings": "headings headers section_headers heading_path metadata.headings",
    "index": "chunk_index position original_chunk_index start_position chunk_id metadata.chunk_index",
    "chunk_id": "chunk_id metadata.chunk_id",
    "tokens": "token_count chunk_size_tokens token_length metadata.word_count",
    "created_at": "created_at timestamp stored_at ingested_at updated_at metadata.created_at",
}
STORED: dict[str, tuple[Any, Any]] = {
    "text": ("A twin.", "A twin."),
    "url": ("https://example.com/", "https://example.com/"),
    "title": ("Nodes - Chunk 3", "Nodes - Chunk 3"),
    "chapter": ("ros2", "ros2"),
    "section": ("Topics", "Topics"),
    "headings": (["ROS 2", "Topics"], ("ROS 2", "Topics")),
    "index": (7, 7),
    "chunk_id": ("c-7", "c-7"),
    "tokens": (120, 120),
    "created_at": (1_765_380_600, datetime(2025, 12, 10, 15, 30, tzinfo=UTC)),
}


def shown(profile: Profile, payload: dict[str, Any]) -> Passage:
    (passage,) = read([Hit(1, 0.5, payload)], profile.payload).passages
    return passage


@every_profile
@pytest.mark.parametrize("nested", [True, False], ids=["nested", "flat"])
@pytest.mark.parametrize(
    ("meaning", "key"), [(meaning, key) for meaning, keys in VARIANTS.items() for key in keys.split()]
)
def test_every_known_payload_key_is_read_nested_or_flat(name: str, meaning: str, key: str, nested: bool) -> None:
    profile = profiles.load(name)
    payload: dict[str, Any] = {}
    for needed in ("text", "url"):
        if meaning != needed:
            payload[getattr(profile.payload, needed)[0]] = STORED[needed][0]
    stored, expected = STORED[meaning]
    place(payload, key, stored, nested=nested)
    assert getattr(shown(profile, payload), meaning) == expected


@every_profile
def test_the_profiles_own_keys_come_before_any_other(name: str) -> None:
    keys = profiles.load(name).payload
    payload: dict[str, Any] = {
        key: "another" for meaning in ("text", "url") for key in VARIANTS[meaning].split() if "." not in key
    }
    payload |= {keys.text[0]: "own", keys.url[0]: "/own"}
    passage = shown(profiles.load(name), payload)
    assert (passage.text, passage.url) == ("own", "/own")


def moment(value: Any) -> datetime | None:
    keys = Payload(text=("t",), url=("u",), created_at=("c",), variants=False)
    return read([Hit(1, 0.5, {"t": "t", "u": "u", "c": value})], keys).passages[0].created_at


@given(seconds=st.integers(0, 4_102_444_800))
def test_epoch_in_seconds_millis_or_float_is_the_same_time(seconds: int) -> None:
    expected = datetime.fromtimestamp(seconds, UTC)
    assert moment(seconds) == moment(float(seconds)) == expected
    if seconds * 1000 >= MILLISECONDS_FROM:
        assert moment(seconds * 1000) == moment(seconds * 1000.0) == expected


offsets = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(at=st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29), timezones=st.none() | offsets))
def test_iso_text_is_the_same_time_with_or_without_an_offset(at: datetime) -> None:
    assert moment(at.isoformat()) == (at if at.tzinfo else at.replace(tzinfo=UTC))


@given(at=st.datetimes(timezones=st.just(UTC)))
@example(at=datetime(1, 1, 1, tzinfo=UTC))
def test_a_time_is_written_as_iso_8601_to_the_second_in_utc(at: datetime) -> None:
    text = zulu(at)
    assert text.endswith("Z")
    assert len(text) == len("2025-12-22T10:30:00Z")
    assert datetime.fromisoformat(text) == at.replace(microsecond=0)


def as_single(value: float) -> float:
    return float(struct.unpack("<f", struct.pack("<f", value))[0])


@given(least=st.floats(-1, 1).filter(bool), score=st.floats(-2, 2, width=32))
@example(least=1.0, score=1.0)
@example(least=1e-50, score=1.401298464324817e-45)
@example(least=1.401298464324817e-45, score=1.401298464324817e-45)
@example(least=-0.5, score=-0.5)
@example(least=-1e-50, score=0.0)
def test_store_threshold_is_largest_float32_below_the_callers(least: float, score: float) -> None:
    given_to_store = threshold(least)
    assert given_to_store is not None
    assert as_single(given_to_store) == given_to_store
    # The store keeps a score strictly above it: exactly the scores that are at least the caller's, in 32 bits.
    smallest = as_single(least) or max(0.0, math.copysign(math.ulp(0.0), least))
    assert (score > given_to_store) == (score >= smallest)
    assert (as_single(least) > given_to_store) or (as_single(least) == given_to_store == 0)


@pytest.mark.parametrize("none", [None, 0.0, -0.0, 0])
def test_threshold_of_zero_excludes_nothing(none: float | None) -> None:
    assert threshold(none) is None


chunks = st.lists(
    st.builds(
        RetrievedChunk,
        text=encodable.filter(bool),
        score=st.floats(0, 1),
        source_url=st.sampled_from(["https://a.example/", "https://b.example/", "https://c.example/"]),
        chapter=st.just("") | encodable,
        section=st.just("") | encodable,
        chunk_index=st.integers(0, 9),
        title=encodable,
        chunk_id=encodable,
    ),
    max_size=8,
)


@given(retrieved=chunks, budget=st.none() | st.integers(1, 1_200))
def test_budget_drops_fewest_whole_blocks_from_the_end(retrieved: list[RetrievedChunk], budget: int | None) -> None:
    whole = [block(number, chunk) for number, chunk in enumerate(retrieved, start=1)]
    made = assemble(retrieved, budget)
    assert made.formatted_text == SEPARATOR.join(whole[: made.chunk_count])
    assert made.total_chars == len(made.formatted_text) <= (budget or math.inf)
    if made.chunk_count < len(whole):
        assert budget is not None
        assert len(SEPARATOR.join(whole[: made.chunk_count + 1])) > budget


@given(retrieved=chunks)
def test_block_has_no_dangling_bar_and_only_known_fields(retrieved: list[RetrievedChunk]) -> None:
    for number, chunk in enumerate(retrieved, start=1):
        header, rule, _ = block(number, chunk).partition("\n---\n")
        assert rule
        expected = [f"[Result {number}] Score: {chunk.score:.2f}", f"Source: {chunk.source_url}"]
        places = {"Title": chunk.title, "Chapter": chunk.chapter, "Section": chunk.section}
        known = [f"{name}: {value}" for name, value in places.items() if value]
        expected += [" | ".join(known)] if known else []
        if "---" not in "".join(places.values()):
            assert header == "\n".join(expected)


@given(tokens=st.integers(1, 400), text=words)
def test_smaller_of_token_and_character_budgets_applies(tokens: int, text: str) -> None:
    profile = profiles.load("context")
    both = context.parse({"text": text, "max_tokens": tokens, "max_chars": 300}, profile)
    assert both.options["max_chars"] == min(tokens * context.CHARACTERS_PER_TOKEN, 300)


ALIASES = {"text": ("text", "query", "question"), "k": ("k", "top_k")}


@given(
    fields=st.dictionaries(st.sampled_from(["text", "query", "question", "k", "top_k"]) | wild, anything, max_size=6),
)
def test_two_names_for_one_field_are_refused(fields: dict[str, Any]) -> None:
    sent = {name: [alias for alias in aliases if alias in fields] for name, aliases in ALIASES.items()}
    values = {name: [alias for alias in names if fields[alias] is not None] for name, names in sent.items()}
    given_names = {name: values[name] or names[:1] for name, names in sent.items()}  # a null beside a value is absent
    if any(len(names) > 1 for names in given_names.values()):
        with pytest.raises(InvalidRequest, match="mean the same"):
            rename_fields(fields, ALIASES)
        return
    found = rename_fields(fields, ALIASES)
    for name, names in given_names.items():
        assert (name in found) == bool(names)
        if names:
            assert found[name] is fields[names[0]]
    others = {key: value for key, value in fields.items() if not any(key in names for names in ALIASES.values())}
    assert {key: value for key, value in found.items() if key not in ALIASES} == others or "nan" in repr(others)


@given(value=anything)
def test_any_stored_value_becomes_json_that_every_reader_takes(value: Any) -> None:
    text = json.dumps(json_safe(value), ensure_ascii=False, allow_nan=False)
    text.encode("utf-8")
    again = json_safe(json_safe(value))
    assert json.dumps(again, ensure_ascii=False) == text


@given(value=st.recursive(encodable | st.integers() | st.booleans() | st.none(), lambda c: st.lists(c, max_size=4)))
def test_stored_json_value_is_unchanged(value: Any) -> None:
    assert json_safe(value) == value


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://example.com", True),
        ("http://localhost:3000/a?b#c", True),
        ("HTTPS://EXAMPLE.COM/", True),
        ("https://", False),
        ("http:///path", False),
        ("https://a b/", False),
        ("https://example.com/\n", False),
        ("http://[", False),
        ("ftp://example.com/", False),
        ("example.com", False),
        ("/docs/intro", False),
    ],
)
def test_web_address_is_http_s_with_host_and_no_white_space(address: str, expected: bool) -> None:
    assert has_web_address(Passage(id=1, score=0.5, text="text", url=address)) is expected
