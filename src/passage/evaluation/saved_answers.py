"""Saves answers as they come, so that an interrupted run can continue. JSON lines; the first says what was asked."""

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from passage.evaluation import run as runs
from passage.evaluation.run import SavedAnswer
from passage.evaluation.service import SetupError

FILE = "answers.jsonl"


class AnswerFile:
    """The answers in a run's folder.

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
        lines = [json.dumps(heading), *map(runs.answer_to_json, self.answers.values())]
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
        answers = [answer for line in lines if (answer := _answer(line)) is not None]
        return {answer.question_id: answer for answer in answers if answer.error is None}

    def add(self, answer: SavedAnswer) -> None:
        """Save one answer at once."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{runs.answer_to_json(answer)}\n")


def _answer(line: str) -> SavedAnswer | None:
    """The answer of a line; None for the last line of a run that was killed while it wrote."""
    try:
        return runs.answer_from_json(line)
    except ValidationError:
        return None
