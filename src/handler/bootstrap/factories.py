"""The class that implements each port, by the name in a setting or a profile."""

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from handler import telemetry
from handler.bootstrap.keys import PLACEHOLDER, Keys, require_key, require_rerank_key
from handler.config import models
from handler.config.model_checks import check_question_model
from handler.config.profiles import Profile
from handler.config.settings import Settings
from handler.core.ports import Embedder, PassageStore, Reranker
from handler.service.replies import ReplySink

if TYPE_CHECKING:
    from handler.adapters.cohere.account import Account


def _cohere_account(settings: Settings, keys: Keys) -> "Account":
    from handler.adapters.aws.key_auth import KeyAuth  # noqa: PLC0415 - loads httpx, only where it is used
    from handler.adapters.cohere.account import Account  # noqa: PLC0415 - loads the SDK, only where it is used

    key, cached = settings.cohere_api_key, keys.cohere()
    return Account(
        api_key=key.get_secret_value() if key else PLACEHOLDER,
        base_url=settings.cohere_base_url,
        auth=KeyAuth("Authorization", "Bearer ", cached) if cached else None,
        key_variable="COHERE_API_KEY_SECRET" if cached else "COHERE_API_KEY",
    )


def _cohere_embedder(settings: Settings, profile: Profile, keys: Keys) -> Embedder:
    _require_model(profile)
    require_key(settings, profile)
    from handler.adapters.cohere.embedder import CohereEmbedder  # noqa: PLC0415 - loads the SDK, only where it is used

    return CohereEmbedder(
        _cohere_account(settings, keys), model=profile.embedding.model, dimension=profile.collection.dimension
    )


def _bedrock_embedder(_: Settings, profile: Profile, __: Keys) -> Embedder:
    _require_model(profile)
    from handler.adapters.bedrock.embedder import BedrockEmbedder  # noqa: PLC0415 - loads boto3, only where it is used

    return BedrockEmbedder(model=profile.embedding.model, dimension=profile.collection.dimension)


def _require_model(profile: Profile) -> None:
    """Refuse a retired or unfit model before any SDK is imported; log what else is known about it."""
    warning = check_question_model(profile)
    if warning is not None:
        _warn_once(warning)


@cache
def _warn_once(warning: str) -> None:
    """Log a warning once in this container."""
    telemetry.logger.warning(warning)


def _rerank_model(settings: Settings, provider: models.Provider) -> str:
    name = settings.rerank_model or models.DEFAULT_RERANKERS[provider]
    known = models.find(name)
    if known is None:
        _warn_once(f"The reranking model '{name}' is not in Passage's table of models: its limits are assumed.")
    elif known.state == "deprecated":
        _warn_once(
            f"The reranking model '{name}' was deprecated on {known.since}: plan to move to {known.replacement}."
        )
    return name


def _cohere_reranker(settings: Settings, keys: Keys) -> Reranker:
    require_rerank_key(settings)
    from handler.adapters.cohere.reranker import CohereReranker  # noqa: PLC0415 - loads the SDK, only where it is used

    return CohereReranker(_cohere_account(settings, keys), model=_rerank_model(settings, "cohere"))


def _bedrock_reranker(settings: Settings, _: Keys) -> Reranker:
    from handler.adapters.bedrock.reranker import BedrockReranker  # noqa: PLC0415 - loads boto3, only where it is used

    return BedrockReranker(model=_rerank_model(settings, "bedrock"))


def _qdrant_server(settings: Settings, profile: Profile, keys: Keys) -> PassageStore:
    from handler.adapters.aws.key_auth import KeyAuth  # noqa: PLC0415 - loads httpx, only where it is used
    from handler.adapters.qdrant.server import QdrantServerStore  # noqa: PLC0415 - loads the SDK, only where it is used

    assert settings.qdrant_url is not None  # noqa: S101 - the settings' own check
    key, cached = settings.qdrant_api_key, keys.qdrant()
    return QdrantServerStore(
        url=settings.qdrant_url,
        api_key=key.get_secret_value() if key else None,
        auth=KeyAuth("api-key", "", cached) if cached else None,
        key_variable="QDRANT_API_KEY_SECRET" if cached else "QDRANT_API_KEY",
        profile=profile,
    )


def _embedded_by(settings: Settings, profile: Profile) -> tuple[str, ...]:
    """Embedding services whose vectors are comparable with this profile's.

    At another address than Cohere's own, the service may be Cohere behind a proxy, or the emulator.
    """
    if profile.embedding.provider != "cohere":
        return (profile.embedding.provider,)
    host = urlsplit(settings.cohere_base_url).hostname or ""
    return ("cohere",) if host.endswith(".cohere.com") else ("cohere", "emulator")


def _qdrant_edge(settings: Settings, profile: Profile, _: Keys) -> PassageStore:
    from handler.adapters.qdrant.edge import QdrantEdgeStore  # noqa: PLC0415 - loads the SDK, only where it is used

    embedded_by = _embedded_by(settings, profile)
    if settings.edge_index_path is not None:
        return QdrantEdgeStore(root=settings.edge_index_path, profile=profile, embedded_by=embedded_by)
    assert settings.edge_index_uri is not None  # noqa: S101 - the settings' own check
    from handler.adapters.qdrant.published_index import PublishedIndex  # noqa: PLC0415 - loads boto3, only where it is used
    from handler.adapters.qdrant.published_store import PublishedStore  # noqa: PLC0415 - see above

    return PublishedStore(
        PublishedIndex(settings.edge_index_uri, profile.name),
        lambda root: QdrantEdgeStore(root=root, profile=profile, embedded_by=embedded_by),
        collection=profile.collection.name,
        every=settings.edge_index_check_seconds,
    )


EMBEDDERS: Mapping[str, Callable[[Settings, Profile, Keys], Embedder]] = {
    "cohere": _cohere_embedder,
    "bedrock": _bedrock_embedder,
}
RERANKERS: Mapping[str, Callable[[Settings, Keys], Reranker]] = {
    "cohere": _cohere_reranker,
    "bedrock": _bedrock_reranker,
}
STORES: Mapping[str, Callable[[Settings, Profile, Keys], PassageStore]] = {
    "qdrant_server": _qdrant_server,
    "qdrant_edge": _qdrant_edge,
}


def _sink(kind: str) -> Callable[[Settings, str], ReplySink]:
    def make(settings: Settings, target: str) -> ReplySink:
        from handler.adapters.aws import replies  # noqa: PLC0415 - loads boto3, only where messages are answered

        return replies.sink(kind, target, settings.idempotency_table)

    return make


SINKS: Mapping[str, Callable[[Settings, str], ReplySink]] = {
    "reply_queue_url": _sink("queue"),
    "reply_topic_arn": _sink("topic"),
    "reply_bus_name": _sink("bus"),
}
"""The setting that names a destination to what sends there."""
