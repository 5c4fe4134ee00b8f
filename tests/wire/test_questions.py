"""The textbook's own questions find the pages that answer them: the whole way, from the question to the passage."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import TEXTBOOK
from handler.bootstrap.container import Container
from handler.core.deadline import Deadline
from handler.core.model import RetrievalRequest, Search
from passage.emulators import cohere_emulator
from unit.pipelines import retrieve

SITE = "https://physical-ai.example/"
LEAST = 0.75
"""Share of questions with a right page among the first five; the emulator's static vectors give 0.82."""


@pytest.fixture
def container(textbook_index: Path) -> Iterator[Container]:
    with cohere_emulator() as cohere:
        yield Container(
            {
                "COHERE_API_KEY": "test",
                "COHERE_BASE_URL": cohere.url,
                "STORE": "qdrant_edge",
                "EDGE_INDEX_PATH": str(textbook_index),
            }
        )


def test_most_questions_find_a_page_that_answers_them(container: Container) -> None:
    retriever = container.served(None).retriever
    questions = [json.loads(line) for line in (TEXTBOOK / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    found = 0
    for question in questions:
        request = RetrievalRequest(text=question["query_text"], search=Search(top_k=5))
        passages = retrieve(retriever, request, Deadline.after(30)).passages
        pages = {passage.url.partition("#")[0].removeprefix(SITE).rstrip("/") for passage in passages}
        found += bool(pages & set(question["expected_doc_ids"]))
    assert found / len(questions) >= LEAST
