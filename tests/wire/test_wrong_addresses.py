"""An address that leads elsewhere is a configuration error that names its variable, after one attempt."""

from pathlib import Path

import httpx
import pytest

from handler.adapters.qdrant.connection import Connection
from handler.adapters.qdrant.server import QdrantServerStore
from handler.config import profiles
from handler.config.settings import Settings
from handler.core.errors import ConfigurationError
from tools.doubles import EmulatorServer, Fault
from wire.function import COHERE_KEY, Output, Start, assert_error
from wire.other_servers import PAGE, Reply, grpc_server, self_signed, web_server

pytestmark = pytest.mark.usefixtures("dense")

VARIABLES = {"cohere": "COHERE_BASE_URL", "qdrant": "QDRANT_URL"}
both_services = pytest.mark.parametrize("variable", VARIABLES.values(), ids=VARIABLES.keys())

ANSWERS = {
    "a page with 404": (Reply(404, PAGE, {"Content-Type": "text/html"}), "{variable}"),
    "an empty 404": (Reply(404), "{variable}"),
    "a router's 404": (Reply(404, "404 page not found\n", {"Content-Type": "text/plain"}), "{variable}"),
    "a page with 200": (Reply(200, PAGE, {"Content-Type": "text/html"}), "check {variable}, and any proxy or firewall"),
    "a page with 400": (Reply(400, PAGE), "check {variable}, and any proxy or firewall"),
    "a proxy's 403": (Reply(403, f"\n {PAGE}"), "check {variable}, and any proxy or firewall"),
    "a proxy's 407": (Reply(407, PAGE), "check {variable}, and any proxy or firewall"),
    "a page with 401": (Reply(401, PAGE), "from a proxy or another server"),
    "a page with 405": (Reply(405, PAGE), "check {variable}"),
    "a redirect to https": (Reply(301, "", {"Location": "https://qdrant.example/"}), "set {variable} to the address"),
    "a redirect to log in": (Reply(302, PAGE, {"Location": "/login"}), "set {variable} to the address"),
    "a redirect with a letter beyond ASCII": (Reply(302, "", {"Location": "/menü"}), "set {variable} to the address"),
    "a permanent redirect": (Reply(308, "", {"Location": "https://qdrant.example/"}), "redirects requests (HTTP 308)"),
    "nginx, asked without TLS": (
        Reply(400, "<html>The plain HTTP request was sent to HTTPS port</html>"),
        "{variable}: write https://",
    ),
    "Go, asked without TLS": (
        Reply(400, "Client sent an HTTP request to an HTTPS server.\n"),
        "{variable}: write https://",
    ),
}


@both_services
@pytest.mark.parametrize(("reply", "says"), ANSWERS.values(), ids=ANSWERS.keys())
def test_answer_of_another_server_names_the_address(
    reply: Reply, says: str, variable: str, start: Start, sleeps: list[float]
) -> None:
    root = Reply(200, PAGE) if reply.status == 404 else None
    with web_server(reply, root=root) as (port, paths):
        message = assert_error(start(**{variable: f"http://127.0.0.1:{port}"}).ask(), 500, "INTERNAL_ERROR")
    assert says.format(variable=variable) in message
    assert "_API_KEY" not in message
    assert "COLLECTION_NAME" not in message
    assert "EMBEDDING_MODEL" not in message
    assert len([path for path in paths if path != "/"]) == 1
    assert sleeps == []


@both_services
def test_redirect_is_logged_with_where_it_leads(variable: str, start: Start, output: Output) -> None:
    with web_server(Reply(301, "", {"Location": "https://elsewhere.example/"})) as (port, _):
        start(**{variable: f"http://127.0.0.1:{port}"}).ask()
    assert "https://elsewhere.example/" in next(line["detail"] for line in output.logs if "detail" in line)


@both_services
def test_page_with_a_temporary_status_is_503(variable: str, start: Start, sleeps: list[float]) -> None:
    with web_server(Reply(502, PAGE, {"X-Proxy": "Büro"})) as (port, paths):
        assert_error(start(**{variable: f"http://127.0.0.1:{port}"}).ask(), 503, "SERVICE_UNAVAILABLE")
    assert len(paths) == 2


@both_services
def test_grpc_port_names_the_address(variable: str, start: Start, sleeps: list[float]) -> None:
    with grpc_server() as port:
        message = assert_error(start(**{variable: f"http://127.0.0.1:{port}"}).ask(), 500, "INTERNAL_ERROR")
    assert f"does not speak HTTP/1.1 at the address in {variable}" in message
    assert sleeps == []


def test_qdrants_grpc_port_is_known_by_its_number() -> None:
    """A server may close the connection at once, which looks like an outage."""
    profile = profiles.load("query-response")

    def close(request: httpx.Request) -> httpx.Response:
        raise httpx.RemoteProtocolError("Server disconnected without sending a response.", request=request)

    url, transport = "http://127.0.0.1:6334", httpx.MockTransport(close)
    store = QdrantServerStore(Connection(profile.collection.name, url, transport=transport), profile)
    with pytest.raises(ConfigurationError, match="has its gRPC port in QDRANT_URL"):
        store.describe()


