"""The chatbot of examples/chatbot as `make run-chatbot` serves it."""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from conftest import ROOT
from http_server import serve


@cache
def loaded() -> ModuleType:
    """The module `local`, which has the function's module as `chatbot`."""
    spec = importlib.util.spec_from_file_location("chatbot_local", ROOT / "examples" / "chatbot" / "local.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def forget(chatbot: ModuleType) -> None:
    """Close the function's connections, and forget its key."""
    for service in ("lambda", "dynamodb", "ssm", "secretsmanager"):
        chatbot._aws(service).close()
    chatbot._aws.cache_clear()
    chatbot._key.cache_clear()


@contextmanager
def chatbot_served(index: Path, **variables: str) -> Iterator[str]:
    """The URL of the page and of the function, with Passage over an index on this machine."""
    from handler import app
    from handler.bootstrap.container import Container
    from passage.local.environment import function_environment

    local = loaded()
    with function_environment({}, index) as environ, pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "services", Container(environ))
        cohere = {"CO_API_KEY": environ["COHERE_API_KEY"], "CO_API_URL": environ["COHERE_BASE_URL"]}
        for name in ("AWS_ENDPOINT_URL_LAMBDA", "PASSAGE_FUNCTION", *local.DEFAULTS):  # the server sets them
            patch.setenv(name, "")
            patch.delenv(name)
        for name, value in {**cohere, **variables}.items():
            patch.setenv(name, value)
        try:
            with local.server(app.lambda_handler, 0) as server, serve(server) as url:
                yield url
        finally:
            forget(local.chatbot)
