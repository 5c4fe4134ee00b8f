"""Mutated events given to the function, with fakes at its two ports: what no event may lead to is a finding.

Some events meet an embedding service that fails and repeats their texts: only what is logged counts then.

`python -m fuzz.findings EVENTS SEED` runs as many as asked (`make fuzz`).
"""

import io
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

from fuzz.mutations import DEEP, NESTED, mutated, odd
from handler import app, telemetry
from handler.adapters.qdrant.payload import Hit
from handler.config.profiles import Profile
from handler.core.errors import InternalError, InvalidRequest, PassageError, RequestRefused
from handler.core.model import CollectionInfo, Passage, Vector
from handler.core.retrieve import Retriever
from handler.entrypoints.detect import TOOL_NAME, Source, detect, reads_no_answer
from handler.service.replies import Reply
from unit.asking import FakedContainer, FixedEmbedder, FixedStore
from unit.pipelines import pipeline

EVENTS = Path(__file__).parents[2] / "events"
FOLDERS = ("*.json", "*.json", "*.json", "contracts/*/*.json")
MAY_RAISE = (Source.SNS, Source.EVENT_BRIDGE, Source.PIPES)
"""Lambda or the pipe tries these again after an exception. Everything else is answered."""


UNEXPECTED = str(InternalError(RuntimeError()))
"""MCP's answers have this sentence and no code."""

TELLING = 16
"""The fewest characters of a text that no log line may hold. A shorter one may be a word of our own messages."""


class Embedder(FixedEmbedder):
    """Fails on demand, and then repeats its texts, as an upstream may."""

    fails = False

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        vectors = super().embed(texts)
        if self.fails and len(texts[0]) % 2:
            raise ValueError(json.dumps({"texts": texts}))
        if self.fails:
            raise RequestRefused("Not embedded.", upstream="embedding", detail=f"cannot embed {texts}")
        return vectors


class Store(FixedStore):
    """A store that also describes itself and has one point."""

    def fetch(self, chunk: str, *, with_vectors: bool) -> Passage | None:
        return Passage(1, 0, "A twin.", "https://docs.example") if chunk == "1" else None

    def describe(self) -> CollectionInfo:
        collection = self.profile.collection
        return CollectionInfo(collection.name, collection.dimension, collection.distance, 1, 1, "green")


class Sink:
    """Takes replies, and sees that they can be sent."""

    seconds = 0.1

    def send(self, reply: Reply, *, group: str | None) -> None:
        reply.text.encode()
        json.loads(reply.text)
        f"{reply.id}{reply.correlation_id}{group or ''}".encode("utf-8", "surrogatepass")


class Container(FakedContainer):
    def __init__(self) -> None:
        super().__init__()
        self.hits = [
            Hit(1, 0.9, {"content": "A twin.", "url": "https://example.com/"}),
            Hit(2, 0.5, {"text": "机器人 🤖", "source_url": "https://example.com/2", "created_at": "1733900000"}),
            Hit(3, 0.4, {"words": "no text"}),
        ]
        self.__dict__["reply_sinks"] = (Sink(),)
        self._made: dict[str, Retriever] = {}

    def retriever(self, profile: Profile) -> Retriever:
        key = f"{profile.name} {profile.collection.name}"
        if key not in self._made:
            retriever = super().retriever(profile)
            store = Store(profile, self.hits)
            self._made[key] = pipeline(
                Embedder(profile, asked=self.embedded),
                store,
                dimension=profile.collection.dimension,
                displayable=retriever.displayable,
            )
        return self._made[key]


UNKNOWN = "unknown shape"


@dataclass(frozen=True)
class Finding:
    """An event that led to what no event may lead to. `number` and the seed make it again."""

    number: int
    sample: str
    why: str
    event: str


def findings(count: int, seed: int, seen: Counter[str] | None = None) -> Iterator[Finding]:
    """Give the function `count` mutated events.

    Args:
        seen: counts the answers by source and kind, to show that the mutations reach all of them.
    """
    # Nearly all of the contracts' events are of one source: each source's own samples are taken more often.
    folders = [[(path.name, json.loads(path.read_bytes())) for path in sorted(EVENTS.glob(glob))] for glob in FOLDERS]
    with _function() as (container, log):
        for number in range(count):
            random = Random(f"{seed} {number}")  # noqa: S311 - chance, not secrets
            name, sample = random.choice(random.choice(folders))
            event = _as_lambda_reads_it(mutated(sample, random))
            Embedder.fails = random.random() < 0.1
            why = _wrong(event, _context(name, random), Counter() if seen is None else seen)
            if Embedder.fails and container.embedded:
                why = None
            why = why or next(filter(None, (_wrong_line(line, container.embedded) for line in _lines(log))), None)
            container.embedded.clear()
            if why is not None:
                yield Finding(number, name, why, json.dumps(event)[:2_000])


