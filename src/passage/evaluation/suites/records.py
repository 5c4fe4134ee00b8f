"""Turns a record of a file (a table of TOML, a JSON object, a row of CSV) into a question."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from passage.evaluation.cases import CaseError, first_fault
from passage.evaluation.judging import pending
from passage.evaluation.suite import Expected, Question

ALIASES: Mapping[str, tuple[str, ...]] = {
    "id": ("_id", "name", "query_id", "query-id"),
    "text": ("question", "query", "query_text", "user_input"),
    "expected": (
        *("expected_doc_ids", "relevant_doc_ids", "reference_context_ids"),
        *("url", "urls", "page", "corpus_id", "corpus-id"),
    ),
    "keywords": ("expected_keywords",),
    "grade": ("score",),
}
"""Other names of a field, as other tools write them."""

IGNORED = frozenset({"collection_name", "status", "actual_results", "error_message", "metadata", "reference"})
"""Fields of seed 001's test cases and of other tools that a suite does not need."""

KINDS = ("value", "id", "chunk", "url")
FIELDS = tuple(each.name for each in fields(Question))

_question: TypeAdapter[Question] = TypeAdapter(Question)


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


@dataclass(slots=True)
class Questions:
    """Questions as they are read. A record with a known id adds its documents to that question."""

    found: dict[str, Question] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, record: Mapping[str, Any], where: str, *, repeats: bool = False) -> None:
        """Read one record.

        Args:
            where: its file and line, for messages.
            repeats: whether several records may be of one question, as in CSV.

        Raises:
            SuiteError: the record breaks a rule.
        """
        question = _read(record, where, len(self.found) + 1)
        before = self.found.get(question.id)
        if before is None:
            self.found[question.id] = with_documents(question, (), question.expected, where, self.notes)
            return
        if not repeats:
            raise SuiteError(f"{where}: the id '{question.id}' occurs twice; ids must be unique in a suite.")
        if question.text != before.text:
            raise SuiteError(f"{where}: the id '{question.id}' occurs twice, with different questions.")
        self.found[question.id] = with_documents(before, before.expected, question.expected, where, self.notes)


def with_documents(
    question: Question, before: Iterable[Expected], added: Iterable[Expected], where: str, notes: list[str]
) -> Question:
    """The question with more judged documents.

    A document that is judged twice with one grade is noted.

    Raises:
        SuiteError: a document is judged twice, with different grades.
    """
    judged = {expected.value: expected for expected in before}
    for expected in added:
        other = judged.setdefault(expected.value, expected)
        if other.grade != expected.grade:
            raise SuiteError(
                f"{where}: question '{question.id}' judges '{expected.value}' twice, with the grades {other.grade} and "
                f"{expected.grade}."
            )
        if other is not expected:
            notes.append(f"{where}: question '{question.id}' judges '{expected.value}' twice.")
    return replace(question, expected=tuple(judged.values()))


def _read(record: Mapping[str, Any], where: str, number: int) -> Question:
    values = _named(record, where)
    grade = values.pop("grade", 1)
    values["id"] = _identity(values.get("id", f"q{number}"), where)
    if "expected" in values:
        values["expected"] = [_expected(item, grade, where) for item in _listed(values["expected"])]
    for name in ("keywords", "tags"):
        if name in values:
            values[name] = _listed(values[name])
    if "query_text" in record and "expected_doc_ids" in record:  # seed 001's test case: all of them must be found
        values.setdefault("match", "all")
    text = values.get("text", "")
    if isinstance(text, str) and not text.strip():
        raise SuiteError(f"{where}: the question '{values['id']}' has no 'text'.")
    try:
        question = _question.validate_python(values)
        pending(question, "any", top_k=1)
    except ValidationError as error:
        raise SuiteError(f"{where}: {first_fault(error, values['id'])}") from None
    except CaseError as error:
        raise SuiteError(f"{where}: {error}") from None
    if question.relevant and not question.answerable:
        raise SuiteError(
            f"{where}: '{question.id}' is not answerable, but '{question.relevant[0].value}' answers it: leave out one "
            "of the two, or give the document the grade 0."
        )
    return question


def check_field(key: str, where: str) -> None:
    """Raise SuiteError unless a question may have a field of this name."""
    if key not in (*FIELDS, *IGNORED, "grade") and not any(key in names for names in ALIASES.values()):
        raise SuiteError(f"{where}: unknown field '{key}'; allowed: {', '.join(FIELDS)}.")


def _identity(value: Any, where: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise SuiteError(f"{where}: an id must be text or a whole number, not {value!r}.")
    return str(value)


def _named(record: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The record's values by the names of `Question`, without null values."""
    names = {alias: name for name, aliases in ALIASES.items() for alias in aliases}
    values: dict[str, Any] = {}
    for key, value in record.items():
        name = names.get(key, key)
        if value is None or key in IGNORED:
            continue
        check_field(key, where)
        if name in values:
            raise SuiteError(f"{where}: '{key}' and another field both give the question's {name}.")
        values[name] = value
    return values


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _expected(item: Any, grade: Any, where: str) -> dict[str, Any]:
    if not isinstance(item, Mapping):
        return {"value": _text(item, where), "grade": grade}
    given = [kind for kind in KINDS if kind in item]
    unknown = [key for key in item if key not in (*KINDS, "grade", "kind")]
    if unknown or len(given) != 1:
        raise SuiteError(f"{where}: an expected document has one of {', '.join(KINDS)}, and may have a grade.")
    kind = item.get("kind", "any") if given[0] == "value" else given[0]
    return {"value": _text(item[given[0]], where), "kind": kind, "grade": item.get("grade", grade)}


def _text(value: Any, where: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise SuiteError(f"{where}: an expected document must be a point id, a chunk id or a URL, not {value!r}.")
    return str(value).strip()
