"""Builds the Edge indexes with the code of `passage index`, once for each version of that code."""

import dataclasses
import hashlib
import json
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np

from benchmarks.asking import ROOT
from benchmarks.edge_vectors import Matrix, blocks
from handler.config import profiles
from passage.indexing import edge_index, payloads
from passage.indexing.chunks import Chunk, cut
from passage.indexing.edge_index import EdgeIndex
from passage.indexing.target import NewPoint, WantedIndex
from passage.indexing.text_index import text_indexes
from passage.sites.markdown import find_site
from passage.sites.model import Page

PROFILE = "context"
QUESTIONS = 200
NEAREST = 10
CACHE = ROOT / ".passage" / "edge-scale"
_WHAT_BUILDS = (Path(__file__), Path(__file__).with_name("edge_vectors.py"), Path(edge_index.__file__))


@dataclass(frozen=True)
class Built:
    """An index under `root`, questions to it (float32, one after another), and what an exact search would find.

    nearest: the numbers of each question's best chunks, best first, shape `(200, 10)`.
    """

    root: Path
    questions: Path
    seconds: float
    nearest: list[list[int]]


def points(vectors: Matrix, texts: Sequence[Chunk]) -> Iterator[NewPoint]:
    """The points, made one at a time: 100,000 vectors as Python floats would take gigabytes."""
    profile = profiles.load(PROFILE)
    for number, vector in enumerate(vectors):
        text = texts[number % len(texts)]
        chunk = dataclasses.replace(text, id=hashlib.sha256(str(number).encode()).hexdigest())
        yield NewPoint(number, vector.tolist(), payloads.payload(chunk, number, profile, 0))


def built(chunks: int) -> Built:
    """The index of that many chunks; building 100,000 takes minutes, and is done once."""
    current = CACHE / _digest()
    root = current / str(chunks)
    questions, facts = root / "questions.f32", root / "built.json"
    if not facts.exists():
        for old in CACHE.glob("*"):
            if old != current:
                shutil.rmtree(old, ignore_errors=True)  # half a gigabyte each
        root.mkdir(parents=True, exist_ok=True)
        _build(root, chunks, questions, facts)
    return Built(root, questions, **json.loads(facts.read_text(encoding="utf-8")))


def _digest() -> str:
    found = hashlib.sha256(version("qdrant-edge-py").encode())
    for path in _WHAT_BUILDS:
        found.update(path.read_bytes())
    return found.hexdigest()[:16]


def _build(root: Path, chunks: int, questions: Path, facts: Path) -> None:
    made = list(blocks(chunks))
    vectors = np.concatenate([block.chunks for block in made])
    # Spread over all topics, so that few pages get two questions.
    asked = np.concatenate([block.questions for block in made])[np.linspace(0, chunks - 1, QUESTIONS).astype(int)]
    questions.write_bytes(asked.tobytes())
    nearest = np.argsort(-(asked @ vectors.T), axis=1)[:, :NEAREST].tolist()
    texts = list(cut(page for page in find_site(ROOT / "samples" / "textbook", None).read() if isinstance(page, Page)))
    profile = profiles.load(PROFILE)
    started = time.perf_counter()
    EdgeIndex(root, profile).replace(
        WantedIndex(profile, "", chunks, "emulator", text_indexes(profile)), points(vectors, texts)
    )
    seconds = round(time.perf_counter() - started, 1)
    facts.write_text(json.dumps({"seconds": seconds, "nearest": nearest}), encoding="utf-8")
