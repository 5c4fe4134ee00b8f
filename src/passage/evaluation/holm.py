"""Compares several runs with one baseline: each measure's p are corrected by Holm's method."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from passage.evaluation.compare import Comparison, compare
from passage.evaluation.measures import Measures


def compare_several(runs: Mapping[str, Measures], baseline: Measures) -> dict[str, tuple[Comparison, ...]]:
    """Several runs against one baseline. Each measure's p are corrected by Holm's method."""
    compared = {name: compare(run, baseline) for name, run in runs.items()}
    for place in range(len(baseline.measured)):
        decided = {name: row[place].p for name, row in compared.items()}
        corrected = dict(
            zip(
                (name for name, p in decided.items() if p is not None),
                holm([p for p in decided.values() if p is not None]),
                strict=True,
            )
        )
        for name, row in compared.items():
            changed = replace(row[place], p=corrected.get(name))
            compared[name] = (*row[:place], changed, *row[place + 1 :])
    return compared


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's correction: the smallest p times n, the next times n - 1, none below an earlier one, at most 1."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for position, index in enumerate(order):
        highest = max(highest, min(1.0, p_values[index] * (len(p_values) - position)))
        corrected[index] = highest
    return corrected
