"""Both clients' types have the fields and codes of the OpenAPI document, contract by contract."""

import inspect
import typing

import pytest

from clients.declared import (
    codes_described,
    codes_in_typescript,
    described,
    field_names,
    in_python,
    in_typescript,
    optional_fields,
)
from handler.config import profiles
from passage_client import Passage, contracts, resources

CONTRACTS = {
    profile.contract: "".join(part.capitalize() for part in name.split("-"))
    for name in profiles.names()
    for profile in [profiles.load(name)]
}
"""The start of the names of each contract's types and components."""

each_contract = pytest.mark.parametrize("start", CONTRACTS.values(), ids=CONTRACTS.keys())


def test_every_contract_has_a_token_and_types() -> None:
    tokens = {value.name for value in vars(contracts).values() if isinstance(value, contracts.Contract)}
    assert tokens == set(CONTRACTS)
    assert field_names("Contracts") == set(CONTRACTS)


@each_contract
def test_questions_have_the_described_fields(start: str) -> None:
    # Which filters there are is the profile's matter.
    fields = optional_fields(described(f"{start}Request")) | {"filters": frozenset({("object", None)})}
    assert optional_fields(in_typescript(f"{start}Question")) == fields
    assert optional_fields(in_python(getattr(contracts, f"{start}Question"))) == fields


@each_contract
def test_answers_have_the_described_fields(start: str) -> None:
    answer = described(f"{start}Response")
    assert in_typescript(f"{start}Answer") == answer
    assert in_python(getattr(contracts, f"{start}Answer")) == answer


@each_contract
def test_errors_have_the_described_codes(start: str) -> None:
    codes = codes_described(f"{start}Error")
    assert codes_in_typescript(f"{start}Code") == codes
    assert set(typing.get_args(getattr(contracts, f"{start}Code"))) == codes


@pytest.mark.parametrize("name", ["Chunk", "CollectionInfo", "Profiles"])
def test_other_answers_have_the_described_fields(name: str) -> None:
    assert in_typescript(name) == in_python(getattr(resources, name)) == described(name)


def test_feedback_has_the_described_fields() -> None:
    fields = optional_fields(described("Feedback"))
    assert optional_fields(in_typescript("Feedback")) == fields
    assert set(inspect.signature(Passage.feedback).parameters) - {"self"} == set(fields)
