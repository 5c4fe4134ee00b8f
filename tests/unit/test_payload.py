"""A stored point becomes a passage by key lists; an invalid point is skipped and counted."""

import math
from datetime import UTC, datetime
from typing import Any

import pytest

from handler.adapters.qdrant.payload import Hit, read
from handler.config.payload_keys import Payload
from handler.core.model import SearchResult

KEYS = Payload(
    text=("text_content", "content"),
    url=("source_url", "metadata.source"),
    title=("title",),
    index=("i",),
    variants=False,
)
GOOD = {"text_content": "A twin.", "source_url": "https://example.com/twin"}


def found_in(points: list[tuple[Any, float, Any]]) -> SearchResult:
    return read([Hit(*point) for point in points], KEYS)


def test_the_first_key_present_wins_and_null_counts_as_absent() -> None:
    points = [
        (1, 0.9, {**GOOD, "content": "other"}),
        (2, 0.8, {"text_content": None, "content": "other", "source_url": "u"}),
        (3, 0.7, {"content": "other", "metadata": {"source": "nested"}}),
    ]
    found = found_in(points)
    assert [(passage.text, passage.url) for passage in found.passages] == [
        ("A twin.", "https://example.com/twin"),
        ("other", "u"),
        ("other", "nested"),
    ]
    assert found.skipped == 0


@pytest.mark.parametrize(
    "payload",
    [
        None,
        {},
        {"text_content": None, "source_url": "u"},
        {"text_content": "", "source_url": "u"},
        {"text_content": "  \n", "source_url": "u"},
        {"text_content": "\u200b\ufeff \u2060", "source_url": "u"},
        {"text_content": "a", "source_url": "\u200b"},
        {"text_content": ["a"], "source_url": "u"},
        {"text_content": "a", "source_url": 5},
        {"text_content": "a", "source_url": ""},
        {"text_content": "a"},
        {"text_content": "a\ud800", "source_url": "u"},
        {"content": "a", "metadata": "u"},
    ],
)
def test_a_point_that_cannot_be_shown_is_left_out_and_counted(payload: Any) -> None:
    found = found_in([(1, 0.9, payload), (2, 0.8, GOOD)])
    assert [passage.id for passage in found.passages] == [2]
    assert found.skipped == 1
    assert found.warnings == (
        "1 of 2 points found were left out: they have no valid text, URL or score. Keys tried for the text: "
        "text_content, content; for the URL: source_url, metadata.source.",
    )


@pytest.mark.parametrize("stored", ["1733844600", "1733844600.0", "1733844600000", " 1733844600 ", 1733844600])
def test_time_as_digits_in_text_is_an_epoch(stored: Any) -> None:
    (passage,) = read([Hit(1, 0.9, {**GOOD, "created_at": stored})], Payload(text=("t",), url=("u",))).passages
    assert passage.created_at == datetime(2024, 12, 10, 15, 30, tzinfo=UTC)


def test_eight_digits_are_a_date() -> None:
    (passage,) = read([Hit(1, 0.9, {**GOOD, "created_at": "20241210"})], Payload(text=("t",), url=("u",))).passages
    assert passage.created_at == datetime(2024, 12, 10, tzinfo=UTC)


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_point_whose_score_is_not_a_number_is_skipped(score: float) -> None:
    assert found_in([(1, score, GOOD)]).skipped == 1


@pytest.mark.parametrize(
    ("stored", "expected"),
    [(0, 0), (7, 7), (7.0, 7), (-1, None), (7.5, None), ("7", None), (True, None), (None, None), (math.nan, None)],
)
def test_index_is_a_whole_number_or_absent(stored: Any, expected: int | None) -> None:
    (passage,) = found_in([(1, 0.9, {**GOOD, "i": stored})]).passages
    assert passage.index == expected


def test_title_of_another_type_is_dropped_and_passage_kept() -> None:
    (passage,) = found_in([(1, 0.9, {**GOOD, "title": 5})]).passages
    assert passage.title is None
