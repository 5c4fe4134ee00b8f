"""Reads a suite from a file or a folder. The suffix says which reader does it."""

import csv
import io
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from passage.evaluation.suite import Suite
from passage.evaluation.suites import beir
from passage.evaluation.suites.records import Questions, SuiteError, check_field, json_of, text_of
from passage.evaluation.thresholds import ThresholdError, checked

LIST_KEYS = ("questions", "test_cases", "test_results", "tests")
"""The keys under which a file may list its questions; the last but one is a TestSuiteResult of seed 001."""

KEYS = ("name", "thresholds", "questions", "notes")
"""The keys beside a list of `questions`; the last is a saved run's."""

BETWEEN = "|"
"""Separates the documents of one cell of CSV: no URL has it unescaped."""

_TABLE = re.compile(r"^\s*\[\[\s*questions\s*\]\]", re.MULTILINE)


def read_suite(path: Path) -> Suite:
    """The suite of a file (.toml, .json, .jsonl, .csv, .tsv) or of a folder in BEIR's layout.

    Raises:
        SuiteError: it cannot be read; the message names file, line and fault.
    """
    if path.is_dir() or beir.is_queries(path):
        return beir.read(path)
    reader = READERS.get(path.suffix.lower())
    if not path.exists():
        raise SuiteError(f"{path} does not exist. `passage evaluate {path} --make 30 --site FOLDER` drafts a suite.")
    if reader is None:
        raise SuiteError(f"{path} must be a folder, or end in one of {', '.join(READERS)}.")
    suite = reader(path, text_of(path))
    if not suite.questions:
        raise SuiteError(f"{path} has no questions.")
    return suite


def _toml(path: Path, text: str) -> Suite:
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SuiteError(f"{path} is not TOML: {error}.") from None
    lines = [text.count("\n", 0, found.start()) + 1 for found in _TABLE.finditer(text.replace("\r\n", "\n"))]
    return _object(path, values, lambda number: f"{path}:{lines[number]}" if number < len(lines) else str(path))


def _json(path: Path, text: str) -> Suite:
    values = json_of(text, path)
    if isinstance(values, dict) and isinstance(values.get("suite"), dict):  # a saved run
        values = values["suite"]
    if isinstance(values, list):
        values = {"questions": values}
    if not isinstance(values, dict):
        raise SuiteError(f"{path} must be a JSON object or a list of questions.")
    return _object(path, values, lambda number: f"{path}, question {number + 1}")


def _object(path: Path, values: Mapping[str, Any], where: Callable[[int], str]) -> Suite:
    listed = [key for key in LIST_KEYS if key in values]
    if not listed:
        raise SuiteError(f"{path} has no list of questions: name it 'questions'.")
    if len(listed) > 1:
        raise SuiteError(f"{path} has several lists of questions ({', '.join(listed)}): keep one.")
    given = values[listed[0]]
    if not isinstance(given, list):
        raise SuiteError(
            f"{path}: '{listed[0]}' must be a list of questions, in TOML with [[{listed[0]}]] before each."
        )
    unknown = [key for key in values if key not in KEYS]
    if unknown and listed == ["questions"]:  # another key is another tool's, which has keys of its own
        raise SuiteError(f"{path}: unknown key '{unknown[0]}'; allowed: name, thresholds, questions.")
    questions = Questions()
    for number, record in enumerate(given):
        if not isinstance(record, Mapping):
            raise SuiteError(f"{where(number)}: a question must be an object with a 'text'.")
        questions.add(record, where(number))
    return _suite(path, questions, str(values.get("name") or path.stem), values.get("thresholds", {}))


def _jsonl(path: Path, text: str) -> Suite:
    questions = Questions()
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        record = json_of(line, path, number)
        if not isinstance(record, dict):
            raise SuiteError(f"{path}:{number}: must be a JSON object.")
        questions.add(record, f"{path}:{number}", repeats=True)
    return _suite(path, questions)


def _csv(path: Path, text: str) -> Suite:
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter="\t" if path.suffix == ".tsv" else ",", strict=True)
    questions = Questions()
    try:
        _check_header(rows.fieldnames or (), f"{path}:1")
        for row in rows:
            where = f"{path}:{rows.line_num}"
            if None in row or None in row.values():
                raise SuiteError(f"{where}: the row and the header differ in their number of cells.")
            questions.add(_cells(row, where), where, repeats=True)
    except csv.Error as error:
        begins = rows.line_num + 1  # the row that cannot be read
        raise SuiteError(f"{path}:{begins}: is not CSV: {error}. Is a quotation mark not closed?") from None
    return _suite(path, questions)


def _check_header(names: Sequence[str], where: str) -> None:
    for name in names:
        check_field(name, where)
        if names.count(name) > 1:
            raise SuiteError(f"{where}: the column '{name}' occurs twice.")


NUMBERS: Mapping[str, Callable[[str], Any]] = {
    "grade": int,
    "score": int,
    "top_k": int,
    "relevance_threshold": float,
}
LISTS = frozenset(
    {"expected", "keywords", "tags", "url", "urls", "expected_doc_ids", "relevant_doc_ids", "expected_keywords"}
)


def _cells(row: Mapping[str, str], where: str) -> dict[str, Any]:
    """A row's values. An empty cell counts as absent."""
    values: dict[str, Any] = {}
    for name, cell in row.items():
        if not cell.strip():
            continue
        if name in LISTS:
            values[name] = [part.strip() for part in cell.split(BETWEEN) if part.strip()]
        elif name in NUMBERS:
            try:
                values[name] = NUMBERS[name](cell)
            except ValueError:
                raise SuiteError(f"{where}: {name} must be a number, not '{cell}'.") from None
        else:
            values[name] = cell
    return values


def _suite(path: Path, questions: Questions, name: str | None = None, thresholds: Any = None) -> Suite:
    limits = thresholds or {}
    if not isinstance(limits, dict):
        raise SuiteError(f'{path}: thresholds must be numbers by name, as in "hit@5" = 0.95.')
    for key, value in limits.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise SuiteError(f"{path}: the threshold '{key}' must be a number, not {value!r}.")
    asked = {key: float(value) for key, value in limits.items()}
    try:
        checked(asked)
    except ThresholdError as error:
        raise SuiteError(f"{path}: thresholds: {error}") from None
    return Suite(name or path.stem, tuple(questions.found.values()), asked, tuple(questions.notes))


READERS: Mapping[str, Callable[[Path, str], Suite]] = {
    ".toml": _toml,
    ".json": _json,
    ".jsonl": _jsonl,
    ".ndjson": _jsonl,
    ".csv": _csv,
    ".tsv": _csv,
}
