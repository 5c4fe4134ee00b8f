"""Made-up embeddings with the shape of real ones.

Independent random vectors do not work: in 1,024 dimensions all of them are equally far apart, none is clearly the
nearest, and an approximate search looks worse than on a real site. Text embeddings differ in two ways, and so do these.
They share a direction and form groups: two chunks of one page are nearer than two of one topic, and those are nearer
than any two. And most of their spread is in a few dozen directions: the variance along the i-th is 1/i of the first.

The shares below put a question's best passage at a cosine of about 0.7 and an unrelated one at about 0.2; of Cohere's
embed-english-v3.0 on a textbook, 0.5 to 0.8 and 0.2 to 0.3 were reported.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]

DIMENSION = 1024
PAGE, TOPIC = 10, 250
"""Chunks of a page and of a topic."""

COMMON_SHARE, TOPIC_SHARE = 0.20, 0.15
PAGE_SHARES = (0.05, 0.35)
"""The least and the greatest share of its page in a chunk's vector. The rest is the chunk's own."""

ASKED_SHARE = 0.35
"""The cosine between a passage's own part and its question's."""

_SPREAD = np.sqrt(1.0 / np.arange(1, DIMENSION + 1)).astype(np.float32)


SEED = 6


@dataclass(frozen=True)
class Block:
    """A topic's chunks, and a question to each: matrices of unit vectors, shape `(chunks, 1024)`."""

    chunks: Matrix
    questions: Matrix


def blocks(count: int) -> Iterator[Block]:
    """Topics that together have `count` chunks; the same ones every time."""
    common = _directions(np.random.default_rng([SEED]), 1)
    for number, start in enumerate(range(0, count, TOPIC)):
        yield _block(np.random.default_rng([SEED, number + 1]), common, min(TOPIC, count - start))


def _block(random: np.random.Generator, common: Matrix, size: int) -> Block:
    topic = _directions(random, 1)
    pages = np.repeat(_directions(random, -(-size // PAGE)), PAGE, axis=0)[:size]
    own, beside = _directions(random, size), _directions(random, size)
    of_page = random.uniform(*PAGE_SHARES, (size, 1)).astype(np.float32)
    of_own = 1.0 - COMMON_SHARE - TOPIC_SHARE - of_page
    shared = np.sqrt(COMMON_SHARE) * common + np.sqrt(TOPIC_SHARE) * topic + np.sqrt(of_page) * pages
    asked = ASKED_SHARE * own + np.sqrt(1.0 - ASKED_SHARE**2) * beside
    return Block(_units(shared + np.sqrt(of_own) * own), _units(shared + np.sqrt(of_own) * asked))


def _directions(random: np.random.Generator, count: int) -> Matrix:
    return _units(random.standard_normal((count, DIMENSION), dtype=np.float32) * _SPREAD)


def _units(rows: Matrix) -> Matrix:
    units: Matrix = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return units
