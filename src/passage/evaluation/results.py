"""Judges a run and writes its files: run.json, results.json and report.html."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from passage.evaluation import run as runs
from passage.evaluation import thresholds
from passage.evaluation.balances import Trials, try_balances
from passage.evaluation.cases import TestSuiteResult, result_to_json
from passage.evaluation.judging import judge_cases
from passage.evaluation.report.facts import Facts, facts
from passage.evaluation.report.page import render
from passage.evaluation.run import Run
from passage.evaluation.thresholds import Verdict

RUN, RESULTS, REPORT = "run.json", "results.json", "report.html"


@dataclass(frozen=True, slots=True)
class Results:
    """A judged run and the folder with its files."""

    facts: Facts
    suite_result: TestSuiteResult
    verdicts: tuple[Verdict, ...]
    folder: Path
    trials: Trials | None = None

    @property
    def passed(self) -> bool:
        """Whether every question has an answer and every threshold is met."""
        return self.suite_result.errors == 0 and all(verdict.met for verdict in self.verdicts)

    @property
    def report(self) -> Path:
        return self.folder / REPORT


def judge(run: Run, baseline: Run | None, limits: dict[str, float], folder: Path) -> Results:
    """Judge a run and write its files. The run itself is written first: asking it may have cost money.

    Raises:
        MeasureError: a library is missing, or the baseline is over other questions.
    """
    runs.write(run, folder / RUN)
    result = judge_cases(run)
    figures = facts(run, baseline)
    trials = try_balances(run) if figures.measures else None
    results = Results(figures, result, tuple(thresholds.judge(run, result, limits)), folder, trials)
    text = json.dumps(result_to_json(result), ensure_ascii=False, indent=1)
    (folder / RESULTS).write_text(text + "\n", encoding="utf-8")
    results.report.write_text(render(figures, results.verdicts), encoding="utf-8")
    return results


def to_json(results: Results) -> dict[str, Any]:
    """What `--json` prints: the figures without the answers, which are in run.json."""
    run, figures = results.facts.run, results.facts
    result = result_to_json(results.suite_result)
    del result["test_results"]
    return {
        "passed": results.passed,
        "suite": run.suite.name,
        "target": run.target,
        "profile": run.profile,
        "questions": len(run.answers),
        "measures": {each.name: each.mean for each in figures.measured},
        "thresholds": [asdict(verdict) for verdict in results.verdicts],
        "noise": run.noise or None,
        "cosine_threshold": figures.threshold.proposed.threshold if figures.threshold else None,
        "balances": _balances(results.trials) if results.trials else None,
        "comparison": [asdict(each) | {"verdict": each.verdict} for each in figures.comparison],
        "test_suite": result,
        "notes": list(run.suite.notes),
        "files": {name: str(results.folder / name) for name in (RUN, RESULTS, REPORT)},
    }


def _balances(trials: Trials) -> dict[str, Any]:
    """The balances tried, and which of them are better than the current one."""
    shown = [{**asdict(each), "verdict": each.comparison.verdict} for each in trials.trials]
    return {**asdict(trials), "trials": shown, "better": [each.balance for each in trials.better]}