@contextmanager
def _function() -> Iterator[tuple[Container, io.StringIO]]:
    """The function with fakes, and what it writes: its log, its metrics, and Python's own complaints."""
    kept, stream, log = app.services, telemetry.logger.registered_handler.stream, io.StringIO()
    with redirect_stdout(log), redirect_stderr(log):
        telemetry.logger.registered_handler.stream = log
        app.services = container = Container()
        try:
            yield container, log
        finally:
            Embedder.fails = False
            app.services, telemetry.logger.registered_handler.stream = kept, stream


def _lines(log: io.StringIO) -> list[str]:
    """The lines written since the last call."""
    lines = log.getvalue().splitlines()
    log.seek(0)
    log.truncate()
    return lines


def _wrong_line(line: str, texts: Sequence[str]) -> str | None:
    """Why a line of the log is a finding; None when it is none.

    Args:
        texts: the questions, as they were embedded.
    """
    if len(line.encode()) > telemetry.LINE_BYTES:
        return f"a log line of {len(line):,} characters: {line[:200]}"
    try:
        json.loads(line)
    except ValueError:
        return f"a log line that is not JSON: {line[:200]}"
    shown = (form for text in texts if len(text) >= TELLING for form in (text, json.dumps(text)[1:-1]))
    return f"the question is logged: {line[:2_000]}" if any(form in line for form in shown) else None


def _as_lambda_reads_it(event: Any) -> Any:
    """An event after JSON: the runtime reads one (NaN and lone surrogates included)."""
    return json.loads(json.dumps(event).replace(json.dumps(DEEP), "[" * NESTED + "]" * NESTED))


def _context(name: str, random: Random) -> Any:
    custom = None
    if name.startswith("agent-core") or random.random() < 0.005:
        custom = {TOOL_NAME: random.choice(("docs___find", "docs___ranked", "context", odd(random)))}
    return SimpleNamespace(
        aws_request_id="0f1e2d3c",
        client_context=None if custom is None else SimpleNamespace(custom=custom),
        get_remaining_time_in_millis=lambda: 30_000,
    )


def _wrong(event: Any, context: Any, seen: Counter[str]) -> str | None:
    """Why the answer to an event is a finding; None when it is none."""
    try:
        answer = app.lambda_handler(event, context)
    except PassageError as error:
        if isinstance(error, InvalidRequest) and reads_no_answer(event) and _kind(event) == UNKNOWN:
            seen["unknown shape raised"] += 1
            return None
        source = detect(event)
        seen[f"{source} raised"] += 1
        unnamed = source is Source.PIPES and isinstance(error, InvalidRequest)
        return None if source in MAY_RAISE and (error.blame == "upstream" or unnamed) else f"raised {error!r}"
    except Exception as error:  # noqa: BLE001 - any other exception is the finding
        return f"raised {error!r}"
    try:
        sent = json.dumps(answer, ensure_ascii=False, allow_nan=False)
        sent.encode()
    except Exception as error:  # noqa: BLE001 - the runtime would fail to send it
        return f"cannot be sent: {error!r}"
    status = answer.get("statusCode") if isinstance(answer, dict) else None
    seen[f"{_kind(event)} {'answered' if status is None else status}"] += 1
    if status is not None and status >= 500:
        return f"status {status}"
    return "INTERNAL_ERROR" if "INTERNAL_ERROR" in sent or UNEXPECTED in sent else None


def _kind(event: Any) -> str:
    try:
        return str(detect(event))
    except InvalidRequest:
        return UNKNOWN


def main() -> None:
    """Run, report and fail where there was a finding."""
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    started, seen, found, screen = time.monotonic(), Counter[str](), 0, sys.stderr
    for finding in findings(count, seed, seen):
        found += 1
        screen.write(f"{finding.number} {finding.sample}: {finding.why}\n  {finding.event}\n")
    for kind, number in sorted(seen.items()):
        sys.stdout.write(f"{number:>9,}  {kind}\n")
    seconds = time.monotonic() - started
    sys.stdout.write(f"{count:,} events with seed {seed} in {seconds:,.0f} s: {found} findings\n")
    sys.exit(found > 0)


if __name__ == "__main__":
    main()
