"""Opens a target: the function in this process, the API at a URL, or a Lambda function."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handler.adapters.qdrant.manifest import MANIFEST
from handler.config import profiles
from handler.config.providers import PROVIDERS
from handler.config.settings import CollectionSettings
from passage.api import Api, by_invocation, in_process, over_http
from passage.evaluation import service
from passage.evaluation.service import RemoteProfile, SetupError
from passage.service_url import name_embedder

LAMBDA = "lambda:"


@dataclass(frozen=True, slots=True)
class EvaluationTarget:
    """An open target.

    Attributes:
        name: `local`, a URL or `lambda:NAME`.
        index: identifies the content that is searched; empty where it is unknown.
        search: the search settings, where the target says them.
    """

    name: str
    api: Api
    served: RemoteProfile
    index: str
    search: dict[str, Any]


@contextmanager
def open_target(target: str, profile: str | None, *, index: Path, key: str | None) -> Iterator[EvaluationTarget]:
    """The target, with what it says about itself.

    Args:
        index: the folder that `passage index` wrote to, for the function in this process.
        key: the API's key.

    Raises:
        SetupError: the target cannot be read; the message names the setting.
    """
    if target == "local":
        with _local(index) as api:
            yield _local_target(api, profile)
    elif target.startswith(LAMBDA):
        yield _remote(target, by_invocation(_lambda_client(), target.removeprefix(LAMBDA)), profile)
    elif target.startswith(("http://", "https://")):
        with over_http(target, key) as api:
            yield _remote(api.url, api, profile)
    else:
        raise SetupError(f"--target: '{target}' must be local, a URL that begins with http, or lambda:NAME.")


@contextmanager
def _local(index: Path) -> Iterator[Api]:
    from passage.local.function import function  # noqa: PLC0415 - imports the function

    with function(index) as handler:
        yield in_process(handler)


def _local_target(api: Api, profile: str | None) -> EvaluationTarget:
    served = service.find_profile(api, profile)
    root = Path(os.environ.get("EDGE_INDEX_PATH", ""))
    return EvaluationTarget("local", api, served, _digest(root, served) or _state(api, served), _settings(served))


def _digest(root: Path, served: RemoteProfile) -> str:
    """The digest of the index's content; empty where the function uses another store."""
    try:
        return str(json.loads((root / served.profile / MANIFEST).read_bytes())["digest"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _settings(served: RemoteProfile) -> dict[str, Any]:
    """The search settings of a profile on this machine, with its model's balance where it has none of its own."""
    settings = CollectionSettings.from_env(os.environ)
    profile = profiles.load_with_settings(served.profile, settings)
    reranker = os.environ.get("RERANK_PROVIDER", "")
    described: dict[str, Any] = {"mode": profile.search.mode, **({"rerank": reranker} if reranker else {})}
    if profile.search.mode == "dense":
        return described
    provider = PROVIDERS[profile.embedding.provider]
    balance = profile.search.balance_for(name_embedder(provider, settings.providers[provider.name].url))
    return {**described, "balance": balance, "candidates": profile.search.candidates}


def _remote(name: str, api: Api, profile: str | None) -> EvaluationTarget:
    served = service.find_profile(api, profile)
    return EvaluationTarget(name, api, served, _state(api, served), {})


def _state(api: Api, served: RemoteProfile) -> str:
    """The collection's number of points: all that an API says about its content."""
    about = service.collection(api, served)
    return f"{about.get('points_count', '?')} points"


def _lambda_client() -> Any:
    import boto3  # noqa: PLC0415 - half a second that other targets need not wait
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415 - as above

    try:
        return boto3.client("lambda")
    except BotoCoreError as error:
        raise SetupError(f"--target: AWS is not set up: {error}") from None
