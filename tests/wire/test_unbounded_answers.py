"""An upstream's answer without end, a gzip bomb or a redirect to itself: one upstream error, in little memory."""

import gzip
import json
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

import pytest

from entrypoints.aws import CREDENTIALS
from handler.adapters.account import Account
from handler.adapters.aws.secrets import CachedKey
from handler.adapters.bedrock import BedrockEmbedder
from handler.adapters.cohere import CohereEmbedder, CohereReranker
from handler.adapters.qdrant.connection import Connection
from handler.adapters.qdrant.published_index import PublishedIndex
from handler.adapters.qdrant.server import QdrantServerStore
from handler.config import profiles
from handler.config.providers import PROVIDERS, Access
from handler.config.values import SecretReference
from handler.core.deadline import Deadline, within
from handler.core.errors import ConfigurationError, UpstreamUnavailable
from handler.core.model import Search, SearchResult
from http_server import Quiet, QuietServer, serve

PROFILE = profiles.load("query-response")
MB = 1024 * 1024
BOMB = gzip.compress(b"[" + b"0," * 32 * MB)


@dataclass
class Server:
    """Answers every request in the same way, and counts."""

    url: str
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    """None for one without end."""
    requests: int = 0


@pytest.fixture
def server() -> Iterator[Server]:
    class Handler(Quiet):
        def _answer(self) -> None:
            server.requests += 1
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(server.status)
            for name, value in {"Content-Type": "application/json", **server.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            if server.body is not None:
                self.wfile.write(server.body)
                return
            with suppress(OSError):
                while True:
                    self.wfile.write(b" " * 65_536)

        do_GET = do_POST = do_HEAD = _answer  # noqa: N815 - the library's own names

    with QuietServer(("127.0.0.1", 0), Handler) as listening, serve(listening) as url:
        server = Server(url)
        yield server


def read_key() -> object:
    reference = SecretReference.parse("passage/cohere")
    return CachedKey(reference, variable="COHERE_API_KEY_SECRET", upstream="embedding", ttl=1, environ={}).value()


def store(url: str) -> QdrantServerStore:
    return QdrantServerStore(Connection(PROFILE.collection.name, url), PROFILE)


def search(url: str) -> list[SearchResult]:
    return store(url).search([([0.5] * PROFILE.collection.dimension, Search(top_k=1))])


def account(provider: str, url: str = "") -> Account:
    return Account(PROVIDERS[provider], Access(url))


WITH_URL: dict[str, Callable[[str], object]] = {
    "Cohere embed": lambda url: CohereEmbedder(account("cohere", url), model="embed-v4.0", dimension=256).embed(["a"]),
    "Cohere rerank": lambda url: CohereReranker(account("cohere", url), model="rerank-v4.0-fast").rerank("a", ["b"]),
    "Qdrant": search,
    "Qdrant metadata": lambda url: store(url).describe(),
}
BY_BOTO: dict[str, Callable[[str], object]] = {
    "Bedrock": lambda _: BedrockEmbedder(account("bedrock"), model="cohere.embed-v4:0", dimension=256).embed(["a"]),
    "Secrets Manager": lambda _: read_key(),
    "S3 pointer": lambda _: PublishedIndex("s3://bucket/indexes", "query-response").pointer(None),
}
SERVICES = WITH_URL | BY_BOTO
every_service = pytest.mark.parametrize("service", SERVICES)


def asked(service: str, server: Server, monkeypatch: pytest.MonkeyPatch) -> Exception:
    """The error of one call to a service."""
    for name, value in {**CREDENTIALS, "AWS_ENDPOINT_URL": server.url}.items():
        monkeypatch.setenv(name, value)
    with within(Deadline.after(60)), pytest.raises((UpstreamUnavailable, ConfigurationError)) as caught:
        SERVICES[service](server.url)
    return caught.value


def asked_in_little_memory(service: str, server: Server, monkeypatch: pytest.MonkeyPatch) -> Exception:
    tracemalloc.start()
    error = asked(service, server, monkeypatch)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 64 * MB
    return error


@every_service
@pytest.mark.parametrize("status", [200, 500])
def test_endless_answer_is_an_upstream_error(
    service: str, status: int, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.status = status
    error = asked_in_little_memory(service, server, monkeypatch)
    assert server.requests == 1
    if (service, status) == ("S3 pointer", 200):
        assert "has a pointer that cannot be read" in str(error)
    else:
        assert isinstance(error, UpstreamUnavailable)
        assert "the answer has more than" in str(error.detail)


@pytest.mark.parametrize("service", WITH_URL)
@pytest.mark.parametrize(
    ("encoding", "body", "says"),
    [
        ("gzip", BOMB, "the answer has more than"),
        ("gzip", gzip.compress(b"[]") + b" " * 20 * MB, "the answer has more than"),
        ("gzip, gzip", gzip.compress(BOMB), "was not asked for"),
        ("br", b"[]", "was not asked for"),
        ("gzip", b"[]", "is not gzip"),
    ],
    ids=["bomb", "bytes after its end", "gzip twice", "not asked for", "no gzip"],
)
def test_gzip_bomb_is_an_upstream_error(
    service: str, encoding: str, body: bytes, says: str, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.headers, server.body = {"Content-Encoding": encoding}, body
    error = asked_in_little_memory(service, server, monkeypatch)
    assert isinstance(error, UpstreamUnavailable)
    assert says in str(error.detail)


@every_service
@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirect_to_itself_is_one_call(
    service: str, status: int, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """boto3 asked S3 for its bucket's region until Python's stack ended: 159 calls."""
    server.status, server.headers, server.body = status, {"Location": server.url}, b""
    error = asked(service, server, monkeypatch)
    assert server.requests == 1
    assert isinstance(error, ConfigurationError)
    assert f"HTTP {status}" in str(error.detail)
    assert server.url in str(error.detail)


def test_gzipped_answer_is_read(server: Server) -> None:
    server.headers, server.body = {"Content-Encoding": "gzip"}, gzip.compress(b'{"result": {"points": []}}')
    (result,) = search(server.url)
    assert not result.passages


@pytest.mark.parametrize("provider", ["cohere", "bedrock"])
def test_largest_batch_fits(provider: str, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The services repeat the texts, and a server may write each character as two escapes."""
    for name, value in {**CREDENTIALS, "AWS_ENDPOINT_URL": server.url}.items():
        monkeypatch.setenv(name, value)
    texts = ["\U0001f600" * PROFILE.query.text.max] * 96
    vectors = [[0.5] * 256] * 96
    answer = {"id": "", "response_type": "embeddings_by_type", "texts": texts, "embeddings": {"float": vectors}}
    server.body = json.dumps(answer).encode()
    assert len(server.body) > 11 * MB
    models = {"cohere": ("embed-v4.0", CohereEmbedder), "bedrock": ("cohere.embed-v4:0", BedrockEmbedder)}
    model, make = models[provider]
    url = server.url if provider == "cohere" else ""
    assert len(make(account(provider, url), model=model, dimension=256).embed(texts)) == 96
