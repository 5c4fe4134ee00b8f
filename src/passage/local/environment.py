"""The function's environment on a developer's machine: an emulator for every service without a key."""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import uuid4

from handler.adapters.qdrant.manifest import MANIFEST
from handler.config import profiles
from handler.config.providers import DEFAULT, EMULATOR, PROVIDERS, Provider, read_access
from handler.config.settings import CollectionSettings, unpack
from handler.core.errors import PassageError
from passage.service_url import client_options, is_loopback, name_embedder

if TYPE_CHECKING:
    import httpx

LOCAL_KEY = "local"
EARLIER = "an earlier version of `passage index`"
SECONDS = 3.0
"""The most that reading a server's metadata may take."""


class LocalError(Exception):
    """The variables or the index conflict. The message says what to change."""


@contextmanager
def with_emulator(environ: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """`environ`, with the address and key of an emulator for Cohere if no key or secret of Cohere's is set.

    Raises:
        LocalError: a provider's address has no key, or one of its variables is wrong.
    """
    added: dict[str, str] = {}
    with ExitStack() as stack:
        for provider in PROVIDERS.values():
            try:
                access = read_access(environ, provider)[provider.name]
            except ValueError as error:
                raise LocalError(f"{error}.") from None
            if access.has_key or not provider.emulated:
                continue
            key, url = provider.key_variable, provider.url_variable
            if access.url != provider.url:
                raise LocalError(f"{url} is set, but {key} is not: set both, or neither for the emulator.")
            from passage.emulators import cohere_emulator  # noqa: PLC0415 - loads numpy and aiohttp

            added |= {key: LOCAL_KEY, url: stack.enter_context(cohere_emulator()).url}
        yield {**environ, **added}


@contextmanager
def function_environment(environ: Mapping[str, str], index: Path, *, emulate: bool = False) -> Iterator[dict[str, str]]:
    """The function's whole environment: `environ`, plus a store and an embedding service if they are missing.

    With QDRANT_URL and the key of the profile's provider set, the function runs against the real services.

    Args:
        emulate: whether the emulator may embed questions to a server on another machine.

    Raises:
        LocalError: there is no index, or questions and texts would be embedded by different services.
    """
    store = {}
    if value_of(environ, "EDGE_INDEX_URI") and value_of(environ, "STORE") == "qdrant_edge":
        pass  # published: the function fetches it
    elif not value_of(environ, "QDRANT_URL"):
        store = {"STORE": "qdrant_edge", "EDGE_INDEX_PATH": str(index.resolve())}
    elif _embeds(environ, None):
        otherwise = "unset QDRANT_URL to use the index on this machine"
        require_real_vectors(_provider(None, environ), environ, otherwise, emulate=emulate)
    root = store.get("EDGE_INDEX_PATH") or value_of(environ, "EDGE_INDEX_PATH")
    environ = {**_mode_of_index(environ, Path(root) if root else None), **environ}
    embeds = _embeds(environ, Path(root) if root else None)
    with with_emulator(environ) if embeds else nullcontext(environ) as local:
        merged = {"DEBUG_ANSWERS": "true", **local, **store}
        if merged.get("STORE") == "qdrant_edge" and merged.get("EDGE_INDEX_PATH"):
            check_index(Path(merged["EDGE_INDEX_PATH"]), merged)
        elif embeds and value_of(merged, "QDRANT_URL"):
            check_collections(merged)
        if store and not any(index.glob(f"*/{MANIFEST}")):
            raise LocalError(f"There is no index in {index}: run `passage index` with --out {index}, or name another.")
        yield {**_name_profiles(merged), **merged}


def _mode_of_index(environ: Mapping[str, str], root: Path | None) -> dict[str, str]:
    """SEARCH_MODE for the default profile, if its index on this machine has no vectors and nothing else is set."""
    set_elsewhere = "SEARCH_MODE" in unpack(environ) or value_of(environ, "SEARCH_MODE")
    name = value_of(environ, "DEFAULT_PROFILE") or CollectionSettings.model_fields["default_profile"].default
    return {"SEARCH_MODE": "words"} if not set_elsewhere and _dimension(root, name) == 0 else {}


def _dimension(root: Path | None, profile: str) -> int | None:
    """The dimension of a profile's index on this machine, 0 without vectors; None where there is no such index."""
    try:
        return int(json.loads(Path(root or "", profile, MANIFEST).read_bytes())["dimension"]) if root else None
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _embeds(environ: Mapping[str, str], root: Path | None) -> bool:
    """Whether a profile that is served embeds its questions.

    Args:
        root: the folder of the indexes on this machine; None for another store.
    """
    try:
        settings = CollectionSettings.from_env(environ)
        names = [name for name in profiles.names() if _dimension(root, name)] if root else [settings.default_profile]
        served = [profiles.load_with_settings(name, settings) for name in names or [settings.default_profile]]
        return any(profile.search.has_vectors for profile in served)
    except PassageError:
        return True  # the function says what is wrong


def _name_profiles(environ: Mapping[str, str]) -> dict[str, str]:
    """PROFILES with the profiles that a local index has; nothing where the caller's variables name some."""
    root = environ.get("EDGE_INDEX_PATH")
    if environ.get("STORE") != "qdrant_edge" or not root or "PROFILES" in unpack(environ):
        return {}
    return {"PROFILES": ",".join(name for name in profiles.names() if Path(root, name, MANIFEST).is_file())}


def value_of(environ: Mapping[str, str], name: str) -> str:
    """A variable's value. White space counts as not set, as in the function."""
    return environ.get(name, "").strip()


def require_real_vectors(provider: Provider, environ: Mapping[str, str], otherwise: str, *, emulate: bool) -> None:
    """Refuse to use an emulator's vectors with a collection of a server on another machine, unless asked for.

    Args:
        environ: the caller's, without an emulator.
        otherwise: what else the caller can do, for the message.
        emulate: whether the caller asks for it.

    Raises:
        LocalError: the provider is emulated, because it has no key.
    """
    if emulate or is_loopback(value_of(environ, "QDRANT_URL")):
        return
    variables = (provider.key_variable, provider.secret_variable)
    if provider.emulated and not any(value_of(environ, variable) for variable in variables):
        raise LocalError(
            f"QDRANT_URL is set, but {provider.key_variable} is not. A real collection needs the real key: the "
            f"emulator's vectors are not comparable with {provider.label}'s. Set it, or {otherwise}. With --emulate "
            "they are used all the same."
        )


def check_index(root: Path, environ: Mapping[str, str]) -> None:
    """Check that the same service embeds questions and texts.

    Args:
        environ: the function's.

    Raises:
        LocalError: they are different services.
    """
    from passage.indexing import edge_index  # noqa: PLC0415 - only a local index needs the engine

    edge_index.restore(root)
    if not _embeds(environ, root):
        return
    for profile, embedded_by in edge_index.embedders(root).items():
        asking = _asking(profile, environ)
        if embedded_by != asking:
            what, command = str(root / profile), f"passage index --profile {profile}"
            raise _incomparable(what, embedded_by, asking, command, _provider(profile, environ))


def check_collections(environ: Mapping[str, str]) -> None:
    """Check that the same service embeds questions and the collections of a server, as far as the server says it.

    Args:
        environ: the function's.

    Raises:
        LocalError: they are different services, and one of them is the emulator.
    """
    import httpx  # noqa: PLC0415 - an index on this machine needs none

    url, key = value_of(environ, "QDRANT_URL"), value_of(environ, "QDRANT_API_KEY")
    try:
        settings = CollectionSettings.from_env(environ)
        collections = {name: profiles.load_with_settings(name, settings).collection.name for name in profiles.names()}
        with httpx.Client(**client_options(url), timeout=SECONDS, headers={"api-key": key} if key else {}) as client:
            metadata = {name: _metadata(client, url, one) for name, one in collections.items()}
    except (PassageError, httpx.HTTPError, httpx.InvalidURL, ValueError, OSError):
        return  # the function says what is wrong
    for profile, said in metadata.items():
        embedded_by, asking = said.get("embedded_by"), _asking(profile, environ)
        if embedded_by and embedded_by != asking and EMULATOR in (embedded_by, asking):
            what, command = f"The collection '{collections[profile]}'", f"passage index --to qdrant --profile {profile}"
            raise _incomparable(what, embedded_by, asking, command, _provider(profile, environ))


def _metadata(client: "httpx.Client", url: str, collection: str) -> Mapping[str, Any]:
    """A collection's metadata; empty where there is none, or no such collection."""
    answer = client.get(f"{url.rstrip('/')}/collections/{quote(collection, safe='')}")
    described = answer.json() if answer.status_code == HTTPStatus.OK else {}
    return (described.get("result") or {}).get("config", {}).get("metadata") or {}


def _provider(profile: str | None, environ: Mapping[str, str]) -> Provider:
    """The provider that embeds a profile's questions; None stands for the default profile."""
    try:
        settings = CollectionSettings.from_env(environ)
        loaded = profiles.load_with_settings(profile or settings.default_profile, settings)
        return PROVIDERS[loaded.embedding.provider]
    except PassageError:
        return PROVIDERS[DEFAULT]  # the function says what is wrong with it


def _asking(profile: str, environ: Mapping[str, str]) -> str:
    """Who embeds a profile's questions, as an index records it."""
    provider = _provider(profile, environ)
    return name_embedder(provider, read_access(environ, provider)[provider.name].url)


def _incomparable(what: str, embedded_by: str, asking: str, command: str, provider: Provider) -> LocalError:
    """The error of an index whose texts were embedded by another service than `asking`, which embeds the questions."""
    texts, questions = (
        "the emulator" if one == EMULATOR else PROVIDERS[one].label if one in PROVIDERS else EARLIER
        for one in (embedded_by, asking)
    )
    if asking == EMULATOR:
        again = f"without {provider.key_variable}"
    else:
        keyless = provider.url is None
        again = f"with EMBEDDING_PROVIDER={provider.name}" if keyless else f"with {provider.key_variable} set"
    return LocalError(
        f"{what} was embedded by {texts}, but questions would be embedded by {questions}, and the vectors of the two "
        f"are not comparable: run `{command}` again {again}."
    )


@dataclass(frozen=True, slots=True)
class LocalContext:
    """The parts of Lambda's context object that the function reads."""

    aws_request_id: str = field(default_factory=lambda: str(uuid4()))
    ends_at: float = field(default_factory=lambda: monotonic() + 30)

    def get_remaining_time_in_millis(self) -> int:
        return max(0, int((self.ends_at - monotonic()) * 1000))
