"""Turns a record of a file (a table of TOML, a JSON object) into a question."""

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from passage.evaluation.cases import CaseError, first_fault
from passage.evaluation.judging import to_case
from passage.evaluation.suite import Expected, SuiteQuestion

KINDS = ("id", "chunk", "url")
FIELDS = tuple(each.name for each in fields(SuiteQuestion))

_question: TypeAdapter[SuiteQuestion] = TypeAdapter(SuiteQuestion)


class SuiteError(Exception):
    """A suite cannot be read. The message names the file, the line where there is one, and the fault."""


def text_of(path: Path) -> str:
    """A file's text. Its lines end in a line feed.

    Raises:
        SuiteError: it cannot be read, or is not UTF-8.
    """
    try:
        raw = path.read_bytes()
        return raw.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except OSError as error:
        raise SuiteError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise SuiteError(f"{path}:{line}: is not UTF-8: save the file in this encoding.") from None


def json_of(text: str, path: Path, line: int | None = None) -> Any:
    """The value of a JSON file, or of one of its lines.

    Raises:
        SuiteError: it is not JSON.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        what = f"{error.msg[:1].lower()}{error.msg[1:]}"
        raise SuiteError(f"{path}:{line or error.lineno}: is not JSON: {what} at column {error.colno}.") from None
    except (ValueError, RecursionError) as error:  # a number with too many digits, or too many brackets
        raise SuiteError(f"{path}{f':{line}' if line else ''}: is not JSON that can be read: {error}.") from None


def objects_of(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """The objects of a JSONL file, each with its place. Blank lines are left out.

    Raises:
        SuiteError: a line is not a JSON object.
    """
    lines = [(number, line) for number, line in enumerate(text_of(path).split("\n"), start=1) if line.strip()]
    objects = [(f"{path}:{number}", json_of(line, path, number)) for number, line in lines]
    for where, value in objects:
        if not isinstance(value, dict):
            raise SuiteError(f"{where}: must be a JSON object.")
    return objects


def question_of(record: Any, where: str, number: int, notes: list[str]) -> SuiteQuestion:
    """One record as a question.

    Args:
        where: its file and line, for messages.
        number: its place in the suite, from 1.
        notes: gets a line for each document that is judged twice.

    Raises:
        SuiteError: the record breaks a rule.
    """
    if not isinstance(record, Mapping):
        raise SuiteError(f"{where}: a question must be an object with a 'text'.")
    for key in record:
        if key not in FIELDS:
            raise SuiteError(f"{where}: unknown field '{key}'; allowed: {', '.join(FIELDS)}.")
    values = {"id": f"q{number}", "text": "", **record}
    if isinstance(values["text"], str) and not values["text"].strip():
        raise SuiteError(f"{where}: the question '{values['id']}' has no 'text'.")
    if isinstance(values.get("expected"), list):
        values["expected"] = [_read_expected(item, where) for item in values["expected"]]
    try:
        question = _question.validate_python(values)
        to_case(question, "any", top_k=1)
    except ValidationError as error:
        raise SuiteError(f"{where}: {first_fault(error, values['id'])}") from None
    except CaseError as error:
        raise SuiteError(f"{where}: {error}") from None
    if question.relevant and not question.answerable:
        raise SuiteError(
            f"{where}: '{question.id}' is not answerable, but '{question.relevant[0].value}' answers it: leave out one "
            "of the two, or give the document the grade 0."
        )
    return with_documents(question, [(where, each) for each in question.expected], notes)


def with_documents(question: SuiteQuestion, judged: list[tuple[str, Expected]], notes: list[str]) -> SuiteQuestion:
    """The question with its judged documents, each with its place. One that occurs twice with one grade is noted.

    Raises:
        SuiteError: a document is judged twice, with different grades.
    """
    documents: dict[str, Expected] = {}
    for where, expected in judged:
        other = documents.setdefault(expected.value, expected)
        twice = f"{where}: question '{question.id}' judges '{expected.value}' twice"
        if other.grade != expected.grade:
            raise SuiteError(f"{twice}, with the grades {other.grade} and {expected.grade}.")
        if other is not expected:
            notes.append(f"{twice}.")
    return replace(question, expected=tuple(documents.values()))


def _read_expected(item: Any, where: str) -> dict[str, Any]:
    """A document: its id, chunk id or URL, or an object that says which of them it is, with its grade."""
    given = dict(item) if isinstance(item, Mapping) else {"any": item}
    grade = given.pop("grade", 1)
    ((kind, value),) = given.items() if len(given) == 1 else (("", None),)
    if kind not in (*KINDS, "any"):
        raise SuiteError(f"{where}: an expected document has one of {', '.join(KINDS)}, and may have a grade.")
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise SuiteError(f"{where}: an expected document must be a point id, a chunk id or a URL, not {value!r}.")
    return {"value": str(value).strip(), "kind": kind, "grade": grade}
