"""Reads a suite in BEIR's layout: queries.jsonl, qrels/*.tsv and, where the index is of the corpus, corpus.jsonl.

The judgments name documents by their ids. With a corpus in the folder, these become the URLs that `passage index`
gives to its documents; without one, they are point ids, chunk ids or URLs of another index. A query may state its
`language`.
"""

from pathlib import Path

from passage.evaluation.suite import Expected, Question, Suite
from passage.evaluation.suites import qrels
from passage.evaluation.suites.records import Questions, SuiteError, json_of, text_of, with_documents
from passage.sites.corpus import FILE as CORPUS
from passage.sites.corpus import document_url

QUERIES = "queries.jsonl"
JUDGMENTS = ("qrels/test.tsv", "qrels.tsv", "qrels.txt", "qrels/*.tsv", "qrels/*.txt")
"""Where the judgments may be; the first that exists is read."""


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
    if not file.is_file():
        raise SuiteError(f"{folder} is not in BEIR's layout: it has no {QUERIES}.")
    queries = _queries(file)
    in_corpus = (folder / CORPUS).is_file()
    questions, notes = Questions(), []
    unknown, judged = 0, None
    for judgment in qrels.read(_judgments(folder)):
        judged = judgment.query
        if judgment.query not in queries:
            unknown += 1
            continue
        expected = _expected(judgment.document, judgment.grade, in_corpus=in_corpus)
        before = questions.found.get(judgment.query) or queries[judgment.query]
        questions.found[judgment.query] = with_documents(
            before, before.expected, (expected,), judgment.where, questions.notes
        )
    if not queries:
        raise SuiteError(f"{file} has no queries.")
    if judged is None:
        raise SuiteError(f"{_judgments(folder)} has no judgments.")
    if not questions.found:
        raise SuiteError(f"{file} has none of the queries that {_judgments(folder)} judges, such as '{judged}'.")
    if unknown:
        notes.append(f"{unknown} judgments are of queries that {file} does not have: they are left out.")
    if len(queries) > len(questions.found):
        notes.append(f"{len(queries) - len(questions.found)} queries of {file} have no judgment: they are not asked.")
    asked = tuple(questions.found[query] for query in queries if query in questions.found)
    name = folder.resolve().name if path.is_dir() else f"{folder.resolve().name}-{file.name.split('.')[1]}"
    return Suite(name, asked, {}, (*notes, *questions.notes))


def _expected(document: str, grade: int, *, in_corpus: bool) -> Expected:
    return Expected(document_url(document), "url", grade) if in_corpus else Expected(document, "any", grade)


def _queries(file: Path) -> dict[str, Question]:
    queries: dict[str, Question] = {}
    for number, line in enumerate(text_of(file).split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{file}:{number}"
        values = json_of(line, file, number)
        values = values if isinstance(values, dict) else {}
        identity, text, language = values.get("_id"), values.get("text"), values.get("language")
        if not isinstance(identity, str) or not isinstance(text, str) or not text.strip():
            raise SuiteError(f"{where}: must be an object with '_id' and 'text', both text and not empty.")
        if language is not None and not isinstance(language, str):
            raise SuiteError(f"{where}: 'language' must be text.")
        if identity in queries:
            raise SuiteError(f"{where}: the '_id' '{identity}' occurs twice.")
        queries[identity] = Question(identity, text, language=language)
    return queries


def _judgments(folder: Path) -> Path:
    for pattern in JUDGMENTS:
        found = sorted(folder.glob(pattern))
        if len(found) > 1:
            names = ", ".join(path.name for path in found)
            raise SuiteError(f"{folder}/qrels has several files ({names}): name the one to read test.tsv.")
        if found:
            return found[0]
    raise SuiteError(f"{folder} is not in BEIR's layout: it has no qrels/test.tsv.")
