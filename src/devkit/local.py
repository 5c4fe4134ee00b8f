"""The world the function finds on a developer's machine: an emulator for every service that no key is set for."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from uuid import uuid4

from devkit.emulators import cohere_emulator

LOCAL_KEY = "local"


@contextmanager
def cohere_environment(environ: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """The variables that lead to Cohere: the caller's own where a key is set, else those of an emulator."""
    if environ.get("COHERE_API_KEY"):
        names = ("COHERE_API_KEY", "COHERE_BASE_URL")
        yield {name: environ[name] for name in names if environ.get(name)}
        return
    with cohere_emulator() as emulator:
        yield {"COHERE_API_KEY": LOCAL_KEY, "COHERE_BASE_URL": emulator.url}


@contextmanager
def function_environment(environ: Mapping[str, str], index: Path) -> Iterator[dict[str, str]]:
    """The function's whole environment: `environ`, with a store and an embedding service added where they are missing.

    With COHERE_API_KEY and QDRANT_URL set, the function runs against the real services.
    """
    store = {}
    if not environ.get("QDRANT_URL"):
        store = {"STORE": "qdrant_edge", "EDGE_INDEX_PATH": str(index.resolve())}
    with cohere_environment(environ) as embedding:
        yield {**environ, **store, **embedding}


@dataclass(frozen=True, slots=True)
class LocalContext:
    """What the function reads of Lambda's context object."""

    aws_request_id: str = field(default_factory=lambda: str(uuid4()))
    ends_at: float = field(default_factory=lambda: monotonic() + 30)

    def get_remaining_time_in_millis(self) -> int:
        return max(0, int((self.ends_at - monotonic()) * 1000))
