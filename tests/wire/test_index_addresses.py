"""`passage index` with an address that leads elsewhere, or an embedding service that is slow."""

import re
import ssl
from pathlib import Path

import httpx
import pytest

from handler.adapters.errors import fault_by_error
from handler.config import profiles
from indexed import embedder_at
from passage.indexing import embedding
from passage.indexing.cache_filler import TemporaryFailure
from passage.indexing.server.connection import ServerConnection
from passage.indexing.server.releases import Releases
from passage.indexing.target import TargetError
from tools.doubles import EmulatorServer, Fault
from wire.function import COHERE_KEY
from wire.other_servers import PAGE, Reply, grpc_server, self_signed, web_server

ANSWERS = {
    "a page": Reply(200, PAGE),
    "a page with 403": Reply(403, PAGE),
    "a redirect": Reply(301, "", {"Location": "https://qdrant.example/"}),
    "nginx, asked without TLS": Reply(400, "<html>The plain HTTP request was sent to HTTPS port</html>"),
}


def refusal(url: str) -> str:
    slept: list[float] = []
    connection = ServerConnection(url, None, sleep=slept.append)
    with pytest.raises(TargetError) as caught:
        connection.version()
    connection.close()
    assert slept == [], "another attempt cannot help"
    return str(caught.value)


@pytest.mark.parametrize("reply", ANSWERS.values(), ids=ANSWERS.keys())
def test_answer_of_another_server_is_not_retried(reply: Reply) -> None:
    with web_server(reply) as (port, paths):
        assert "QDRANT_URL" in refusal(f"http://127.0.0.1:{port}")
    assert len(paths) == 1


@pytest.mark.parametrize("body", ["", "null", "[]", "{}", '{"result": null}', '{"result": 7}', "[" * 100_000])
def test_json_of_another_server_is_one_line(body: str) -> None:
    """A server that says yes to everything: its answers are JSON, but not Qdrant's."""
    with web_server(Reply(200, body, {"Content-Type": "application/json"})) as (port, _):
        connection = ServerConnection(f"http://127.0.0.1:{port}", None, sleep=lambda _: None)
        with pytest.raises(TargetError, match="could not be read") as caught:
            Releases(connection, "docs").current()
        connection.close()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("key", "status", "body", "says"),
    [
        (None, 401, "Must provide an API key or an Authorization bearer token", "needs a key: set QDRANT_API_KEY"),
        ("k", 401, "Invalid API key or JWT", "refused the key in QDRANT_API_KEY"),
        ("k", 403, '{"status":{"error":"Forbidden: Global write access required"}}', "it may only read"),
        ("k", 403, "ExpiredSignature", "it has expired"),
    ],
)
def test_refused_key_says_why(key: str | None, status: int, body: str, says: str) -> None:
    with web_server(Reply(status, body)) as (port, _):
        connection = ServerConnection(f"http://127.0.0.1:{port}", key)
        with pytest.raises(TargetError, match=says):
            connection.collections()
        connection.close()


def test_server_that_does_not_answer_is_told_at_each_attempt() -> None:
    notes: list[str] = []
    connection = ServerConnection("http://127.0.0.1:9", None, sleep=lambda _: None, note=notes.append)
    with pytest.raises(TargetError, match="7 attempts"):
        connection.version()
    connection.close()
    assert len(notes) == 6
    assert re.fullmatch(
        r"The Qdrant server at http://127.0.0.1:9 could not be reached: .* Attempt 2 of 7 in .*", notes[0]
    )


@pytest.mark.parametrize(("url", "told"), [("http://qdrant.example:6333", 1), ("http://127.0.0.1:6333", 0)])
def test_key_over_http_is_told_except_on_this_machine(url: str, told: int) -> None:
    notes: list[str] = []
    ServerConnection(url, "key", note=notes.append).close()
    assert [("QDRANT_API_KEY is sent unencrypted" in note) for note in notes] == [True] * told


def test_certificate_of_ssl_cert_file_is_trusted_on_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = self_signed(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with web_server(Reply(200, '{"title": "qdrant", "version": "1.20.0"}'), tls=certificate) as (port, _):
        connection = ServerConnection(f"https://127.0.0.1:{port}", None)
        assert connection.version() == (1, 20)
        connection.close()


def test_server_that_speaks_otherwise_is_not_retried(tmp_path: Path) -> None:
    with grpc_server() as port:
        assert "does not speak HTTP/1.1 at the address in QDRANT_URL" in refusal(f"http://127.0.0.1:{port}")
    for tls, says in (
        (None, "does not speak TLS at the address in QDRANT_URL"),
        (self_signed(tmp_path), "SSL_CERT_FILE"),
    ):
        with web_server(Reply(200), tls=tls) as (port, _):
            assert says in refusal(f"https://127.0.0.1:{port}")


def test_expired_certificate_says_so(tmp_path: Path) -> None:
    file = self_signed(tmp_path, days=-1)
    trusting = ssl.create_default_context(cafile=file)
    with (
        web_server(Reply(200), tls=file) as (port, _),
        httpx.Client(verify=trusting) as client,
        pytest.raises(httpx.ConnectError) as caught,
    ):
        client.get(f"https://127.0.0.1:{port}")
    fault = fault_by_error(caught.value, "QDRANT_URL") or ""
    assert fault.startswith("has a certificate that is expired")
    assert "QDRANT_URL" in fault


def test_slow_embedding_is_a_temporary_failure(cohere: EmulatorServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "TIMEOUT_SECONDS", 0.2)
    cohere.faults.add(Fault("slow", delay_ms=2_000))
    embedder = embedder_at(cohere.url, profiles.load("query-response"), COHERE_KEY)
    with pytest.raises(TemporaryFailure, match="did not answer within the request's time"):
        embedder.embed(["A twin."])
    embedder.close()
