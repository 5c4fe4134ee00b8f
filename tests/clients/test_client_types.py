"""The types of both clients are those of the OpenAPI document."""

import inspect
from pathlib import Path

import pytest

from handler.contracts import registry
from passage_client import Passage, contracts
from tools import client_types


@pytest.mark.parametrize(("path", "text"), client_types.written().items(), ids=lambda value: Path(value).name[:9])
def test_committed_types_are_the_documents(path: Path, text: str) -> None:
    assert path.read_text(encoding="utf-8") == text, f"{path.name} is out of date: run `make openapi`"


def test_every_contract_has_a_token() -> None:
    tokens = {value.name for value in vars(contracts).values() if isinstance(value, contracts.Contract)}
    assert tokens == set(registry.NAMES)


def test_feedback_has_the_described_fields() -> None:
    fields = client_types.document().schemas["Feedback"]["properties"]
    assert set(inspect.signature(Passage.feedback).parameters) - {"self"} == set(fields)
