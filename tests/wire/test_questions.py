"""The textbook's own questions find the pages that answer them: the whole way, from the question to the passage."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from conftest import TEXTBOOK
from handler.bootstrap.container import Container
from handler.core.deadline import Deadline
from handler.core.model import RetrievalRequest, Search
from passage.emulators import cohere_emulator
from passage.evaluation.suites.files import read_suite
from unit.pipelines import retrieve

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
    questions = [question for question in read_suite(TEXTBOOK / "suite.toml").questions if question.answerable]
    found = 0
    for question in questions:
        request = RetrievalRequest(text=question.text, search=Search(top_k=5))
        passages = retrieve(retriever, request, Deadline.after(30)).passages
        expected = {each.value for each in question.expected}
        found += any(urlsplit(passage.url).path in expected for passage in passages)
    assert found / len(questions) >= LEAST
