"""Runs a suite: asks every question, saves each answer, then makes the other measurements of a run."""

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from pydantic import ValidationError
from tqdm import tqdm

from passage.api import Api
from passage.evaluation import checks
from passage.evaluation.asking import A_PAGE, PAGES, Asker
from passage.evaluation.run import Run, SavedAnswer, answer_from_json, answer_to_json
from passage.evaluation.service import RemoteProfile, SetupError, collection, find_profile
from passage.evaluation.suite import Suite, SuiteQuestion
from passage.evaluation.targets import EvaluationTarget
from passage.indexing.pacing import Pace

Find = Callable[[SuiteQuestion], RemoteProfile]
"""The profile of a question."""

FILE = "answers.jsonl"
IN_A_ROW = 5
"""A run stops after this many questions in a row without an answer: the target is down, or refuses all of them."""


@dataclass(frozen=True, slots=True)
class RunPlan:
    """What to ask.

    Attributes:
        top_k: how many passages a test case looks at, where a question does not say.
        per_minute: the most questions a minute; None for any number.
        folder: for the answers, as they come.
        resume: keep the answers that the folder has.
        explain: ask how each answer came about.
        pages: the largest K of the thresholds; 0 without one.
    """

    suite: Suite
    target: EvaluationTarget
    top_k: int
    folder: Path
    per_minute: int | None = None
    resume: bool = False
    explain: bool = False
    pages: int = 0

    @property
    def passages(self) -> int:
        """How many passages to ask for, where a profile allows it."""
        return max(self.top_k, A_PAGE * max(self.pages, PAGES))


def run(plan: RunPlan) -> Run:
    """Every question's answer or error, and the other measurements.

    Raises:
        SetupError: no question can be answered, a profile gives too few passages for a threshold, or the saved answers
            are of another run.
    """
    began, started_at = time.monotonic(), datetime.now(UTC)
    api, default = plan.target.api, plan.target.served
    find = _profiles(api, default)
    for question in plan.suite.questions:
        _check_pages(plan.pages, find(question))  # before the first question; so is an unknown profile
    saved = AnswerFile(plan.folder, _heading(plan), resume=plan.resume)
    total = len(plan.suite.questions)
    click.echo(f"Asking {total - len(saved.answers)} questions …", err=True)
    quiet = bool(os.environ.get("CI")) or not sys.stderr.isatty()
    with tqdm(total=total, initial=len(saved.answers), unit=" questions", disable=quiet) as bar:
        asker = Asker(api, Pace(plan.per_minute, sleep=_sleep), plan.passages, _say_waiting, plan.explain)
        answers = _answers(plan.suite, asker, find, saved, bar.update)
    known = checks.api_lookup(asker, default)
    lacking, unchecked = checks.find_missing(plan.suite, answers, known)
    return Run(
        suite=plan.suite,
        answers=answers,
        target=plan.target.name,
        profile=default.profile,
        top_k=plan.top_k,
        passages=default.clamp(plan.passages),
        model=default.model,
        collection=default.collection,
        search=plan.target.search,
        index=plan.target.index,
        noise=collection(api, default).get("noise") or {},
        started_at=started_at.isoformat(timespec="seconds").replace("+00:00", "Z"),
        by_id_ms=tuple(checks.time_by_id(api, default, answers)),
        missing=lacking,
        unchecked=unchecked,
        error_checks=tuple(checks.ask_wrongly(api, default)),
        repeated=tuple(checks.ask_again(asker, plan.suite, answers, find)),
        elapsed_ms=(time.monotonic() - began) * 1000,
    )


def _check_pages(pages: int, served: RemoteProfile) -> None:
    if pages > served.clamp(pages):
        raise SetupError(
            f"A threshold looks at {pages} pages, and the profile '{served.profile}' gives at most {served.most} "
            f"passages: K of hit@K and recall@K may be 1 to {served.most}."
        )


def _answers(
    suite: Suite, asker: Asker, find: Find, saved: "AnswerFile", advance: Callable[[], object]
) -> tuple[SavedAnswer, ...]:
    answers: list[SavedAnswer] = []
    failed = 0
    for question in suite.questions:
        answer = saved.answers.get(question.id)
        if answer is None:
            answer = asker.ask(find(question), question)
            saved.add(answer)
            advance()
            failed = failed + 1 if answer.error else 0
        answers.append(answer)
        # One question may be refused, for example as too long, while the others are answered.
        if failed >= IN_A_ROW and (answer.error_kind != "request" or len(answers) == failed):
            raise SetupError(
                f"--target: {IN_A_ROW} questions in a row got no answer. The last error, of '{question.id}': "
                f"{answer.error} Once that is fixed, --resume continues from here."
            )
    if all(answer.error for answer in answers):
        last = answers[-1]
        raise SetupError(f"--target: no question got an answer. The last error, of '{last.question_id}': {last.error}")
    return tuple(answers)


def _profiles(api: Api, default: RemoteProfile) -> Find:
    """Finds each profile once."""
    known = {None: default, default.profile: default}

    def find(question: SuiteQuestion) -> RemoteProfile:
        if question.profile not in known:
            known[question.profile] = find_profile(api, question.profile, f"question '{question.id}'")
        return known[question.profile]

    return find


def _heading(plan: RunPlan) -> dict[str, Any]:
    """What was asked: answers to something else are not mixed with these."""
    target = plan.target
    return {
        "suite": plan.suite.fingerprint,
        "target": target.name,
        "profile": target.served.profile,
        "model": target.served.model,
        "collection": target.served.collection,
        "search": target.search,
        "top_k": plan.top_k,
        "passages": plan.passages,
        "index": target.index,
        "explain": plan.explain,
    }


def _say_waiting(why: str, seconds: float) -> None:
    tqdm.write(f"{why} Trying again in {seconds:g} s …", file=sys.stderr)


def _sleep(seconds: float) -> bool:
    time.sleep(seconds)
    return False


class AnswerFile:
    """The answers in a run's folder, saved as they come, so that an interrupted run can continue.

    It has JSON lines; the first says what was asked.

    Args:
        heading: what was asked, as suite, target and profile. Answers to something else are never mixed with these.
        resume: keep the answers of an earlier run with the same heading. Errors are asked again.

    Raises:
        SetupError: the earlier run asked something else.
    """

    def __init__(self, folder: Path, heading: dict[str, Any], *, resume: bool) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / FILE
        self.answers = self._read(heading) if resume and self._path.exists() else {}
        lines = [json.dumps(heading), *map(answer_to_json, self.answers.values())]
        self._path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    def _read(self, heading: dict[str, Any]) -> dict[str, SavedAnswer]:
        # Only a line feed ends a line: a passage may have other separators, such as U+2028. A run that was killed may
        # have left half a character.
        first, *lines = self._path.read_text(encoding="utf-8", errors="replace").split("\n")
        try:
            before = json.loads(first)
        except ValueError:
            before = None
        if before != heading:
            changed = [name for name in heading if not isinstance(before, dict) or before.get(name) != heading[name]]
            raise SetupError(
                f"--resume: {self._path} has the answers of another run ({', '.join(changed)} changed). Leave out "
                "--resume to begin again."
            )
        answers = [answer for line in lines if (answer := _read_line(line)) is not None]
        return {answer.question_id: answer for answer in answers if answer.error is None}

    def add(self, answer: SavedAnswer) -> None:
        """Save one answer at once."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{answer_to_json(answer)}\n")


def _read_line(line: str) -> SavedAnswer | None:
    """The answer of a line; None for the last line of a run that was killed while it wrote."""
    try:
        return answer_from_json(line)
    except ValidationError:
        return None
