"""Reads relevance judgments: BEIR's (three columns with a header) and TREC's (four columns without one)."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from passage.evaluation.suite import HIGHEST_GRADE
from passage.evaluation.suites.records import SuiteError, text_of

HEADER = ("query-id", "corpus-id", "score")


@dataclass(frozen=True, slots=True)
class Judgment:
    """One line. A grade below 0, as TREC has for spam, is read as 0."""

    query: str
    document: str
    grade: int
    where: str


def read(path: Path) -> Iterator[Judgment]:
    """Every judgment of a file, in order.

    Raises:
        SuiteError: a line has other columns, or a grade that is not a whole number.
    """
    for number, line in enumerate(text_of(path).split("\n"), start=1):
        columns = [part.strip() for part in line.split("\t")] if "\t" in line else line.split()
        where = f"{path}:{number}"
        if not line.strip() or (number == 1 and tuple(columns) == HEADER):
            continue
        match columns:
            case [query, document, grade] | [query, _, document, grade]:
                yield Judgment(query, document, _grade(grade, where), where)
            case _:
                raise SuiteError(
                    f"{where}: must have three columns (query-id, corpus-id, score) or TREC's four (query, 0, "
                    f"document, grade), not {len(columns)}."
                )


def _grade(text: str, where: str) -> int:
    try:
        grade = max(0, int(text))
    except ValueError:
        raise SuiteError(
            f"{where}: the grade must be a whole number, not '{text}'. A header must be {', '.join(HEADER)}."
        ) from None
    if grade > HIGHEST_GRADE:
        raise SuiteError(f"{where}: the grade must be {HIGHEST_GRADE:,} or less, not {text}.")
    return grade
