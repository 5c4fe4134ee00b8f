"""Reads a suite from a file or a folder. The suffix says which reader does it."""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from passage.evaluation import cases
from passage.evaluation.suite import Expected, Suite, SuiteQuestion
from passage.evaluation.suites import beir
from passage.evaluation.suites.records import (
    SuiteError,
    json_of,
    objects_of,
    question_of,
    text_of,
    with_documents,
)
from passage.evaluation.thresholds import ThresholdError, check_thresholds

KEYS = ("name", "thresholds", "questions")
TABLE = re.compile(r"^\s*\[\[\s*questions\s*\]\]", re.MULTILINE)

CASES = ("test_cases", "test_results")
"""The keys under which a file may list test cases of seed 001; the second is a TestSuiteResult's."""


def read_suite(path: Path) -> Suite:
    """The suite of a file (.toml, .jsonl, .json) or of a folder in BEIR's layout.

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
    suite = reader(path)
    if not suite.questions:
        raise SuiteError(f"{path} has no questions.")
    return suite


def _toml(path: Path) -> Suite:
    text = text_of(path)
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SuiteError(f"{path} is not TOML: {error}.") from None
    unknown = [key for key in values if key not in KEYS]
    if unknown:
        raise SuiteError(f"{path}: unknown key '{unknown[0]}'; allowed: {', '.join(KEYS)}.")
    records = values.get("questions")
    if not isinstance(records, list):
        raise SuiteError(f"{path} has no list of questions: write [[questions]] before each.")
    lines = [text.count("\n", 0, table.end()) + 1 for table in TABLE.finditer(text)]
    places = [f"{path}:{line}" for line in lines] if len(lines) == len(records) else [str(path)] * len(records)
    suite = _suite(path, zip(places, records, strict=True))
    limits = _thresholds(path, values.get("thresholds", {}))
    return Suite(str(values.get("name") or path.stem), suite.questions, limits, suite.notes)


def _jsonl(path: Path) -> Suite:
    return _suite(path, objects_of(path))


def _suite(path: Path, records: Iterable[tuple[str, Any]]) -> Suite:
    questions: dict[str, SuiteQuestion] = {}
    notes: list[str] = []
    for where, record in records:
        question = question_of(record, where, len(questions) + 1, notes)
        if question.id in questions:
            raise SuiteError(f"{where}: the id '{question.id}' occurs twice; ids must be unique in a suite.")
        questions[question.id] = question
    return Suite(path.stem, tuple(questions.values()), {}, tuple(notes))


def _thresholds(path: Path, limits: Any) -> dict[str, float]:
    if not isinstance(limits, dict):
        raise SuiteError(f'{path}: thresholds must be numbers by name, as in "hit@5" = 0.95.')
    for key, value in limits.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise SuiteError(f"{path}: the threshold '{key}' must be a number, not {value!r}.")
    try:
        return check_thresholds({key: float(value) for key, value in limits.items()})
    except ThresholdError as error:
        raise SuiteError(f"{path}: thresholds: {error}") from None


def _json(path: Path) -> Suite:
    """Seed 001's test cases. All expected documents of one must be found."""
    values = json_of(text_of(path), path)
    given = next((values[key] for key in CASES if key in values), None) if isinstance(values, dict) else None
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        raise SuiteError(f"{path} must be an object with seed 001's test cases in a list named {' or '.join(CASES)}.")
    try:
        read = [cases.from_json(each) for each in given]
        cases.check_names(read)
    except cases.CaseError as error:
        raise SuiteError(f"{path}: {error}") from None
    notes: list[str] = []
    return Suite(path.stem, tuple(_question(path, case, notes) for case in read), {}, tuple(notes))


def _question(path: Path, case: cases.TestCase, notes: list[str]) -> SuiteQuestion:
    question = SuiteQuestion(
        id=case.name,
        text=case.query_text,
        match="all",
        keywords=case.expected_keywords,
        top_k=case.top_k,
        relevance_threshold=case.relevance_threshold,
    )
    return with_documents(question, [(str(path), Expected(identity)) for identity in case.expected_doc_ids], notes)


READERS: Mapping[str, Callable[[Path], Suite]] = {".toml": _toml, ".jsonl": _jsonl, ".json": _json}
