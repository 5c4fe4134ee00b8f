"""A suite: questions, and the documents that answer each of them."""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import ConfigDict, Field, TypeAdapter

Kind = Literal["any", "id", "chunk", "url"]

Name = tuple[str, ...]
"""Of a document: `id` or `chunk` and its value, or `url` or `path`, the page and the fragment (empty for the page)."""

STRICT = ConfigDict(extra="forbid")

HIGHEST_GRADE = 1_000
"""trec_eval's code counts the documents of every grade up to the highest one, and crashes where there are too many."""


@dataclass(frozen=True, slots=True)
class Expected:
    """A document that answers a question.

    Attributes:
        value: a point id, a chunk id or a URL. A URL without a fragment names the whole page. One that begins with `/`
            matches this path on any host.
        kind: what `value` is; `any` compares it with the id, the chunk id and the URL.
        grade: how well it answers; 0 is a judged document that does not answer.
    """

    value: str
    kind: Kind = "any"
    grade: Annotated[int, Field(ge=0, le=HIGHEST_GRADE)] = 1

    @property
    def names(self) -> set[Name]:
        """The names that a passage of this document may have."""
        value, kinds = self.value, ("id", "chunk", "url") if self.kind == "any" else (self.kind,)
        in_url = ("path" if value.startswith("/") else "url", page(value), value.partition("#")[2])
        return {in_url if kind == "url" else (kind, value) for kind in kinds}


@dataclass(frozen=True, slots=True)
class SuiteQuestion:
    """A question of a suite. None means the run's own value.

    Attributes:
        id: unique in its suite.
        expected: the judged documents.
        match: whether `any` expected document of grade 1 or more answers the question, or `all` must be found.
        keywords: words that the passages should contain.
        top_k: how many passages its test case looks at.
        relevance_threshold: the minimum score of the first result, 0 to 1.
        answerable: whether the site answers it; false for an off-topic question.
        profile: the profile to ask.
        language: the language that passages must have, as the site states it.
        draft: a person has not checked it yet.
    """

    id: str
    text: str
    expected: tuple[Expected, ...] = ()
    match: Literal["any", "all"] = "any"
    keywords: tuple[str, ...] = ()
    top_k: int | None = None
    relevance_threshold: float | None = None
    answerable: bool = True
    profile: str | None = None
    tags: tuple[str, ...] = ()
    draft: bool = False
    language: str | None = None

    __pydantic_config__ = STRICT

    @property
    def relevant(self) -> tuple[Expected, ...]:
        """The expected documents that answer it."""
        return tuple(expected for expected in self.expected if expected.grade > 0)


@dataclass(frozen=True, slots=True)
class Suite:
    """Named questions, each with a unique id.

    Attributes:
        thresholds: what a run must reach, by the name of the figure; empty for the seed's success criteria.
        notes: warnings of the reader, as a judgment that occurs twice.
    """

    name: str
    questions: tuple[SuiteQuestion, ...]
    thresholds: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = field(default=(), compare=False)

    __pydantic_config__ = STRICT

    @property
    def fingerprint(self) -> str:
        """A hash of the questions and judgments. It leaves out the suite's name and its notes."""
        questions = [to_json(question) for question in self.questions]
        return hashlib.sha256(json.dumps(questions, sort_keys=True).encode()).hexdigest()[:16]


_question: TypeAdapter[SuiteQuestion] = TypeAdapter(SuiteQuestion)


def to_json(question: SuiteQuestion) -> dict[str, Any]:
    """A question as JSON values."""
    dumped: dict[str, Any] = _question.dump_python(question, mode="json")
    return dumped


def page(url: str) -> str:
    """The page of a URL: without fragment, and without a trailing slash."""
    return url.partition("#")[0].rstrip("/")


def url_names(url: str) -> set[Name]:
    """All names of a passage's URL: of its page and of its section, on its own host and on any."""
    fragment = url.partition("#")[2]
    pages = {("url", page(url)), ("path", page(_local(url)))} if url else set()
    return {(*each, part) for each in pages for part in ("", fragment)}


def _local(url: str) -> str:
    """A URL from its path on; the URL itself if it cannot be read."""
    try:
        parts = urlsplit(url)
    except ValueError:  # the text in brackets is not an IP address
        return url
    return parts.path + (f"?{parts.query}" if parts.query else "") + (f"#{parts.fragment}" if parts.fragment else "")
