"""Suites in every format: what is read, and what is refused by file and line."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from passage.evaluation import cases
from passage.evaluation.cases import TestCase
from passage.evaluation.suite import Expected, Suite, SuiteQuestion
from passage.evaluation.suites.files import read_suite
from passage.evaluation.suites.records import SuiteError
from passage.indexing.chunks import cut
from passage.sites.model import Page, Skip
from passage.sites.source import SiteOptions, open_site

TOML = """
name = "my-site"

[thresholds]
"hit@5" = 0.9

[[questions]]
id = "install"
text = "How do I install it?"
expected = ["/install/", { url = "/setup", grade = 2 }, { id = 7 }, { chunk = "7_0" }]
keywords = ["pip"]
top_k = 3
relevance_threshold = 0.4
tags = ["short"]
language = "en"

[[questions]]
text = "Best pizza in town?"
answerable = false
"""

READ = (
    SuiteQuestion(
        "install",
        "How do I install it?",
        (Expected("/install/"), Expected("/setup", "url", 2), Expected("7", "id"), Expected("7_0", "chunk")),
        keywords=("pip",),
        top_k=3,
        relevance_threshold=0.4,
        tags=("short",),
        language="en",
    ),
    SuiteQuestion("q2", "Best pizza in town?", answerable=False),
)


CASE = cases.to_json(TestCase("ros2", "What is ROS 2?", "textbook", ("doc_a", "doc_b"), ("robot",), 0.7, 5))


def written(folder: Path, name: str, content: object) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def lines(*values: object) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def test_toml_gives_questions_and_thresholds(tmp_path: Path) -> None:
    assert read_suite(written(tmp_path, "a.toml", TOML)) == Suite("my-site", READ, {"hit@5": 0.9})


def test_jsonl_has_a_question_a_line(tmp_path: Path) -> None:
    content = lines({"text": "One?", "expected": ["/a"]}, {"id": "x", "text": "Two?", "expected": [7], "top_k": 3})
    assert read_suite(written(tmp_path, "a.jsonl", content)).questions == (
        SuiteQuestion("q1", "One?", (Expected("/a"),)),
        SuiteQuestion("x", "Two?", (Expected("7"),), top_k=3),
    )


@pytest.mark.parametrize("key", ["test_cases", "test_results"])
def test_seed_001_test_cases_are_a_suite(tmp_path: Path, key: str) -> None:
    path = written(tmp_path, "a.json", {key: [CASE], "total_tests": 1})
    assert read_suite(path).questions == (
        SuiteQuestion(
            "ros2",
            "What is ROS 2?",
            (Expected("doc_a"), Expected("doc_b")),
            match="all",
            keywords=("robot",),
            top_k=5,
            relevance_threshold=0.7,
        ),
    )


def test_same_judgment_twice_is_a_note(tmp_path: Path) -> None:
    content = lines({"id": "a", "text": "One?", "expected": ["/a", "/a"]})
    read = read_suite(written(tmp_path, "a.jsonl", content))
    assert read.questions == (SuiteQuestion("a", "One?", (Expected("/a"),)),)
    assert read.notes == (f"{tmp_path}/a.jsonl:1: question 'a' judges '/a' twice.",)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.toml", "name = \nx = 1", "a.toml is not TOML: .*line 1"),
        ("a.toml", TOML + '[[questions]]\ntext = " "\n', "a.toml:20: the question 'q3' has no 'text'"),
        ("a.toml", TOML + '[[questions]]\ntext = "x"\ncolour = 1\n', "a.toml:20: unknown field 'colour'; allowed: id,"),
        ("a.toml", TOML + '[[questions]]\nid = "install"\ntext = "x"\n', "a.toml:20: the id 'install' occurs twice"),
        ("a.toml", '[thresholds]\n"hit@5" = "high"\n[[questions]]\ntext = "x"', "'hit@5' must be a number, not 'high'"),
        (
            "a.toml",
            '[thresholds]\n"hit@5" = 95\n[[questions]]\ntext = "x"',
            "a.toml: thresholds: 'hit@5' must be 0 to 1",
        ),
        ("a.toml", 'thresholds = 1\n[[questions]]\ntext = "x"', "a.toml: thresholds must be numbers by name"),
        ("a.toml", 'threshold = 1\n[[questions]]\ntext = "x"', "unknown key 'threshold'; allowed: name, thresholds,"),
        (
            "a.toml",
            '[questions]\ntext = "x"',
            r"a.toml has no list of questions: write \[\[questions\]\] before each",
        ),
        ("a.toml", "[[questions]]\ntext = 7", "a.toml:1: q1: text must be text, not 7"),
        ("a.toml", '[[questions]]\ntext = "x"\ntop_k = "a"', "q1: top_k must be a whole number, not 'a'"),
        ("a.toml", '[[questions]]\ntext = "x"\nid = 1.5', "a.toml:1: 1.5: id must be text, not 1.5"),
        (
            "a.toml",
            '[[questions]]\ntext = "x"\nanswerable = false\nexpected = ["/a"]',
            "a.toml:1: 'q1' is not answerable, but '/a' answers it",
        ),
        ("a.toml", "", "a.toml has no list of questions"),
        ("a.toml", '[[questions]]\ntext = "x"\ntags = "short"', "q1: tags must be a list, not 'short'"),
        ("a.toml", '[[questions]]\ntext = "x"\ntop_k = 0', "a.toml:1: q1: top_k must be above 0, not 0"),
        ("a.toml", '[[questions]]\ntext = "x"\nrelevance_threshold = 2', "relevance_threshold must be 0 to 1, not 2"),
        ("a.toml", '[[questions]]\ntext = "x"\nexpected = [{ page = "a" }]', "has one of id, chunk, url, and may"),
        ("a.toml", '[[questions]]\ntext = "x"\nexpected = [1.5]', "must be a point id, a chunk id or a URL, not 1.5"),
        ("a.toml", 'questions = ["x"]', "a.toml: a question must be an object"),
        ("a.jsonl", "", "a.jsonl has no questions"),
        ("a.jsonl", '{"text": "x"}\n\n[]\n', "a.jsonl:3: must be a JSON object"),
        ("a.jsonl", '{"text": "x"}\n{\n', "a.jsonl:2: is not JSON: .* at column 2"),
        ("a.jsonl", '{"question": "x"}', "a.jsonl:1: unknown field 'question'; allowed: id, text"),
        ("a.jsonl", '{"id": "x"}', "a.jsonl:1: the question 'x' has no 'text'"),
        ("a.jsonl", lines({"id": "a", "text": "x"}, {"id": "a", "text": "x"}), "a.jsonl:2: the id 'a' occurs twice"),
        (
            "a.jsonl",
            lines({"text": "x", "expected": ["/a", {"url": "/a", "grade": 2}]}),
            "a.jsonl:1: question 'q1' judges '/a' twice, with the grades 1 and 2",
        ),
        *(
            ("a.jsonl", lines({"text": "x", "expected": [{"url": "/a", "grade": grade}]}), f"expected.0.grade: {fault}")
            for grade, fault in ((-1, "input should be greater"), (1001, "input should be less"), (2**33, "input"))
        ),
        ("a.json", "[\n[", "a.json:2: is not JSON: expecting value at column 2"),
        ("a.json", "[" * 100_000, "a.json: is not JSON that can be read: maximum recursion depth"),
        ("a.json", f'{{"test_cases": {"1" * 5000}}}', "a.json: is not JSON that can be read: Exceeds the limit"),
        *(
            (
                "a.json",
                json.dumps(value),
                "a.json must be an object with seed 001's test cases in a list named test_cases",
            )
            for value in (7, [], {"questions": []}, {"test_cases": ["x"]})
        ),
        ("a.json", '{"test_cases": []}', "a.json has no questions"),
        ("a.json", json.dumps({"test_cases": [CASE, CASE]}), "a.json: ros2: the name occurs twice"),
        ("a.json", json.dumps({"test_cases": [{**CASE, "colour": 1}]}), "a.json: ros2: colour: unexpected"),
        ("a.yaml", "x", "a.yaml must be a folder, or end in one of .toml, .jsonl, .json"),
    ],
)
def test_wrong_suite_is_refused_by_place_and_fault(tmp_path: Path, name: str, content: str, message: str) -> None:
    with pytest.raises(SuiteError, match=message):
        read_suite(written(tmp_path, name, content))


def test_missing_suite_names_the_command_that_drafts_one(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match=r"a.toml does not exist. `passage evaluate .*a.toml --make 30"):
        read_suite(tmp_path / "a.toml")


@pytest.mark.parametrize("name", ["a.toml", "queries.jsonl", "qrels/test.tsv"])
def test_suite_that_is_not_utf8_is_refused(tmp_path: Path, name: str) -> None:
    with (beir(tmp_path, BEIR) / name).open("ab") as file:
        file.write(b"\n\xff")
    with pytest.raises(SuiteError, match=rf"{name}:\d: is not UTF-8"):
        read_suite(tmp_path / name if name == "a.toml" else tmp_path)


QUERIES = lines({"_id": "q1", "text": "One?"}, {"_id": "q2", "text": "Two?"})
CORPUS = lines({"_id": "d 1", "title": "A", "text": "Words."}, {"_id": "d2", "text": "# Two\n\nMore words."})


def beir(folder: Path, judgments: str, *, corpus: str | None = CORPUS) -> Path:
    written(folder, "queries.jsonl", QUERIES)
    written(folder, "qrels/test.tsv", judgments)
    if corpus is not None:
        written(folder, "corpus.jsonl", corpus)
    return folder


BEIR = "query-id\tcorpus-id\tscore\nq1\td 1\t2\nq2\td2\t1\n"


def test_beir_folder_with_corpus_expects_its_pages(tmp_path: Path) -> None:
    read = read_suite(beir(tmp_path, BEIR))
    assert read.questions == (
        SuiteQuestion("q1", "One?", (Expected("https://corpus.invalid/d%201", "url", 2),)),
        SuiteQuestion("q2", "Two?", (Expected("https://corpus.invalid/d2", "url", 1),)),
    )
    assert (read.name, read.notes) == (tmp_path.name, ())


def test_beir_folder_without_corpus_expects_its_ids(tmp_path: Path) -> None:
    read = read_suite(beir(tmp_path, BEIR, corpus=None))
    assert read.questions[0].expected == (Expected("d 1", "any", 2),)


def test_queries_in_another_language_share_the_judgments(tmp_path: Path) -> None:
    beir(tmp_path, BEIR)
    spanish = written(tmp_path, "queries.es.jsonl", lines({"_id": "q1", "text": "¿Uno?"}))
    read = read_suite(spanish)
    assert [question.text for question in read.questions] == ["¿Uno?"]
    assert read.name == f"{tmp_path.name}-es"
    assert read.notes == (f"1 judgments are of queries that {spanish} does not have: they are left out.",)


def test_query_in_beirs_layout_may_state_its_language(tmp_path: Path) -> None:
    beir(tmp_path, BEIR)
    german = written(tmp_path, "queries.de.jsonl", lines({"_id": "q1", "text": "Eins?", "language": "de"}))
    assert [question.language for question in read_suite(german).questions] == ["de"]
    written(tmp_path, "queries.de.jsonl", lines({"_id": "q1", "text": "Eins?", "language": 7}))
    with pytest.raises(SuiteError, match="'language' must be text"):
        read_suite(german)


def test_query_without_judgment_is_not_asked_and_noted(tmp_path: Path) -> None:
    read = read_suite(beir(tmp_path, "q1\td2\t1\n"))
    assert [question.id for question in read.questions] == ["q1"]
    assert read.notes == (f"1 queries of {tmp_path}/queries.jsonl have no judgment: they are not asked.",)


@pytest.mark.parametrize(
    ("judgments", "message"),
    [
        ("q1\td2\n", "test.tsv:1: must have the columns query-id, corpus-id, score"),
        *(
            (f"q1\td2\t{grade}\n", f"test.tsv:1: the grade must be a whole number from 0 to 1,000, not '{grade}'")
            for grade in ("high", "-1", "1001", "8589934592", "1" * 5000)
        ),
        (BEIR + "q1\td 1\t1\n", "test.tsv:4: question 'q1' judges .* twice, with the grades 2 and 1"),
        ("q9\td2\t1\n", "has none of the queries that .* judges, such as 'q9'"),
        ("query_id\tcorpus_id\tscore\n", "test.tsv:1: .* A header must be query-id, corpus-id, score"),
        ("", "queries.jsonl has none of the queries that .*test.tsv judges"),
    ],
)
def test_wrong_judgments_are_refused_by_line(tmp_path: Path, judgments: str, message: str) -> None:
    with pytest.raises(SuiteError, match=message):
        read_suite(beir(tmp_path, judgments))


def test_same_judgment_in_two_lines_is_a_note(tmp_path: Path) -> None:
    read = read_suite(beir(tmp_path, BEIR + "q1\td 1\t2\n"))
    assert len(read.notes) == 1
    assert re.search("test.tsv:4: question 'q1' judges .* twice", read.notes[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"queries.jsonl": None}, "has no queries.jsonl"),
        ({"qrels/test.tsv": None}, "has no qrels/test.tsv"),
        ({"queries.jsonl": lines({"_id": "q1"})}, "queries.jsonl:1: must be an object"),
        ({"queries.jsonl": "{"}, "queries.jsonl:1: is not JSON"),
        ({"queries.jsonl": QUERIES + lines({"_id": "q1", "text": "x"})}, "queries.jsonl:3: the '_id' 'q1' occurs"),
    ],
)
def test_incomplete_beir_folder_is_refused(tmp_path: Path, change: dict[str, str | None], message: str) -> None:
    beir(tmp_path, BEIR)
    for name, content in change.items():
        if content is None:
            (tmp_path / name).unlink()
        else:
            written(tmp_path, name, content)
    with pytest.raises(SuiteError, match=message):
        read_suite(tmp_path)


def read_corpus(folder: Path, content: str) -> list[Any]:
    return list(open_site(written(folder, "corpus.jsonl", content), SiteOptions()).read())


def test_corpus_documents_become_pages_of_the_suites_urls(tmp_path: Path) -> None:
    beir(tmp_path, BEIR)
    pages = [page for page in open_site(tmp_path, SiteOptions()).read() if isinstance(page, Page)]
    assert [(page.url, page.title) for page in pages] == [
        ("https://corpus.invalid/d%201", "A"),
        ("https://corpus.invalid/d2", "D2"),
    ]
    assert {page.url for page in pages} == {
        expected.value for question in read_suite(tmp_path).questions for expected in question.expected
    }
    assert [chunk.text for chunk in cut(pages)] == ["Words.", "# Two\n\nMore words."]


def test_document_id_that_is_a_url_stays_the_url(tmp_path: Path) -> None:
    (page,) = read_corpus(tmp_path, lines({"_id": "https://site.example/a", "title": "A", "text": "Words."}))
    assert (page.url, page.language) == ("https://site.example/a", "")


def test_document_may_state_its_language(tmp_path: Path) -> None:
    (page,) = read_corpus(tmp_path, lines({"_id": "a", "text": "Worte.", "language": "de"}))
    assert page.language == "de"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "is not JSON"),
        ("[]", "is not a JSON object"),
        ('{"text": "x"}', "has no '_id'"),
        ('{"_id": "a"}', "has no 'text'"),
        ('{"_id": "d1", "text": "x"}', "has the '_id' of another document"),
        ('{"_id": "a", "text": " "}', "no text"),
        ('{"_id": "a", "text": "x", "language": 7}', "has a 'language' that is not text"),
    ],
)
def test_wrong_line_of_a_corpus_is_skipped_by_number(tmp_path: Path, line: str, reason: str) -> None:
    first = {"_id": "d1", "title": "A", "text": "Words."}
    _, skip = read_corpus(tmp_path, lines(first) + line)
    assert isinstance(skip, Skip)
    assert skip.path == "corpus.jsonl:2"
    assert skip.reason.startswith(reason)


@pytest.mark.parametrize(
    "option", [SiteOptions(url="https://site.example/"), SiteOptions(selector="main"), SiteOptions(language="en")]
)
def test_site_option_with_a_corpus_is_refused(tmp_path: Path, option: SiteOptions) -> None:
    written(tmp_path, "corpus.jsonl", CORPUS)
    with pytest.raises(Exception, match="is a corpus"):
        open_site(tmp_path, option)
