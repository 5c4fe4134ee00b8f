"""The input of the checks, the finding of each check, and the report of all of them."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Literal

State = Literal["ok", "warning", "failed", "skipped"]

SIGNS = {"ok": "ok", "warning": "WARN", "failed": "FAIL", "skipped": "skip"}


@dataclass(frozen=True)
class Finding:
    """The result of one check.

    Attributes:
        check: what was checked, in one to three words.
        found: what was seen, as a sentence.
        advice: what to do about it; empty for `ok`.
    """

    state: State
    check: str
    found: str
    advice: str = ""


@dataclass(frozen=True)
class CheckOptions:
    """The input of the checks.

    Attributes:
        question: one that the site answers.
        profile: None for the deployment's default one.
        origin: the site's, as in https://docs.example.com; None leaves CORS unchecked.
    """

    question: str
    profile: str | None = None
    origin: str | None = None


ok = partial(Finding, "ok")
warning = partial(Finding, "warning")
failed = partial(Finding, "failed")
skipped = partial(Finding, "skipped")


def none_failed(findings: Iterable[Finding]) -> bool:
    """Whether no check failed. Warnings and skipped checks do not fail a deployment."""
    return all(finding.state != "failed" for finding in findings)


def lines(finding: Finding) -> list[str]:
    """A finding for a terminal: one line, and one for the advice."""
    first = f"{SIGNS[finding.state]:<5} {finding.check}: {finding.found}"
    return [first, f"      -> {finding.advice}"] if finding.advice else [first]


def summary(findings: Sequence[Finding]) -> str:
    counts = {state: sum(finding.state == state for finding in findings) for state in SIGNS}
    return ", ".join(f"{number} {state}" for state, number in counts.items() if number)


def as_json(findings: Sequence[Finding]) -> dict[str, Any]:
    return {"passed": none_failed(findings), "findings": [asdict(finding) for finding in findings]}
