"""The HTML report of a run: one file, without scripts, that loads nothing."""

from collections.abc import Sequence
from pathlib import Path

from passage.evaluation.report.document import document
from passage.evaluation.run import Run
from passage.evaluation.thresholds import Verdict


def write(path: Path, run: Run, baseline: Run | None = None, *, k: int = 5, verdicts: Sequence[Verdict] = ()) -> None:
    """Write the report.

    Args:
        baseline: another run over the same questions, shown beside this one.
        k: the cutoff of recall and hit.
        verdicts: the run's thresholds.

    Raises:
        ComparisonError: the baseline has other questions or another top_k. Nothing is written.
        OSError: the file cannot be written.
    """
    text = document(run, baseline, k=k, verdicts=verdicts)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
