"""A process that fills the vector cache. It outlives the command while a request is under way.

A killed command would lose the answers to requests that are paid for. This process keeps them: when its input ends
unexpectedly, it waits for the open requests, caches their vectors and stops. The next run waits for it.

It reads one line of JSON for each job, each batch and the end. It writes one line for each finished batch and message.
"""

import json
import os
import sqlite3
import sys
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from passage.indexing.embedding import BedrockDocumentEmbedder, DocumentEmbedder, Embedder, EmbeddingError
from passage.indexing.filling import Filler, Texts
from passage.indexing.vector_cache import VectorCache


class Speaker:
    """Writes lines for the command to a file descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()

    def say(self, **words: Any) -> bool:
        """Write one line; False when the command has ended."""
        try:
            with self._lock:
                os.write(self._descriptor, json.dumps(words).encode() + b"\n")
        except OSError:
            return False
        return True


def run(source: Iterable[str], speaker: Speaker, cache: VectorCache, api_key: str) -> None:
    """Do jobs until the input ends."""
    lines = iter(source)
    for line in lines:
        job = _words(line)
        if job is None:
            return
        embedder = _embedder(job, api_key)
        try:
            with cache.embedding(lambda: speaker.say(waiting=True)):
                _work(job, embedder, lines, cache, speaker)
        except EmbeddingError as error:
            speaker.say(error=str(error))
            return
        except sqlite3.Error as error:
            speaker.say(error=f"The vectors cannot be kept in {cache.folder}: {error}.")
            return
        finally:
            embedder.close()


def _work(job: dict[str, Any], embedder: Embedder, lines: Iterator[str], cache: VectorCache, speaker: Speaker) -> None:
    filler = Filler(
        embedder,
        cache,
        texts_per_minute=job["texts_per_minute"],
        retrying=lambda why, seconds: speaker.say(retrying=why, seconds=seconds),
    )

    def batches() -> Iterator[Texts]:
        for line in lines:
            words = _words(line)
            if words is None:
                break
            if "end" in words:
                return
            yield {bytes.fromhex(key): text for key, text in words["texts"]}
        filler.stop()  # the command has ended

    for texts in filler.fill(batches()):
        if not speaker.say(embedded=texts):
            filler.stop()
    speaker.say(done=True)


def _words(line: str) -> dict[str, Any] | None:
    """A line's values; None for an incomplete line, the last one of a killed command."""
    try:
        words: dict[str, Any] = json.loads(line)
    except ValueError:
        return None
    return words


def _embedder(job: dict[str, Any], api_key: str) -> Embedder:
    model, dimension = job["model"], job["dimension"]
    if job["provider"] == "bedrock":
        return BedrockDocumentEmbedder(model=model, dimension=dimension)
    return DocumentEmbedder(api_key=api_key, base_url=job["base_url"], model=model, dimension=dimension)


if __name__ == "__main__":
    opened = VectorCache(Path(sys.argv[1]))
    run(sys.stdin, Speaker(sys.stdout.fileno()), opened, os.environ.get("COHERE_API_KEY", ""))
    opened.close()
