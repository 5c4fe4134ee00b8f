"""Names of test files and test functions: unique files, short functions."""

import ast
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
LONGEST = 60


def test_no_two_files_of_tests_have_one_name() -> None:
    files = Counter(path.name for path in TESTS.rglob("*.py") if path.name != "conftest.py")
    assert [name for name, count in files.items() if count > 1] == []


def test_names_of_tests_have_at_most_60_characters() -> None:
    functions = (
        node.name
        for path in TESTS.rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
    )
    assert [name for name in functions if len(name) > LONGEST] == []
