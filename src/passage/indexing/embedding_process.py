"""The command's side of `embedding_worker`: starts it, sends it texts and reads its progress."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self

from handler.config import models
from passage.indexing.embedding import Embedder, EmbeddingError
from passage.indexing.filling import CONCURRENT, Text, batches
from passage.indexing.run import Embedding
from passage.indexing.target import Advance
from passage.indexing.vector_cache import VectorCache, VectorKind

COHERE_TEXTS_PER_MINUTE = 2_000
"""Cohere's limit for trial and production keys alike (Cohere, "Different Types of API Keys and Rate Limits")."""

AHEAD = 2 * CONCURRENT
"""Batches sent before the first answer is read; more than the worker sends at once, so that it never idles."""


@dataclass(frozen=True, slots=True)
class Job:
    """The model and service to embed with.

    Attributes:
        base_url: of Cohere's API; unused on Bedrock.
        texts_per_minute: the account's limit; None where there is no limit.
    """

    kind: VectorKind
    base_url: str
    texts_per_call: int
    texts_per_minute: int | None = None

    @classmethod
    def of(cls, embedder: Embedder, texts_per_minute: int | None) -> "Job":
        """The job for an embedder.

        Args:
            texts_per_minute: None for the provider's published limit, if there is one.
        """
        limit = COHERE_TEXTS_PER_MINUTE if embedder.provider == "cohere" else None
        return cls(
            kind=VectorKind(embedder.provider, embedder.model, embedder.dimension),
            base_url=embedder.base_url,
            texts_per_call=models.texts_per_call(embedder.model),
            texts_per_minute=texts_per_minute or limit,
        )

    def embedding(self, cache: VectorCache, process: "EmbeddingProcess") -> Embedding:
        """The job in the form that a run needs, done by `process`."""
        return Embedding(
            kind=self.kind,
            cache=cache,
            fill=lambda texts, progress: process.fill(self, texts, progress),
            texts_per_call=self.texts_per_call,
            texts_per_minute=self.texts_per_minute,
        )


class EmbeddingProcess:
    """A worker process for one cache. It starts at the first job and serves several, one after the other.

    Args:
        environ: the worker's environment; COHERE_API_KEY is read there.
        waiting: is called when another run must end first.
        retrying: is called with the error and the seconds until the next attempt.
    """

    def __init__(
        self,
        cache: VectorCache,
        environ: Mapping[str, str],
        *,
        waiting: Callable[[], None] = lambda: None,
        retrying: Callable[[str, float], None] = lambda *_: None,
    ) -> None:
        self._cache = cache
        self._environ = environ
        self._waiting = waiting
        self._retrying = retrying
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is None:
            return
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):  # the worker has ended: the unsent bytes are dropped
                    stream.close()
        self._process.wait()

    def fill(self, job: Job, texts: Iterable[Text], progress: Advance) -> None:
        """Put a vector for each text into the cache; `progress` gets the number of newly embedded texts.

        Raises:
            EmbeddingError: a text could not be embedded.
        """
        self._send(
            provider=job.kind.provider,
            model=job.kind.model,
            dimension=job.kind.dimension,
            base_url=job.base_url,
            texts_per_minute=job.texts_per_minute,
        )
        under_way = 0
        for batch in batches(texts, job.texts_per_call):
            self._send(texts=[[key.hex(), text] for key, text in batch.items()])
            under_way += 1
            if under_way == AHEAD:
                progress(self._embedded())
                under_way -= 1
        self._send(end=True)
        for _ in range(under_way):
            progress(self._embedded())
        self._read()  # done

    def _send(self, **words: Any) -> None:
        process = self._started()
        assert process.stdin is not None  # noqa: S101 - it was asked for
        try:
            process.stdin.write(json.dumps(words) + "\n")
            process.stdin.flush()
        except OSError:  # it ended; its last message gives the reason
            while True:
                self._read()

    def _embedded(self) -> int:
        return int(self._read()["embedded"])

    def _read(self) -> dict[str, Any]:
        """The worker's next answer. Its other messages are passed on to the callbacks."""
        process = self._started()
        assert process.stdout is not None  # noqa: S101 - it was asked for
        for line in process.stdout:
            words: dict[str, Any] = json.loads(line)
            if "waiting" in words:
                self._waiting()
            elif "retrying" in words:
                self._retrying(words["retrying"], words["seconds"])
            elif "error" in words:
                raise EmbeddingError(words["error"])
            else:
                return words
        raise EmbeddingError(f"The process that embeds ended with exit code {process.wait()}. Run it again.")

    def _started(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                [sys.executable, "-m", "passage.indexing.embedding_worker", str(self._cache.folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                env=dict(self._environ),
                start_new_session=True,  # Ctrl-C and the end of a terminal's session do not stop it
            )
        return self._process
