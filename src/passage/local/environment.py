"""The function's environment on a developer's machine: an emulator for every service without a key."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from types import MappingProxyType
from uuid import uuid4

from handler.adapters.qdrant.manifest import MANIFEST
from handler.config import values
from passage.local.provider import provider

LOCAL_KEY = "local"
COHERE_URL = "https://api.cohere.com"

_NAMES = {"cohere": "Cohere", "emulator": "the emulator", "bedrock": "Bedrock"}
_AGAIN = {
    "cohere": "with COHERE_API_KEY set",
    "emulator": "without COHERE_API_KEY",
    "bedrock": "with EMBEDDING_PROVIDER=bedrock",
}
"""How to index again for each provider."""


class LocalError(Exception):
    """The variables or the index conflict. The message says what to change."""


@contextmanager
def cohere_environment(environ: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """The variables for Cohere: the caller's if a key or a secret is set, else those of an emulator.

    Raises:
        LocalError: the address has no key, or one of the two is wrong.
    """
    key, base_url = value_of(environ, "COHERE_API_KEY"), value_of(environ, "COHERE_BASE_URL")
    base_url = _checked("COHERE_BASE_URL", values.cohere_url, base_url)
    if key:
        key = _checked("COHERE_API_KEY", values.usable_key, key)
        yield {"COHERE_API_KEY": key, "COHERE_BASE_URL": base_url or COHERE_URL}
        return
    if value_of(environ, "COHERE_API_KEY_SECRET"):  # the function reads the key from there
        yield {"COHERE_BASE_URL": base_url or COHERE_URL}
        return
    if base_url:
        raise LocalError("COHERE_BASE_URL is set, but COHERE_API_KEY is not: set both, or neither for the emulator.")
    from passage.emulators import cohere_emulator  # noqa: PLC0415 - loads numpy and aiohttp

    with cohere_emulator() as emulator:
        yield {"COHERE_API_KEY": LOCAL_KEY, "COHERE_BASE_URL": emulator.url}


def _checked(variable: str, check: Callable[[str], str], value: str) -> str:
    """A variable's value, validated by the function's settings; empty when it is not set."""
    try:
        return check(value) if value else value
    except ValueError as error:
        raise LocalError(f"{variable} {error}.") from None


@contextmanager
def function_environment(environ: Mapping[str, str], index: Path) -> Iterator[dict[str, str]]:
    """The function's whole environment: `environ`, plus a store and an embedding service if they are missing.

    With COHERE_API_KEY and QDRANT_URL set, the function runs against the real services.

    Raises:
        LocalError: there is no index, or questions and texts would be embedded by different services.
    """
    store = {}
    if value_of(environ, "EDGE_INDEX_URI") and value_of(environ, "STORE") == "qdrant_edge":
        pass  # published: the function fetches it
    elif not value_of(environ, "QDRANT_URL"):
        store = {"STORE": "qdrant_edge", "EDGE_INDEX_PATH": str(index.resolve())}
    elif not any(value_of(environ, name) for name in ("COHERE_API_KEY", "COHERE_API_KEY_SECRET", "EMBEDDING_PROVIDER")):
        raise LocalError(
            "QDRANT_URL is set, but COHERE_API_KEY is not. A real collection needs the real key: the emulator's "
            "vectors are not comparable with Cohere's. Set it, or unset QDRANT_URL to use the index on this machine."
        )
    with cohere_environment(environ) as embedding:
        merged = {"DEBUG_ANSWERS": "true", **environ, **store, **embedding}
        if merged.get("STORE") == "qdrant_edge" and merged.get("EDGE_INDEX_PATH"):
            check_index(Path(merged["EDGE_INDEX_PATH"]), provider(merged["COHERE_BASE_URL"]), merged)
        if store and not any(index.glob(f"*/{MANIFEST}")):
            raise LocalError(f"There is no index in {index}: run `passage index` with --out {index}, or name another.")
        yield merged


def value_of(environ: Mapping[str, str], name: str) -> str:
    """A variable's value. White space counts as not set, as in the function."""
    return environ.get(name, "").strip()


def check_index(root: Path, cohere: str, environ: Mapping[str, str] = MappingProxyType({})) -> None:
    """Check that the same service embeds questions and texts.

    Args:
        cohere: who that is for a profile that asks Cohere's API; see `provider`.
        environ: the function's, which may set another provider for its default profile.

    Raises:
        LocalError: they are different services.
    """
    from passage.indexing import edge_index  # noqa: PLC0415 - only a local index needs the engine

    edge_index.restore(root)
    for profile, embedded_by in edge_index.embedders(root).items():
        asking = "bedrock" if _on_bedrock(profile, environ) else cohere
        if embedded_by != asking:
            made = f"embedded by {_NAMES.get(embedded_by, 'an earlier version of `passage index`')}"
            raise LocalError(
                f"{root / profile} was {made}, but questions would be embedded by {_NAMES[asking]}, and the vectors of "
                f"the two are not comparable: run `passage index --profile {profile}` again {_AGAIN[asking]}."
            )


def _on_bedrock(name: str, environ: Mapping[str, str]) -> bool:
    from handler.config import profiles  # noqa: PLC0415 - see `check_index`
    from handler.config.settings import CollectionSettings  # noqa: PLC0415 - see `check_index`
    from handler.core.errors import PassageError  # noqa: PLC0415 - see `check_index`

    try:
        profile = profiles.deployed(name, CollectionSettings.from_env(environ))
        return profile.embedding.provider == "bedrock"
    except PassageError:
        return False  # the function says what is wrong with it


@dataclass(frozen=True, slots=True)
class LocalContext:
    """The parts of Lambda's context object that the function reads."""

    aws_request_id: str = field(default_factory=lambda: str(uuid4()))
    ends_at: float = field(default_factory=lambda: monotonic() + 30)

    def get_remaining_time_in_millis(self) -> int:
        return max(0, int((self.ends_at - monotonic()) * 1000))
