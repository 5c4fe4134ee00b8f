"""A run's values: matching of documents, fingerprints, JSON out and in."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from passage.evaluation import run as runs
from passage.evaluation.run import Run, RunError, SavedAnswer, SavedHit, documents
from passage.evaluation.runner import FILE, AnswerFile
from passage.evaluation.suite import Expected, Suite, SuiteQuestion

HIT = SavedHit(
    rank=1,
    id="7",
    chunk_id="7_0",
    url="https://site.example/a/#one",
    title="A",
    score=0.5,
    text="Some text.",
)
QUESTION = SuiteQuestion("q1", "What is a?", (Expected("https://site.example/a"),))
RUN = Run(
    suite=Suite("suite", (QUESTION,)),
    answers=(SavedAnswer("q1", (HIT,), 12.5),),
    target="local",
    profile="query-response",
    top_k=5,
    passages=50,
    search={"mode": "dense"},
    missing={"q1": ("x",)},
    error_checks=(("blank", True),),
)


@pytest.mark.parametrize(
    ("wanted", "same"),
    [
        ("https://site.example/a/", True),
        ("https://site.example/a", True),
        ("https://site.example/a/#one", True),
        ("https://site.example/a#two", False),
        ("/a/", True),
        ("/a#one", True),
        ("/a#two", False),
        ("/b/", False),
        ("https://other.example/a/", False),
        ("https://site.example/a?x=1", False),
        ("http://[x", False),
        ("#one", False),
    ],
)
def test_wanted_url_names_page_or_section(wanted: str, same: bool) -> None:
    assert HIT.matches(Expected(wanted)) is HIT.matches(Expected(wanted, "url")) is same
    assert not replace(HIT, url="").matches(Expected(wanted))
    assert not replace(HIT, url="http://[x").matches(Expected(wanted)) or wanted == "http://[x"


@pytest.mark.parametrize(
    ("expected", "matched"),
    [
        (Expected("7"), True),
        (Expected("7_0"), True),
        (Expected("/a"), True),
        (Expected("7", "id"), True),
        (Expected("7", "chunk"), False),
        (Expected("7_0", "chunk"), True),
        (Expected("7_0", "url"), False),
        (Expected(HIT.url, "url"), True),
    ],
)
def test_expected_document_matches_by_its_kind(expected: Expected, matched: bool) -> None:
    assert HIT.matches(expected) is matched


def test_page_with_several_passages_counts_once() -> None:
    hits = (HIT, replace(HIT, rank=2, url="https://site.example/b"), replace(HIT, rank=3, url=HIT.page + "#two"))
    question = replace(QUESTION, expected=(Expected("/a", grade=2),))
    assert documents(question, SavedAnswer("q1", hits, 1.0)) == [("/a", 2), ("https://site.example/b", None)]


def test_saved_run_is_read_unchanged(tmp_path: Path) -> None:
    runs.write(RUN, tmp_path / "new" / "run.json")
    assert runs.read(tmp_path / "new" / "run.json") == RUN


def test_answer_is_one_line_and_read_unchanged() -> None:
    answer = SavedAnswer("q\n1", (), 1.0, error="no\nanswer", error_kind="service", debug={"a": [1]})
    line = runs.answer_to_json(answer)
    assert "\n" not in line
    assert runs.answer_from_json(line) == answer


@pytest.mark.parametrize("separator", ["\r\n", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"])
def test_answer_with_any_line_separator_is_resumed(tmp_path: Path, separator: str) -> None:
    answer = SavedAnswer("q1", (replace(HIT, text=f"one{separator}two"),), 12.5)
    AnswerFile(tmp_path, {}, resume=False).add(answer)
    assert AnswerFile(tmp_path, {}, resume=True).answers == {"q1": answer}


def test_answers_cut_off_anywhere_keep_the_whole_lines(tmp_path: Path) -> None:
    first, second = SavedAnswer("q1", (HIT,), 12.5), SavedAnswer("q2", (replace(HIT, text="日本"),), 12.5)
    saved = AnswerFile(tmp_path, {}, resume=False)
    saved.add(first)
    whole = len((tmp_path / FILE).read_bytes())
    saved.add(second)
    content = (tmp_path / FILE).read_bytes()
    for end in range(whole, len(content) - 1):
        (tmp_path / FILE).write_bytes(content[:end])
        assert AnswerFile(tmp_path, {}, resume=True).answers == {"q1": first}


def test_fingerprint_changes_with_settings_not_with_time() -> None:
    assert replace(RUN, started_at="2026-11-28T00:00:00Z", elapsed_ms=9).fingerprint == RUN.fingerprint
    assert replace(RUN, search={"mode": "hybrid"}).fingerprint != RUN.fingerprint
    assert replace(RUN, passages=20).fingerprint != RUN.fingerprint
    assert replace(RUN, suite=Suite("suite", (replace(QUESTION, text="?"),))).fingerprint != RUN.fingerprint


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 0}, "must be a JSON object with the format 2"),
        ({"answers": []}, "its answers do not match its questions"),
        ({"top_k": "many"}, "top_k: Input should be a valid integer"),
        ({"colour": "red"}, "colour: Unexpected keyword argument"),
    ],
)
def test_broken_run_is_refused_by_its_fault(tmp_path: Path, change: dict[str, object], message: str) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps({**runs.to_json(RUN), **change}), encoding="utf-8")
    with pytest.raises(RunError, match=message):
        runs.read(path)


@pytest.mark.parametrize(
    ("content", "message"), [("[", "is not JSON"), ("[]", "must be a JSON object"), (None, "No such file")]
)
def test_file_that_is_no_run_is_refused(tmp_path: Path, content: str | None, message: str) -> None:
    path = tmp_path / "run.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(RunError, match=message):
        runs.read(path)
