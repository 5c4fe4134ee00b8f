"""How much of our code one warm question crosses: files, functions, calls, and changes from one file to another.

    python -m benchmarks.crossing [--calls]

The question is a REST `POST /query` with a hybrid search and three hits, against emulators of both services. Counted
are calls of functions and methods under src/handler. A comprehension, or a generator that goes on, is not a call that a
reader follows.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from types import FrameType
from typing import Any

from benchmarks.__main__ import SHARD, index
from benchmarks.asking import MODEL_VARIABLES, ROOT
from handler.config import profiles
from passage.local.environment import LocalContext
from tools.doubles import cohere_emulator
from tools.qdrant.emulator import qdrant_emulator

HANDLER = str(ROOT / "src" / "handler") + os.sep
BEFORE = {"files": 24, "functions": 121, "calls": 246, "changes of file": 79}
"""The same count before there was one pipeline, at commit 8c3d037."""
STARTED = 6
"""A frame called with its last instruction beyond these bytes is a generator that goes on."""

Call = tuple[str, str]
"""A file below src/handler, and the name of a function in it."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", action="store_true", help="print every call, in order")
    parser.add_argument("--shard", type=Path, help="the textbook's shard, in MODEL_VARIABLES; made when left out")
    chosen = parser.parse_args()
    if chosen.shard is None:
        index()
    calls = crossed(chosen.shard or SHARD)
    if chosen.calls:
        for file, function in calls:
            print(f"{file:40} {function}")
    counts = {
        "files": len({file for file, _ in calls}),
        "functions": len(set(calls)),
        "calls": len(calls),
        "changes of file": sum(before != after for (before, _), (after, _) in pairwise(calls)),
    }
    print(f"\n{'':20}{'now':>6}{'before':>8}")
    for name, count in counts.items():
        print(f"{name:20}{count:>6}{BEFORE[name]:>8}")
    print("\ncalls by file")
    for file, count in Counter(file for file, _ in calls).most_common():
        print(f"{count:>6}  {file}")


def crossed(shard: Path) -> list[Call]:
    """The calls of one question in a container that has answered others before."""
    event = json.loads((ROOT / "events" / "rest-api-query.json").read_text(encoding="utf-8"))
    with _services(shard) as environment:
        os.environ.update(environment)
        from handler.app import lambda_handler  # noqa: PLC0415 - it reads its environment at the first event

        for text in ("What is a robot?", "What is a sensor?"):
            _ask(lambda_handler, event, text)
        with _recorded() as calls:
            _ask(lambda_handler, event, "What is a digital twin?")
    return calls


def _ask(handler: Any, event: dict[str, Any], text: str) -> None:
    answer = handler({**event, "body": json.dumps({"text": text, "k": 3})}, LocalContext())
    assert (answer["statusCode"], len(json.loads(answer["body"])["results"])) == (200, 3), answer


@contextmanager
def _services(shard: Path) -> Iterator[dict[str, str]]:
    with tempfile.TemporaryDirectory() as folder, cohere_emulator() as cohere:
        shutil.copytree(shard, Path(folder) / profiles.load("query-response").collection.name)
        with qdrant_emulator(Path(folder)) as qdrant:
            services = {"COHERE_API_KEY": "key", "COHERE_BASE_URL": cohere.url, "QDRANT_URL": qdrant.url}
            yield {**MODEL_VARIABLES, **services, "SEARCH_MODE": "hybrid"}


@contextmanager
def _recorded() -> Iterator[list[Call]]:
    calls: list[Call] = []

    def record(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(HANDLER) and frame.f_lasti <= STARTED:
            name = getattr(code, "co_qualname", code.co_name)
            if not name.endswith(("<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>", "<lambda>")):
                calls.append((code.co_filename.removeprefix(HANDLER), name))

    sys.setprofile(record)
    try:
        yield calls
    finally:
        sys.setprofile(None)


if __name__ == "__main__":
    main()
