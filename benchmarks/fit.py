"""How well the fit tells answerable questions from others. Prints the tables of docs/quality.md, "No clear answer".

    python -m benchmarks.fit SUITE INDEX OFF_TOPIC

SUITE is what `passage evaluate` takes, INDEX the folder that `passage index` wrote to, OFF_TOPIC a file with a question
a line. Every answer is the function's, with five passages by relevance.
"""

import json
import logging
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from handler.core.fit import FITS
from passage.api import Request
from passage.evaluation import service, targets
from passage.evaluation.suites.files import read_suite
from passage.local.function import silence_log

PASSAGES = 5
PLACES = (0.0, 0.5, 1.0, 1.5, 2.0)
"""Of a cosine: 0 is the noise's median, 1 its 90th percentile."""

Asked = Sequence[tuple[float, str]]
"""The best cosine of each question, and the fit of its first passage."""


def ask(target: targets.EvaluationTarget, questions: Iterable[str]) -> Asked:
    served = target.served
    asked = []
    for question in questions:
        fields = {served.text: question, served.count: PASSAGES, "fit": True, "order": "relevance"}
        reply = target.api.ask(Request("POST", f"{served.path}/query", body=json.dumps(fields).encode())).json()
        results = reply.get("results") or reply["chunks"]
        scores = [next(each[key] for key in each if key.endswith("score")) for each in results]
        asked.append((max(scores), str(results[0]["fit"])))
    return asked


def table(sets: dict[str, Asked]) -> str:
    """The fits of each set's first passages, as Markdown."""
    lines = [f"| questions | number | {' | '.join(reversed(FITS))} |", "|---|---|---|---|---|---|"]
    for name, asked in sets.items():
        counts = Counter(fit for _, fit in asked)
        shares = (f"{counts[fit] / len(asked):.1%}".replace("%", " %") for fit in reversed(FITS))
        lines.append(f"| {name} | {len(asked)} | {' | '.join(shares)} |")
    return "\n".join(lines)


def curve(sets: dict[str, Asked], p50: float, p90: float) -> str:
    """The share of each set that keeps a passage at some thresholds, as Markdown."""
    lines = [f"| place | cosine | {' | '.join(sets)} |", f"|---|---|{'---|' * len(sets)}"]
    for place in PLACES:
        least = p50 + place * (p90 - p50)
        kept = (
            f"{sum(best >= least for best, _ in asked) / len(asked):.0%}".replace("%", " %") for asked in sets.values()
        )
        lines.append(f"| {place:g} | {least:.3f} | {' | '.join(kept)} |")
    return "\n".join(lines)


def main() -> None:
    suite, index, others = read_suite(Path(sys.argv[1])), Path(sys.argv[2]), Path(sys.argv[3])
    silence_log()
    logging.getLogger("passage").setLevel(logging.CRITICAL)
    with targets.open_target("local", None, index=index, key=None) as target:
        noise = service.collection(target.api, target.served)["noise"]
        sets = {
            "answerable": ask(target, (each.text for each in suite.questions if each.relevant)),
            "the suite's off-topic ones": ask(target, (each.text for each in suite.questions if not each.answerable)),
            "kept-back off-topic ones": ask(target, others.read_text(encoding="utf-8").splitlines()),
        }
    print(table({name: asked for name, asked in sets.items() if asked}))
    print()
    print(curve({name: asked for name, asked in sets.items() if asked}, noise["p50"], noise["p90"]))


if __name__ == "__main__":
    main()
