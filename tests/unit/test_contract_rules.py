"""docs/contract-rules.md names tests that exist, and every property test there is."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from handler import contracts

ROOT = Path(__file__).resolve().parents[2]
TABLE = (ROOT / "docs" / "contract-rules.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in TABLE.splitlines() if line.startswith("| ")][
    1:
]
UNTESTED = {"not yet: passage evaluate", "measured: [performance](performance.md)"}
"""What stands in a test's place: a command that is still to come, and figures that a test's clock cannot hold."""


@cache
def _tests(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]


def _named() -> list[tuple[str, str]]:
    """The tests of the table: path and name."""
    return [(path, name) for *_, cell in ROWS for path, name in re.findall(r"`([^`:]+)::(\w+)`", cell)]


@pytest.mark.parametrize(("path", "name"), sorted(set(_named())))
def test_a_rules_test_exists(path: str, name: str) -> None:
    assert name in _tests(ROOT / path)


def test_every_rule_has_a_test_or_says_why_not() -> None:
    for row in ROWS:
        assert len(row) == 3
        assert re.fullmatch(r"`tests/[\w/]+\.py::test_\w+`", row[2]) or row[2] in UNTESTED, row


def test_every_property_test_is_named() -> None:
    folder = ROOT / "tests" / "property"
    contracts_own = sorted(
        set(folder.glob("test_*.py")) - {folder / "test_messages.py"}
    )  # docs/sources.md has its rule
    there = {(path.relative_to(ROOT).as_posix(), name) for path in contracts_own for name in _tests(path)}
    assert there - set(_named()) == set()


def test_every_contract_has_rules() -> None:
    assert {row[0].split(" · ")[-1] for row in ROWS} == {*contracts.REGISTRY, "all"}


def test_no_rule_stands_there_twice() -> None:
    rules = [(row[0], row[1]) for row in ROWS]
    assert len(set(rules)) == len(rules)
