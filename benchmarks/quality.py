"""Compares vectors alone, words alone, both, and both with diversity, on a suite. Prints the tables of docs/quality.md.

    python -m benchmarks.quality SUITE INDEX

SUITE is what `passage evaluate` takes, INDEX the folder that `passage index` wrote to. One run of a hybrid search also
gives the lists by vectors and by words, because its answers explain themselves. Every answer is the function's.
"""

import json
import logging
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from passage.api import Api, ApiReply, Request
from passage.evaluation import targets
from passage.evaluation.compare import Comparison, compare_several
from passage.evaluation.intervals import estimate, share
from passage.evaluation.measured_run import measure_run, refuse_others
from passage.evaluation.run import Run, SavedAnswer, SavedHit
from passage.evaluation.runner import RunPlan, run
from passage.evaluation.suite import Suite
from passage.evaluation.suites.files import read_suite
from passage.local.function import silence_log

TOP_K = 100
"""Deep enough for the first ten pages of both lists: an explanation names the pages of an answer's passages only."""
FIRST = 5
VECTORS, WORDS, BOTH = "vectors alone", "words alone", "both (hybrid)"
DIVERSE: Mapping[str, Mapping[str, Any]] = {
    "hybrid, `max_per_page` 1": {"max_per_page": 1},
    "hybrid, `diversity` 0.3": {"diversity": 0.3},
}
LISTS = {VECTORS: "dense", WORDS: "text"}


@dataclass(frozen=True)
class WithOptions:
    """An API whose questions have more options."""

    api: Api
    options: Mapping[str, Any]

    def ask(self, request: Request) -> ApiReply:
        return self.api.ask(replace(request, body=self._widened(request.body)))

    def _widened(self, body: bytes | None) -> bytes | None:
        try:
            fields = json.loads(body or b"")
        except ValueError:  # one of a run's wrong requests
            return body
        return json.dumps({**fields, **self.options}).encode() if isinstance(fields, dict) else body


def asked(suite: Suite, index: Path, options: Mapping[str, Any]) -> Run:
    """The suite's answers by a hybrid search. Without options they explain themselves."""
    with (
        targets.open_target("local", None, index=index, key=None) as target,
        tempfile.TemporaryDirectory() as folder,
    ):
        plan = RunPlan(
            suite=suite,
            target=replace(target, api=WithOptions(target.api, options)),
            top_k=TOP_K,
            folder=Path(folder),
            explain=not options,
        )
        return run(plan)


def by_stage(explained: Run, stage: str) -> Run:
    """The run with each answer's passages as one list of the search ranked them."""
    answers = tuple(replace(answer, results=_listed(answer, stage)) for answer in explained.answers)
    return replace(explained, answers=answers, search={"mode": stage})


def _listed(answer: SavedAnswer, stage: str) -> tuple[SavedHit, ...]:
    if answer.debug is None:
        raise SystemExit(f"Question {answer.question_id} got no explanation: {answer.error or 'ask a hybrid index'}")
    found = sorted(
        (passage["stages"][stage]["rank"], passage["stages"][stage]["score"], passage)
        for passage in answer.debug["passages"]
        if stage in passage["stages"] and passage.get("url")
    )
    return tuple(SavedHit(rank, str(one["id"]), "", one["url"], "", score, "") for rank, score, one in found)


def first_passages(of: Run) -> str:
    """The share of questions with a right passage among the first five, which may be of one page."""
    own = [(question, answer) for question, answer in of.pairs() if question.relevant]
    hits = sum(
        any(hit.matches(one) for hit in answer.results[:FIRST] for one in question.relevant) for question, answer in own
    )
    return f"{share(hits, len(own)).value:.3f}"


def table(runs: Mapping[str, Run]) -> str:
    """Measures of each search, as Markdown."""
    lines = ["| search | nDCG@10 | hit@5 | MRR | right in the first 5 passages |", "|---|---|---|---|---|"]
    for name, one in runs.items():
        found = measure_run(one, k=FIRST)
        values = {each: estimate(list(found[each].values.values())) for each in ("nDCG@10", f"hit@{FIRST}", "MRR")}
        shown = [f"{each.value:.3f} ({each.low:.3f}-{each.high:.3f})" for each in values.values()]
        lines.append(f"| {name} | {' | '.join(shown)} | {first_passages(one)} |")
    return "\n".join(lines)


def comparison(runs: Mapping[str, Run]) -> str:
    """Each other search against the hybrid one, as Markdown. The p are corrected by Holm's method."""
    lines = ["| against hybrid, nDCG@10 | difference | better, same, worse | p | |", "|---|---|---|---|---|"]
    others = {name: one for name, one in runs.items() if name != BOTH}
    for one in others.values():
        refuse_others(one, runs[BOTH])
    measures = {name: measure_run(one, k=FIRST) for name, one in others.items()}
    for name, rows in compare_several(measures, measure_run(runs[BOTH], k=FIRST)).items():
        row = next(each for each in rows if each.measure == "nDCG@10")
        lines.append(
            f"| {name} | {_difference(row)} | {row.wins}, {row.ties}, {row.losses} | {_p(row)} | {row.verdict} |"
        )
    return "\n".join(lines)


def _difference(row: Comparison) -> str:
    return f"{row.difference.value:+.3f} ({row.difference.low:+.3f} to {row.difference.high:+.3f})"


def _p(row: Comparison) -> str:
    return "" if row.p is None else f"{row.p:.3f}" if row.p >= 0.001 else "< 0.001"


def kinds(of: Run) -> str:
    """hit@5 of each kind of question, as Markdown."""
    tags = dict.fromkeys(tag for question in of.suite.questions if question.relevant for tag in question.tags)
    lines = ["| questions | number | hit@5 | nDCG@10 |", "|---|---|---|---|"]
    for tag in tags:
        found = measure_run(of, k=FIRST, tag=tag)
        hit = estimate(list(found[f"hit@{FIRST}"].values.values()))
        shown = f"{hit.value:.2f} ({hit.low:.2f}-{hit.high:.2f}) | {found['nDCG@10'].mean:.3f}"
        lines.append(f"| {tag} | {len(found.questions)} | {shown} |")
    return "\n".join(lines)


def main() -> None:
    suite, index = read_suite(Path(sys.argv[1])), Path(sys.argv[2])
    silence_log()
    logging.getLogger("passage").setLevel(logging.CRITICAL)
    explained = asked(suite, index, {})
    runs = {name: by_stage(explained, stage) for name, stage in LISTS.items()} | {BOTH: explained}
    runs |= {name: asked(suite, index, options) for name, options in DIVERSE.items()}
    print(f"{suite.name}: {len(measure_run(explained).questions)} questions with a relevant page\n")
    print(table(runs), comparison(runs), *([kinds(explained)] if suite.questions[0].tags else []), sep="\n\n")


if __name__ == "__main__":
    main()
