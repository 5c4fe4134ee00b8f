"""A run: the answers to a suite's questions, and what was asked. It is saved as JSON and compared with other runs."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from passage.evaluation.suite import STRICT, Expected, Name, Suite, SuiteQuestion, page, url_names

ErrorKind = Literal["rate_limit", "service", "timeout", "request", "contract"]

FORMAT = 2
"""Changes when a saved run of another version cannot be read any more."""


class RunError(Exception):
    """A saved run cannot be read; the message names the file and the fault."""


@dataclass(frozen=True, slots=True)
class SavedHit:
    """One passage of an answer.

    Attributes:
        rank: from 1, in the order of the answer.
        id: the point's id; empty where the contract does not show it.
        chunk_id: as the contract shows it; empty where it does not.
        url: as the contract shows it, with its fragment.
        score: the contract's similarity, 0 to 1.
        text: the passage.
    """

    rank: int
    id: str
    chunk_id: str
    url: str
    title: str
    score: float
    text: str

    @property
    def page(self) -> str:
        """The URL without fragment and trailing slash."""
        return page(self.url)

    @property
    def names(self) -> set[Name]:
        """All names of the documents that this passage belongs to."""
        return {("id", self.id), ("chunk", self.chunk_id), *url_names(self.url)}

    def matches(self, expected: Expected) -> bool:
        """Whether this passage belongs to an expected document."""
        return not expected.names.isdisjoint(self.names)


@dataclass(frozen=True, slots=True)
class SavedAnswer:
    """The answer to one question, or the error instead of it.

    Attributes:
        results: best first; empty with an error.
        milliseconds: from the request to the whole answer, without waits for a rate limit.
        search_ms: the search alone, where the contract reports it.
        error: why there is no answer; None when there is one. An answer without passages is not an error.
        error_kind: `rate_limit`, `service`, `timeout`, `request` or `contract`; None without an error.
        debug: stages and ranks, where the target shows them.
    """

    question_id: str
    results: tuple[SavedHit, ...]
    milliseconds: float
    search_ms: float | None = None
    error: str | None = None
    error_kind: ErrorKind | None = None
    debug: dict[str, Any] | None = None

    __pydantic_config__ = STRICT


@dataclass(frozen=True, slots=True)
class Run:
    """The answers to every question of a suite, in the suite's order.

    Attributes:
        target: `local`, a URL or `lambda:NAME`.
        profile: the profile that was asked where a question names none.
        top_k: how many passages a test case looks at, where a question does not say.
        passages: how many were asked for, of the run's profile and where a question's `top_k` needs no more.
        model: of the questions' embeddings; empty where the target does not say.
        collection: empty where the target does not say.
        search: the profile's search settings, as mode and balance.
        noise: of the index, as `/ready` shows it; empty where it was not measured.
        index: identifies the content that was searched; empty where it is unknown.
        started_at: UTC, ISO 8601.
        elapsed_ms: the whole run, with its waits.
        by_id_ms: the time of each retrieval by id, of the first passages of some answers.
        missing: expected documents that the collection does not have, by question id.
        unchecked: expected documents whose existence could not be checked.
        error_checks: wrong requests, each with whether the answer was the contract's error.
        repeated: questions that were asked twice, each with whether both answers had the same passages in order.
    """

    suite: Suite
    answers: tuple[SavedAnswer, ...]
    target: str
    profile: str
    top_k: int
    passages: int
    model: str = ""
    collection: str = ""
    search: dict[str, Any] = field(default_factory=dict)
    index: str = ""
    noise: dict[str, float] = field(default_factory=dict)
    started_at: str = ""
    elapsed_ms: float = 0.0
    by_id_ms: tuple[float, ...] = ()
    missing: dict[str, tuple[str, ...]] = field(default_factory=dict)
    unchecked: int = 0
    error_checks: tuple[tuple[str, bool], ...] = ()
    repeated: tuple[tuple[str, bool], ...] = ()

    __pydantic_config__ = STRICT

    @property
    def fingerprint(self) -> str:
        """Identifies suite, index, profile, model and search settings: runs that share it differ by chance alone."""
        asked = (self.suite.fingerprint, self.profile, self.top_k, self.passages)
        parts = (*asked, self.index, self.model, self.collection, self.search)
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]

    def pairs(self) -> Iterator[tuple[SuiteQuestion, SavedAnswer]]:
        """Each question with its answer."""
        return zip(self.suite.questions, self.answers, strict=True)


def documents(question: SuiteQuestion, answer: SavedAnswer) -> list[tuple[str, int | None]]:
    """An answer's documents, best first, each once, with the judged grade; None where nobody judged it.

    A document is an expected one's `value`, or a page's URL; a chunk without a URL is its own document. The first
    passage of a document keeps its place, so a page with several passages counts once.
    """
    grades: dict[str, int | None] = {}
    for hit in answer.results:
        matched = [expected for expected in question.expected if hit.matches(expected)]
        for expected in matched:
            grades.setdefault(expected.value, expected.grade)
        if not matched:
            grades.setdefault(hit.page or hit.chunk_id or hit.id, None)
    return list(grades.items())


_answer: TypeAdapter[SavedAnswer] = TypeAdapter(SavedAnswer)
_run: TypeAdapter[Run] = TypeAdapter(Run)


def answer_to_json(answer: SavedAnswer) -> str:
    """One answer as one line."""
    return _answer.dump_json(answer).decode()


def answer_from_json(line: str) -> SavedAnswer:
    """Raises pydantic.ValidationError if `answer_to_json` did not write the line."""
    return _answer.validate_json(line)


def to_json(run: Run) -> dict[str, Any]:
    """A run as JSON values, with its fingerprints."""
    fingerprints = {"run": run.fingerprint, "suite": run.suite.fingerprint}
    return {"format": FORMAT, "fingerprints": fingerprints, **_run.dump_python(run, mode="json")}


def write(run: Run, path: Path) -> None:
    """Save a run as one JSON file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(to_json(run), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def read(path: Path) -> Run:
    """A saved run.

    Raises:
        RunError: the file is missing, or is not a run that this version reads.
    """
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RunError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError) as error:
        raise RunError(f"{path} is not JSON: {error}.") from None
    if not isinstance(values, dict) or values.pop("format", None) != FORMAT:
        raise RunError(f"{path} is not a run that can be read: it must be a JSON object with the format {FORMAT}.")
    values.pop("fingerprints", None)
    try:
        run = _run.validate_python(values)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise RunError(f"{path} is not a run that can be read: {where}: {first['msg']}.") from None
    if [answer.question_id for answer in run.answers] != [question.id for question in run.suite.questions]:
        raise RunError(f"{path} is not a run that can be read: its answers do not match its questions.")
    return run
