"""Reads a suite in BEIR's layout: queries.jsonl, qrels/test.tsv and, where the index is of the corpus, corpus.jsonl.

The judgments name documents by their ids. With a corpus in the folder, these become the URLs that `passage index`
gives to its documents; without one, they are point ids, chunk ids or URLs of another index. A query may state its
`language`.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from passage.evaluation.suite import HIGHEST_GRADE, Expected, Suite, SuiteQuestion
from passage.evaluation.suites.records import SuiteError, objects_of, text_of, with_documents
from passage.sites.corpus import FILE as CORPUS
from passage.sites.corpus import document_url

QUERIES = "queries.jsonl"
JUDGMENTS = "qrels/test.tsv"
HEADER = ("query-id", "corpus-id", "score")


def is_queries(path: Path) -> bool:
    """Whether a file is the queries of a folder in BEIR's layout, as queries.es.jsonl of another language."""
    return path.suffix == ".jsonl" and path.name.startswith("queries") and (path.parent / "qrels").is_dir()


def read(path: Path) -> Suite:
    """The questions that have a judgment.

    Args:
        path: the folder, or one of its files of queries.

    Raises:
        SuiteError: a file is missing or wrong.
    """
    folder, file = (path, path / QUERIES) if path.is_dir() else (path.parent, path)
    judgments = folder / JUDGMENTS
    for needed in (file, judgments):
        if not needed.is_file():
            raise SuiteError(f"{folder} is not in BEIR's layout: it has no {needed.relative_to(folder)}.")
    queries = _queries(file)
    judged: dict[str, list[tuple[str, Expected]]] = {query: [] for query in queries}
    unknown: list[str] = []
    for where, query, document, grade in _judgments(judgments):
        by_id = Expected(document, "any", grade)
        expected = Expected(document_url(document), "url", grade) if (folder / CORPUS).is_file() else by_id
        judged[query].append((where, expected)) if query in queries else unknown.append(query)
    notes: list[str] = []
    asked = tuple(with_documents(queries[query], documents, notes) for query, documents in judged.items() if documents)
    if not asked:
        such_as = f", such as '{unknown[0]}'" if unknown else ""
        raise SuiteError(f"{file} has none of the queries that {judgments} judges{such_as}.")
    if unknown:
        notes.insert(0, f"{len(unknown)} judgments are of queries that {file} does not have: they are left out.")
    if len(queries) > len(asked):
        notes.insert(0, f"{len(queries) - len(asked)} queries of {file} have no judgment: they are not asked.")
    name = folder.resolve().name if path.is_dir() else f"{folder.resolve().name}-{file.name.split('.')[1]}"
    return Suite(name, asked, {}, tuple(notes))


def _queries(file: Path) -> dict[str, SuiteQuestion]:
    queries: dict[str, SuiteQuestion] = {}
    for where, values in objects_of(file):
        identity, text, language = values.get("_id"), values.get("text"), values.get("language")
        if not isinstance(identity, str) or not isinstance(text, str) or not text.strip():
            raise SuiteError(f"{where}: must be an object with '_id' and 'text', both text and not empty.")
        if language is not None and not isinstance(language, str):
            raise SuiteError(f"{where}: 'language' must be text.")
        if identity in queries:
            raise SuiteError(f"{where}: the '_id' '{identity}' occurs twice.")
        queries[identity] = SuiteQuestion(identity, text, language=language)
    return queries


def _judgments(file: Path) -> Iterator[tuple[str, str, str, int]]:
    """Each judgment: its place, the query, the document and the grade."""
    for number, line in enumerate(text_of(file).split("\n"), start=1):
        columns = [part.strip() for part in line.split("\t")]
        where = f"{file}:{number}"
        if not line.strip() or (number == 1 and tuple(columns) == HEADER):
            continue
        if len(columns) != len(HEADER):
            raise SuiteError(f"{where}: must have the columns {', '.join(HEADER)}, with tabs between them.")
        query, document, grade = columns
        if not re.fullmatch("[0-9]{1,4}", grade) or int(grade) > HIGHEST_GRADE:
            raise SuiteError(
                f"{where}: the grade must be a whole number from 0 to {HIGHEST_GRADE:,}, not '{grade}'. A header must "
                f"be {', '.join(HEADER)}."
            )
        yield where, query, document, int(grade)