@both_services
def test_https_to_an_http_port_names_the_address(variable: str, start: Start, sleeps: list[float]) -> None:
    with web_server(Reply(200)) as (port, _):
        message = assert_error(start(**{variable: f"https://127.0.0.1:{port}"}).ask(), 500, "INTERNAL_ERROR")
    assert f"does not speak TLS at the address in {variable}" in message
    assert sleeps == []


@both_services
def test_untrusted_certificate_names_address_and_authority(
    variable: str, start: Start, sleeps: list[float], tmp_path: Path
) -> None:
    with web_server(Reply(200), tls=self_signed(tmp_path)) as (port, _):
        message = assert_error(start(**{variable: f"https://127.0.0.1:{port}"}).ask(), 500, "INTERNAL_ERROR")
    assert variable in message
    assert "SSL_CERT_FILE" in message
    assert sleeps == []


def test_readiness_names_a_wrong_address(start: Start) -> None:
    with web_server(Reply(403, PAGE)) as (port, _):
        answer = start(QDRANT_URL=f"http://127.0.0.1:{port}").get("/ready")
    assert "QDRANT_URL" in assert_error(answer, 500, "INTERNAL_ERROR")


def test_path_where_no_qdrant_answers_is_named(qdrant: EmulatorServer, start: Start) -> None:
    message = assert_error(start(QDRANT_URL=f"{qdrant.url}/wrong/path").ask(), 500, "INTERNAL_ERROR")
    assert "QDRANT_URL" in message
    assert "/wrong/path" in message
    assert "COLLECTION_NAME" not in message


def test_qdrant_before_1_10_is_named_by_its_version(start: Start) -> None:
    root = Reply(200, '{"title": "qdrant - vector search engine", "version": "1.9.7"}')
    with web_server(Reply(404), root=root) as (port, paths):
        message = assert_error(start(QDRANT_URL=f"http://127.0.0.1:{port}").ask(), 500, "INTERNAL_ERROR")
    assert "Qdrant 1.9" in message
    assert "1.10 or newer" in message
    assert len(paths) == 2


@pytest.mark.parametrize("title", ["weaviate", "qdrant - vector search engine"])
def test_404_of_a_new_enough_or_other_server(title: str, start: Start) -> None:
    root = Reply(200, f'{{"title": "{title}", "version": "1.16.0"}}')
    with web_server(Reply(404), root=root) as (port, _):
        message = assert_error(start(QDRANT_URL=f"http://127.0.0.1:{port}").ask(), 500, "INTERNAL_ERROR")
    assert ("QDRANT_URL" in message) is (title == "weaviate")
    assert "COLLECTION_NAME" not in message


def test_only_a_missing_collection_names_its_setting(qdrant: EmulatorServer, start: Start) -> None:
    said = '{"status": {"error": "Not found: Collection `rag_embeddings` doesn\'t exist!"}, "time": 0.1}'
    other = '{"status": {"error": "Not found: Shard 3"}, "time": 0.1}'
    for body, blamed in ((said, True), (other, False)):
        qdrant.faults.add(Fault("status", status=404, body=body, path="/points/query"))
        message = assert_error(start().ask(), 500, "INTERNAL_ERROR")
        assert ("COLLECTION_NAME" in message) is blamed


@pytest.mark.parametrize(
    ("variable", "value", "says"),
    [
        ("QDRANT_URL", "https://x.cloud.qdrant.io/dashboard", "has the path /dashboard"),
        ("QDRANT_URL", "https://x.cloud.qdrant.io/dashboard#/collections", "scheme, host, port and path"),
        ("QDRANT_URL", "https://x.cloud.qdrant.io:6333/collections", "has the path /collections"),
        ("QDRANT_URL", "http://proxy/qdrant/collections/my_docs", "has the path /qdrant/collections/my_docs"),
        ("QDRANT_URL", "http://proxy/Dashboard/", "has the path /Dashboard"),
        ("COHERE_BASE_URL", "https://api.cohere.com/v1", "ends in /v1"),
        ("COHERE_BASE_URL", "https://api.cohere.com/v2/", "ends in /v2"),
        ("COHERE_BASE_URL", "https://api.cohere.com/v2/embed", "ends in /v2/embed"),
        ("COHERE_BASE_URL", "https://api.cohere.com/compatibility/V1", "ends in /v1"),
    ],
)
def test_address_with_a_known_wrong_path_is_refused_at_start(variable: str, value: str, says: str) -> None:
    environ = {"COHERE_API_KEY": COHERE_KEY, "QDRANT_URL": "http://h", variable: value}
    with pytest.raises(ConfigurationError, match=variable) as caught:
        Settings.from_env(environ)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("QDRANT_URL", "https://proxy.example:443/qdrant"),
        ("QDRANT_URL", "https://proxy.example:443/my-collections"),
        ("COHERE_BASE_URL", "https://proxy.example/cohere"),
        ("COHERE_BASE_URL", "https://proxy.example/v2-gateway"),
    ],
)
def test_a_proxys_path_is_accepted(variable: str, value: str) -> None:
    environ = {"COHERE_API_KEY": COHERE_KEY, "QDRANT_URL": "http://h", variable: value}
    settings = Settings.from_env(environ)
    assert value in (settings.qdrant_url, settings.providers["cohere"].url)
