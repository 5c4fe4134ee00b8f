"""One POST path answers both eras of MCP: each rule of the protocol that binds a server."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.entrypoints.http.mcp.protocol import LEGACY, SUPPORTED, decode_header, encode_header
from mcp_server.mcp_calls import META, MODERN, QUESTION, Endpoint, message, structured

CALL = {"name": "search", "arguments": {"query": QUESTION}}
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"


@pytest.mark.parametrize("version", LEGACY)
def test_initialize_answers_a_version_that_we_speak(version: str, endpoint: Endpoint) -> None:
    reply = endpoint.legacy("initialize", {"protocolVersion": version, "capabilities": {}})
    assert (reply.status, reply.result["protocolVersion"]) == (200, version)
    assert reply.result["capabilities"] == {"tools": {}, "prompts": {}, "resources": {}}
    assert reply.result["serverInfo"] == {"name": "passage", "version": "0.1.0"}
    assert "resultType" not in reply.result


@pytest.mark.parametrize("version", ["2026-07-28", "1999-01-01", None, 5])
def test_initialize_answers_our_newest_legacy_version(version: Any, endpoint: Endpoint) -> None:
    assert endpoint.legacy("initialize", {"protocolVersion": version}).result["protocolVersion"] == "2025-11-25"


def test_initialize_after_a_modern_discover_is_answered(endpoint: Endpoint) -> None:
    """Claude Code may send `initialize` with the header of the revision it has discovered."""
    reply = endpoint.legacy("initialize", {"protocolVersion": "2025-11-25"}, mcp_protocol_version=MODERN)
    assert reply.result["protocolVersion"] == "2025-11-25"


def test_both_eras_are_answered_on_one_path(endpoint: Endpoint) -> None:
    assert endpoint.legacy("initialize", {"protocolVersion": "2025-06-18"}).status == 200
    legacy, modern = endpoint.legacy("tools/call", CALL), endpoint.modern("tools/call", CALL)
    assert structured(legacy.result) == structured(modern.result)
    assert "resultType" not in legacy.result
    assert modern.result["resultType"] == "complete"
    assert modern.result["_meta"] == {"io.modelcontextprotocol/serverInfo": {"name": "passage", "version": "0.1.0"}}


def test_discover_names_versions_and_may_be_cached(endpoint: Endpoint) -> None:
    result = endpoint.modern("server/discover").result
    assert result["supportedVersions"] == list(SUPPORTED)
    assert (result["ttlMs"], result["cacheScope"], result["resultType"]) == (300_000, "public", "complete")
    assert result["capabilities"] == {"tools": {}, "prompts": {}, "resources": {}}
    assert "search_docs" in result["instructions"]


def test_list_of_tools_may_be_cached_by_modern_clients(endpoint: Endpoint) -> None:
    legacy, modern = endpoint.legacy("tools/list").result, endpoint.modern("tools/list").result
    assert (modern["ttlMs"], modern["cacheScope"]) == (300_000, "public")
    assert legacy == {"tools": modern["tools"]}


@pytest.mark.parametrize("header", [None, *LEGACY])
def test_legacy_request_may_name_its_version_or_not(header: str | None, endpoint: Endpoint) -> None:
    headers = {} if header is None else {"mcp_protocol_version": header}
    assert endpoint.legacy("ping", **headers).result == {}


def test_legacy_request_with_an_unknown_version_is_400(endpoint: Endpoint) -> None:
    reply = endpoint.legacy("tools/list", mcp_protocol_version="1999-01-01")
    assert (reply.status, reply.code) == (400, -32022)
    assert reply.json["error"]["data"] == {"supported": list(SUPPORTED), "requested": "1999-01-01"}


def test_modern_request_with_an_unknown_version_is_400(endpoint: Endpoint) -> None:
    meta = {**META, VERSION_KEY: "2099-01-01"}
    reply = endpoint.modern("tools/list", {"_meta": meta}, mcp_protocol_version="2099-01-01")
    assert (reply.status, reply.code, reply.json["id"]) == (400, -32022, 7)
    assert reply.json["error"]["data"]["supported"] == list(SUPPORTED)


@pytest.mark.parametrize(
    "headers",
    [
        {"mcp_protocol_version": ""},
        {"mcp_protocol_version": "2025-11-25"},
        {"mcp_protocol_version": "2026-07-28,2026-07-28"},
        {"mcp_method": ""},
        {"mcp_method": "tools/list"},
        {"mcp_method": "Tools/Call"},
        {"mcp_name": ""},
        {"mcp_name": "fetch"},
        {"mcp_name": "=?base64?!?="},
    ],
    ids=str,
)
def test_header_that_differs_from_the_body_is_400(headers: dict[str, str], endpoint: Endpoint) -> None:
    reply = endpoint.modern("tools/call", CALL, **headers)
    assert (reply.status, reply.code) == (400, -32020)


def test_name_in_base64_equals_the_tools_name(endpoint: Endpoint) -> None:
    name = f"=?base64?{base64.b64encode(b'search').decode()}?="
    assert endpoint.modern("tools/call", CALL, mcp_name=name).status == 200


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_any_text_survives_encoding_as_a_header(text: str) -> None:
    value = encode_header(text)
    assert value.isascii()
    assert value.isprintable()
    assert decode_header(value) == text


@pytest.mark.parametrize("lacking", [VERSION_KEY, "io.modelcontextprotocol/clientCapabilities"])
def test_modern_request_that_lacks_a_meta_key_is_400(lacking: str, endpoint: Endpoint) -> None:
    meta = {key: value for key, value in META.items() if key != lacking}
    reply = endpoint.modern("tools/list", {"_meta": meta})
    assert (reply.status, reply.code) == (400, -32602)
    assert lacking in reply.json["error"]["message"]


def test_client_info_may_be_absent(endpoint: Endpoint) -> None:
    meta = {key: value for key, value in META.items() if "clientInfo" not in key}
    assert endpoint.modern("tools/list", {"_meta": meta}).status == 200


@pytest.mark.parametrize("method", ["resources/subscribe", "prompts/delete", "logging/setLevel", "server/discover", ""])
def test_unknown_legacy_method_is_an_error_in_a_200(method: str, endpoint: Endpoint) -> None:
    reply = endpoint.legacy(method)
    assert (reply.status, reply.code) == (200, -32601)


@pytest.mark.parametrize("method", ["resources/subscribe", "ping", "initialize", "subscriptions/listen"])
def test_unknown_modern_method_is_404(method: str, endpoint: Endpoint) -> None:
    reply = endpoint.modern(method)
    assert (reply.status, reply.code) == (404, -32601)


@pytest.mark.parametrize("name", ["nothing", "", None, 5, ["search"]])
def test_unknown_tool_is_an_error_of_the_protocol(name: Any, endpoint: Endpoint) -> None:
    reply = endpoint.legacy("tools/call", {"name": name, "arguments": {}})
    assert (reply.status, reply.code) == (200, -32602)
    assert "search, fetch, search_docs, get_page, get_chunk" in reply.json["error"]["message"]


def test_arguments_that_are_no_object_are_a_protocol_error(endpoint: Endpoint) -> None:
    reply = endpoint.legacy("tools/call", {"name": "search", "arguments": "twin"})
    assert (reply.status, reply.code) == (200, -32602)


@pytest.mark.parametrize("method", ["notifications/initialized", "notifications/cancelled", "notifications/other"])
@pytest.mark.parametrize("version", [None, "2025-11-25", MODERN])
def test_notification_is_202_without_a_body(method: str, version: str | None, endpoint: Endpoint) -> None:
    headers = {} if version is None else {"mcp-protocol-version": version}
    reply = endpoint.post({"jsonrpc": "2.0", "method": method}, headers)
    assert (reply.status, reply.text) == (202, "")


def test_notification_of_an_unknown_version_is_400(endpoint: Endpoint) -> None:
    body = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert endpoint.post(body, {"mcp-protocol-version": "1999-01-01"}).code == -32022


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("", -32700),
        ("{", -32700),
        (b"\xff\xfe", -32700),
        ("[" * 5_000, -32700),
        ("NaN", -32700),
        ("null", -32600),
        ('"text"', -32600),
        ("{}", -32600),
        ('{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
        ('{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
        ('{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600),
        ('{"jsonrpc": "2.0", "id": 1e999, "method": "ping"}', -32600),
        (message("ping", id="a" * 257), -32600),
        ('{"jsonrpc": "2.0", "id": 1, "method": 5}', -32600),
        ('{"jsonrpc": "2.0", "id": 1, "result": {}}', -32600),
        ('{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}', -32602),
        ("[]", -32600),
        ('[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600),
    ],
)
def test_body_that_is_no_single_message_is_400(body: Any, code: int, endpoint: Endpoint) -> None:
    reply = endpoint.post(body)
    assert (reply.status, reply.code) == (400, code)


@pytest.mark.parametrize("number", [0, -3, 1.5, "", "a" * 256, 10**30])
def test_answer_has_the_id_of_its_request(number: Any, endpoint: Endpoint) -> None:
    reply = endpoint.post(message("ping", id=number))
    assert reply.json["id"] == number


def test_id_that_utf8_cannot_carry_is_answered(endpoint: Endpoint) -> None:
    reply = endpoint.post(message("ping", id="\ud800"))
    assert reply.status == 200
    assert reply.text.encode()


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "PUT", "PATCH"])
@pytest.mark.parametrize("path", ["/mcp", "/profiles/query-response/mcp"])
def test_any_method_but_post_is_405(method: str, path: str, endpoint: Endpoint) -> None:
    reply = endpoint.send({"rawPath": path, "requestContext": {"http": {"method": method}}})
    assert (reply.status, reply.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "http://localhost.evil.example:3001", "HTTP://LOCALHOST:3000"]
)
@pytest.mark.parametrize("body", [message("ping"), message("tools/list"), "{"])
def test_origin_that_is_not_allowed_is_403(origin: str, body: Any, endpoint: Endpoint) -> None:
    reply = endpoint.post(body, {"origin": origin})
    assert (reply.status, reply.json["id"]) == (403, None)
    assert "access-control-allow-origin" not in reply.headers


def test_allowed_origin_gets_cors_headers(endpoint: Endpoint) -> None:
    reply = endpoint.legacy("ping", origin="http://localhost:3000")
    assert (reply.status, reply.headers["access-control-allow-origin"]) == (200, "http://localhost:3000")


def test_preflight_allows_the_headers_of_the_protocol(endpoint: Endpoint) -> None:
    event = {
        "rawPath": "/mcp",
        "headers": {"origin": "http://localhost:3000"},
        "requestContext": {"http": {"method": "OPTIONS"}},
    }
    allowed = endpoint.send(event).headers["access-control-allow-headers"].lower()
    assert {"mcp-protocol-version", "mcp-method", "mcp-name"} <= set(allowed.split(","))


def test_no_answer_has_a_session_id(endpoint: Endpoint) -> None:
    replies = [
        endpoint.legacy("initialize", {"protocolVersion": "2025-11-25"}, mcp_session_id="abc"),
        endpoint.legacy("tools/list", mcp_session_id="abc"),
        endpoint.modern("tools/list", mcp_session_id="abc"),
    ]
    assert [reply.status for reply in replies] == [200, 200, 200]
    assert not any("session" in name for reply in replies for name in reply.headers)


def test_list_of_tools_is_the_same_bytes_each_time() -> None:
    texts = {Endpoint().legacy("tools/list").text for _ in range(3)}
    assert len(texts) == 1
    names = [tool["name"] for tool in json.loads(texts.pop())["result"]["tools"]]
    assert names == ["search", "fetch", "search_docs", "get_page", "get_chunk"]
