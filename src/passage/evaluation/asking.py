"""Asks one question: builds the request, repeats it where that helps, and reads the answer or the error."""

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from passage.api import Api, ApiReply, Request, Unreachable
from passage.evaluation import replies
from passage.evaluation.run import ErrorKind, SavedAnswer
from passage.evaluation.service import RemoteProfile
from passage.evaluation.suite import SuiteQuestion
from passage.indexing.pacing import Pace, wait_before

ATTEMPTS = 5
"""A rate-limited question is sent this often."""
SERVICE_ATTEMPTS = 3
"""A question whose service failed is sent this often: the function repeats each call itself."""

JSON = {"content-type": "application/json"}

WANTED = {"order": "relevance"}
"""Options that a run sends where the API offers them. The measures need the order of the search itself."""

PAGES = 10
"""The pages that nDCG@10 looks at."""
A_PAGE = 5
"""How many passages are asked for, for each page that a measure looks at: a page may have several."""

KINDS: dict[int, ErrorKind] = {429: "rate_limit", 500: "service", 502: "service", 503: "service", 504: "timeout"}
"""The statuses after which the same request may succeed."""


def request(served: RemoteProfile, question: SuiteQuestion, passages: int, *, explain: bool = False) -> dict[str, Any]:
    """The fields of a question's request.

    Args:
        passages: how many to ask for, up to the profile's limit. A question's own `top_k` may need more.
        explain: ask for `debug`, where the API offers it. The measured times include the time that this takes.
    """
    count = served.clamp(max(passages, question.top_k or 0))
    wanted = {**WANTED, "debug": True} if explain else WANTED
    options = {name: value for name, value in wanted.items() if name in served.fields}
    if question.language is not None:  # an API without this option refuses the question by its name
        options["language"] = question.language
    return {served.text: question.text, served.count: count, **options}


@dataclass(slots=True)
class Asker:
    """Asks an API within a rate.

    Attributes:
        passages: see `request`.
        notify: is told why a request is repeated, and the seconds until then.
        explain: ask how each answer came about; see `request`.
    """

    api: Api
    pace: Pace
    passages: int
    notify: Callable[[str, float], None] = lambda _, __: None
    explain: bool = False

    def ask(
        self, served: RemoteProfile, question: SuiteQuestion, more: Mapping[str, Any] = MappingProxyType({})
    ) -> SavedAnswer:
        """The answer, or the last attempt's error. `milliseconds` are the last attempt's.

        Args:
            more: other fields of the request.
        """
        fields = request(served, question, self.passages, explain=self.explain)
        body = json.dumps({**fields, **more}).encode()
        attempt = 0
        while True:
            attempt += 1
            self.pace.wait_for(1)
            answer, seconds = self._attempt(served, question, body, attempt)
            if seconds is None:
                return answer
            self.notify(f"{question.id}: {answer.error}", seconds)
            self.pace.hold(seconds)

    def _attempt(
        self, served: RemoteProfile, question: SuiteQuestion, body: bytes, attempt: int
    ) -> tuple[SavedAnswer, float | None]:
        """The answer to one request, and the seconds until it should be sent again; None for never."""
        started = time.perf_counter()
        try:
            reply = self.api.ask(Request("POST", f"{served.path}/query", headers=JSON, body=body))
        except Unreachable as error:
            took = (time.perf_counter() - started) * 1000
            failed = SavedAnswer(question.id, (), took, error=f"{error}.", error_kind="service")
            again = attempt < SERVICE_ATTEMPTS
            return failed, wait_before(attempt, throttled=False, asked=None) if again else None
        if reply.status == 200:
            return _read(served, question, reply), None
        kind = KINDS.get(reply.status, "request")
        failed = SavedAnswer(question.id, (), reply.milliseconds, error=reply.fault, error_kind=kind)
        most = ATTEMPTS if kind == "rate_limit" else SERVICE_ATTEMPTS if kind != "request" else 1
        if attempt >= most:
            return failed, None
        return failed, wait_before(attempt, throttled=kind == "rate_limit", asked=retry_after(reply))


def retry_after(reply: ApiReply) -> float | None:
    """The seconds of a Retry-After header; None without one, or where it is a date."""
    try:
        return max(0.0, float(reply.headers["retry-after"]))
    except (KeyError, ValueError):
        return None


def _read(served: RemoteProfile, question: SuiteQuestion, reply: ApiReply) -> SavedAnswer:
    body = reply.json()
    try:
        hits, search_ms = replies.read(served.contract, served.profile, body)
    except replies.ReplyError as error:
        return SavedAnswer(question.id, (), reply.milliseconds, error=f"{error}.", error_kind="contract")
    debug = body.get("debug")
    return SavedAnswer(
        question_id=question.id,
        results=hits,
        milliseconds=reply.milliseconds,
        search_ms=search_ms,
        debug=debug if isinstance(debug, dict) else None,
    )
