"""The tools: their schemas, results and failures."""

from dataclasses import replace
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from handler.adapters.qdrant.payload import Hit, read_one
from handler.config import profiles
from handler.contracts.options import Options
from handler.core import deadline as deadlines
from handler.core.errors import (
    CredentialsRefused,
    DeadlineExceeded,
    PassageError,
    UpstreamThrottled,
    UpstreamUnavailable,
)
from handler.core.model import Noise, Passage, Search, SearchResult
from handler.entrypoints.http.mcp.calls import UNCLEAR
from handler.entrypoints.http.mcp.features import PAGES
from handler.entrypoints.http.openapi.schemas import component, components
from handler.entrypoints.limits import LAMBDA_RESPONSE_BYTES
from mcp_server.mcp_calls import HITS, QUESTION, TEXT, Endpoint, said, structured
from unit.asking import FakedContainer, FixedStore

NAMES = profiles.names()
STORED = {
    "language": ("de", "en"),
    "version": (),
    "page_url": ("https://e.org/a", "https://e.org/b"),
}


def tools(endpoint: Endpoint, path: str = "/mcp") -> dict[str, dict[str, Any]]:
    return {tool["name"]: tool for tool in endpoint.legacy("tools/list", path=path).result["tools"]}


def test_schemas_of_tools_are_json_schemas(endpoint: Endpoint) -> None:
    for tool in tools(endpoint).values():
        Draft202012Validator.check_schema(tool["inputSchema"])
        Draft202012Validator.check_schema(tool["outputSchema"])
        assert tool["inputSchema"]["additionalProperties"] is False
        for name, argument in tool["inputSchema"]["properties"].items():  # strict clients fill every one, with null
            assert "default" not in argument
            assert (name in tool["inputSchema"]["required"]) == ("null" not in argument["type"])
        assert tool["annotations"]["readOnlyHint"] is True


@pytest.mark.parametrize("name", NAMES)
def test_limits_are_those_of_the_openapi_document(name: str, endpoint: Endpoint) -> None:
    profile = profiles.load(name)
    asked = components(profile)[component(profile, "Request")]["properties"]
    text, count = asked[profile.query.text.names[0]], asked[profile.query.count.names[0]]
    found = tools(endpoint, f"/profiles/{name}/mcp")
    for argument in (
        found["search"]["inputSchema"]["properties"]["query"],
        found["search_docs"]["inputSchema"]["properties"]["question"],
    ):
        assert {key: argument[key] for key in ("minLength", "maxLength")} == {
            key: text[key] for key in ("minLength", "maxLength")
        }
    top_k = found["search_docs"]["inputSchema"]["properties"]["top_k"]
    limits = [(top_k.get(key), count.get(key)) for key in ("minimum", "maximum")]
    assert all(ours == theirs or (ours, theirs) == (20, 100) for ours, theirs in limits)


def test_search_takes_one_text_and_lists_references(endpoint: Endpoint) -> None:
    schema = tools(endpoint)["search"]["inputSchema"]
    assert (list(schema["properties"]), schema["required"]) == (["query"], ["query"])
    found = structured(endpoint.call("search", {"query": QUESTION}))
    assert found == {
        "results": [
            {"id": "1", "title": "Twins", "url": "https://docs.example/1"},
            {"id": "2", "title": "Twins", "url": "https://docs.example/2"},
        ]
    }


def test_search_docs_returns_texts_and_scores(endpoint: Endpoint) -> None:
    found = structured(endpoint.call("search_docs", {"question": QUESTION, "top_k": 1}))
    (result,) = found["results"]
    assert result == {
        "id": "1",
        "title": "Twins",
        "url": "https://docs.example/1",
        "headings": [],
        "text": f"{TEXT} 1",
        "score": pytest.approx(0.8),
    }
    assert (found["profile"], found["warnings"]) == ("query-response", [])
    Draft202012Validator(tools(endpoint)["search_docs"]["outputSchema"]).validate(found)


@pytest.mark.parametrize(("noise", "unclear"), [(Noise(0.1, 0.2), []), (Noise(0.8, 0.9), [UNCLEAR])])
def test_search_docs_says_that_no_passage_fits(noise: Noise, unclear: list[str], endpoint: Endpoint) -> None:
    endpoint.container.noise = noise
    assert structured(endpoint.call("search_docs", {"question": QUESTION}))["warnings"] == unclear


def test_language_and_version_narrow_the_search(endpoint: Endpoint) -> None:
    schema = tools(endpoint)["search_docs"]["inputSchema"]["properties"]
    assert {"language", "version"} <= schema.keys()
    structured(endpoint.call("search_docs", {"question": QUESTION, "language": "en", "version": None}))
    (search,) = endpoint.container.searches
    assert list(search.filters) == ["language"]


def test_labels_are_offered_with_the_values_that_the_index_has(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Limits of text, where a store cannot list them, are in the test below."""
    monkeypatch.setattr(FixedStore, "values", lambda _, keys, __: {key: STORED[key] for key in keys})
    schema = tools(endpoint)["search_docs"]["inputSchema"]["properties"]
    assert "version" not in schema
    assert (schema["language"]["type"], schema["language"]["enum"]) == (["string", "null"], ["de", "en", None])
    assert [each["uri"] for each in endpoint.legacy("resources/list").result["resources"]] == [PAGES]
    (read,) = endpoint.modern("resources/read", {"uri": PAGES}, mcp_name=PAGES).result["contents"]
    assert read["text"] == "- <https://e.org/a>\n- <https://e.org/b>\n"


def test_index_that_cannot_list_its_pages_has_no_resource(endpoint: Endpoint) -> None:
    assert endpoint.legacy("resources/list").result == {"resources": []}
    assert endpoint.legacy("resources/templates/list").result == {"resourceTemplates": []}
    assert endpoint.legacy("resources/read", {"uri": PAGES}).code == -32602


def test_limits_of_labels_are_those_of_the_options(endpoint: Endpoint) -> None:
    options = Options.model_json_schema()["properties"]
    schema = tools(endpoint)["search_docs"]["inputSchema"]["properties"]
    for name in ("language", "version"):
        (text,) = (kind for kind in options[name]["anyOf"] if kind["type"] == "string")
        assert {key: schema[name][key] for key in text} == {**text, "type": ["string", "null"]}


def test_no_match_is_an_empty_list_and_no_error(endpoint: Endpoint) -> None:
    endpoint.container.hits = []
    assert structured(endpoint.call("search", {"query": QUESTION})) == {"results": []}


@pytest.mark.parametrize("name", NAMES)
def test_every_profile_can_be_asked(name: str, endpoint: Endpoint) -> None:
    profile = profiles.load(name)
    keys = {field: getattr(profile.payload, field)[0] for field in ("text", "url")}
    endpoint.container.hits = [Hit(1, 0.9, {keys["text"]: TEXT, keys["url"]: "https://docs.example/1"})]
    by_argument = structured(endpoint.call("search_docs", {"question": QUESTION, "profile": name}))
    by_path = structured(endpoint.call("search_docs", {"question": QUESTION}, f"/profiles/{name}/mcp"))
    assert by_argument == by_path
    assert by_argument["profile"] == name
    assert [result["text"] for result in by_argument["results"]] == [TEXT]


def test_profile_in_the_path_takes_the_argument_away(endpoint: Endpoint) -> None:
    path = "/profiles/chunks/mcp"
    assert "profile" not in tools(endpoint, path)["search_docs"]["inputSchema"]["properties"]
    assert "unknown" in said(endpoint.call("search_docs", {"question": QUESTION, "profile": "chunks"}, path))
    assert tools(endpoint)["search_docs"]["inputSchema"]["properties"]["profile"]["enum"] == [*NAMES, None]


def test_unknown_profile_in_the_path_is_404(endpoint: Endpoint) -> None:
    for method in ("initialize", "tools/list"):
        reply = endpoint.legacy(method, path="/profiles/nothing/mcp")
        assert (reply.status, reply.code) == (404, -32600)
        assert "query-response" in reply.json["error"]["message"]


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("search", {}, "'query' must be text"),
        ("search", {"query": 5}, "'query' must be text"),
        ("search", {"query": " \u200b"}, "'query' is blank"),
        ("search", {"query": "a" * 10_001}, "'query' has 10,001 characters"),
        ("search", {"query": QUESTION, "top_k": 3}, "'top_k' is unknown here: the arguments are query"),
        ("search", {"query": QUESTION, "a\nb": 3}, "An argument is unknown here"),
        ("search", {"query": QUESTION, "text": "other"}, "mean the same"),
        ("search", {"query": "\ud800"}, "must be"),
        ("search_docs", {"q": QUESTION}, "the arguments are question, top_k, language, version, search, profile"),
        ("search_docs", {"question": QUESTION, "top_k": 21}, "'top_k' is out of range: it must be 1 to 20"),
        ("search_docs", {"question": QUESTION, "top_k": 1.5}, "'top_k' must be a whole number"),
        ("search_docs", {"question": QUESTION, "top_k": "three"}, "'top_k' must be a whole number"),
        ("search_docs", {"question": QUESTION, "top_k": True}, "'top_k' must be a whole number"),
        ("search_docs", {"question": QUESTION, "profile": "nothing"}, "The profiles are: "),
        ("search_docs", {"question": QUESTION, "profile": 5}, "The profiles are: "),
        ("search_docs", {"question": QUESTION, "language": 5}, "language"),
        ("search_docs", {"question": QUESTION, "version": ""}, "version"),
        ("fetch", {}, "'id' must be text"),
        ("fetch", {"id": ""}, "'id' must be text"),
        ("fetch", {"id": "a" * 513}, "'id' must be text"),
        ("fetch", {"id": "nothing"}, "There is no such chunk"),
        ("fetch", {"id": "1", "max_length": 0}, "'max_length' must be a whole number, 1 or more"),
        ("get_page", {"url": 5}, "'url' must be text"),
        ("get_page", {"url": "https://docs.example/", "start_index": "-1"}, "'start_index' must be a whole number"),
        ("get_page", {"url": "https://docs.example/"}, "The index has no page of that URL"),
        ("fetch", {"id": "1", "profile": "chunks"}, "the arguments are id"),
        ("get_chunk", {"id": 5}, "'id' must be text"),
        ("get_chunk", {"id": "nothing"}, "There is no such chunk"),
    ],
)
def test_bad_argument_is_a_sentence_for_the_model(
    tool: str, arguments: dict[str, Any], words: str, endpoint: Endpoint
) -> None:
    assert words in said(endpoint.call(tool, arguments))
    assert endpoint.container.embedded == []


@pytest.mark.parametrize("arguments", [None, {}])
def test_arguments_may_be_left_out(arguments: Any, endpoint: Endpoint) -> None:
    assert "'query' must be text" in said(endpoint.call("search", arguments))
    assert "'query' must be text" in said(endpoint.legacy("tools/call", {"name": "search"}).result)


@pytest.mark.parametrize("name", ["query", "question", "text"])
@pytest.mark.parametrize("tool", ["search", "search_docs"])
def test_question_has_three_names_in_each_tool(tool: str, name: str, endpoint: Endpoint) -> None:
    assert len(structured(endpoint.call(tool, {name: QUESTION}))["results"]) == 2


@pytest.mark.parametrize("number", [2, 2.0, "2"])
def test_whole_number_may_be_a_float_or_text(number: float, endpoint: Endpoint) -> None:
    assert len(structured(endpoint.call("search_docs", {"question": QUESTION, "top_k": number}))["results"]) == 2


@pytest.mark.parametrize(
    "failure",
    [
        UpstreamUnavailable("The vector store is down.", upstream="store", detail="https://internal:6333 key-1"),
        UpstreamThrottled("The store is limiting requests.", upstream="store", retry_after=70, detail="key-1"),
        DeadlineExceeded("The request's time ran out.", detail="key-1"),
        CredentialsRefused("The key was refused.", upstream="store", detail="key-1"),
    ],
    ids=lambda failure: type(failure).__name__,
)
@pytest.mark.parametrize("tool", ["search", "search_docs"])
def test_outage_is_an_error_and_never_an_empty_list(tool: str, failure: PassageError, endpoint: Endpoint) -> None:
    endpoint.container.store_failure = failure
    result = endpoint.call(tool, {"query" if tool == "search" else "question": QUESTION})
    words = said(result)
    assert words.startswith(str(failure))
    assert "structuredContent" not in result
    assert "key-1" not in words
    assert ("Try again in 70 seconds." in words) is isinstance(failure, UpstreamThrottled)


def test_unexpected_exception_hides_its_message(endpoint: Endpoint) -> None:
    endpoint.container.hits = None  # type: ignore[assignment]  # a store that breaks
    assert said(endpoint.call("search", {"query": QUESTION})).startswith("An unexpected error occurred.")


def test_answer_too_large_loses_its_last_passages(endpoint: Endpoint) -> None:
    large = "word " * 200_000
    endpoint.container.hits = [
        Hit(number, 0.9 - number / 100, {"text_content": large, "source_url": f"https://docs.example/{number}"})
        for number in range(4)
    ]
    reply = endpoint.legacy("tools/call", {"name": "search_docs", "arguments": {"question": QUESTION, "top_k": 4}})
    assert len(reply.text) < LAMBDA_RESPONSE_BYTES
    found = structured(reply.result)
    assert 0 < len(found["results"]) < 4
    assert "too large" in found["warnings"][0]


def chunk(number: int, text: str, anchor: str = "oil") -> Passage:
    headings = ("Lamps", anchor.title())
    url = f"https://docs.example/lamps#{anchor}"
    return Passage(id=number, score=0, text=text, url=url, title="Lamps", index=number, headings=headings)


CUT = ["```py\na = 1\n```\n\n*(continues)*", "*(continued)*\n\n```py\nb = 2\n```"]
PAGE = [chunk(0, "Start.", ""), chunk(1, "Fill it."), *map(chunk, (2, 3), CUT), chunk(4, "Trim it.", "wick")]


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FixedStore, "fetch", lambda _, number, **__: PAGE[int(number)])
    monkeypatch.setattr(FixedStore, "neighbors", lambda *_: SearchResult(tuple(reversed(PAGE))))


@pytest.mark.usefixtures("page")
def test_fetch_reads_the_section_and_names_its_neighbors(endpoint: Endpoint) -> None:
    section = "Fill it.\n\n```py\na = 1\n\nb = 2\n```"
    found = structured(endpoint.call("fetch", {"id": "2"}))
    assert (found["id"], found["title"], found["text"]) == ("2", "Lamps: Oil", section)
    assert found["metadata"] == {"headings": "Lamps > Oil", "previous": "0", "next": "4"}
    part = structured(endpoint.call("fetch", {"id": "1", "max_length": "8"}))
    assert (part["text"], part["metadata"]["next_start_index"]) == ("Fill it.", "8")
    rest = structured(endpoint.call("fetch", {"id": "1", "start_index": 8}))
    assert part["text"] + rest["text"] == section
    assert "must be less than 32" in said(endpoint.call("fetch", {"id": "1", "start_index": 34}))


def test_steps_of_a_call_share_one_deadline(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[deadlines.Deadline | None] = []
    results = {"fetch": PAGE[2], "neighbors": SearchResult(tuple(PAGE))}
    for name, result in results.items():
        given = lambda *_, result=result, **__: seen.append(deadlines.current()) or result  # noqa: E731
        monkeypatch.setattr(FixedStore, name, given)
    structured(endpoint.call("fetch", {"id": "2"}))
    assert len(seen) == 2
    assert seen[0] == seen[1] is not None


@pytest.mark.usefixtures("page")
def test_page_is_read_whole_by_any_url_of_it(endpoint: Endpoint) -> None:
    urls = [f"https://docs.example/lamps{end}" for end in ("", "#oil", "/")]
    found = [structured(endpoint.call("get_page", {"url": url})) for url in urls]
    assert found[0] == found[1] == found[2]
    assert (found[0]["title"], found[0]["url"]) == ("Lamps", "https://docs.example/lamps")
    assert found[0]["text"] == "Start.\n\nFill it.\n\n```py\na = 1\n\nb = 2\n```\n\nTrim it."


@pytest.mark.parametrize(
    ("payload", "stated"),
    [({}, "no language"), ({"language": "en"}, "the language en"), ({"meta": {"language": "en"}}, "the language en")],
)
def test_answer_that_a_language_emptied_says_so(
    payload: dict[str, Any], stated: str, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    def search(_: FixedStore, searches: list[tuple[Any, Search]]) -> list[SearchResult]:
        return [SearchResult(() if search.filters else tuple(PAGE)) for _, search in searches]

    monkeypatch.setitem(profiles.load("query-response").filters, "language", ("meta.language", "language"))
    monkeypatch.setattr(FixedStore, "search", search)
    monkeypatch.setattr(FixedStore, "fetch", lambda *_, **__: replace(PAGE[1], payload=payload))
    result = endpoint.call("search_docs", {"question": QUESTION, "language": "English"})
    (warning,) = structured(result)["warnings"]
    assert warning == f"No passage that fits has the language asked for. The best one states {stated}."
    assert result["content"][0]["text"] == f"> {warning}"


def test_prompt_asks_for_an_answer_with_citations(endpoint: Endpoint) -> None:
    (prompt,) = endpoint.legacy("prompts/list").result["prompts"]
    (said_to_model,) = endpoint.modern(
        "prompts/get", {"name": prompt["name"], "arguments": {"question": QUESTION}}, mcp_name=prompt["name"]
    ).result["messages"]
    assert said_to_model["content"]["text"].endswith(f"\n\n{QUESTION}")
    assert endpoint.legacy("prompts/get", {"name": "other"}).code == -32602


def test_errors_have_their_code_in_the_header(endpoint: Endpoint) -> None:
    failed = {"name": "fetch", "arguments": {"id": "nothing"}}
    for reply, code in (
        (endpoint.legacy("tools/call", failed), "NOT_FOUND"),
        (endpoint.modern("tools/call", failed), "NOT_FOUND"),
        (endpoint.modern("nothing"), "NOT_FOUND"),
        (endpoint.legacy("tools/call", {"name": "nothing"}), "INVALID_REQUEST"),
        (endpoint.post("{"), "INVALID_REQUEST"),
    ):
        assert reply.headers["x-error-code"] == code, reply
    assert "x-error-code" not in endpoint.legacy("tools/list").headers


def test_chunk_without_text_is_told_so(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    without = Hit(5, 0, {"note": "no text"})
    monkeypatch.setattr(FixedStore, "fetch", lambda self, *_, **__: read_one(without, self.profile.payload, None))
    for tool in ("fetch", "get_chunk"):
        assert "There is no such chunk" in said(endpoint.call(tool, {"id": "5"}))


def test_deployment_without_chunks_has_one_tool() -> None:
    endpoint = Endpoint(FakedContainer(CHUNKS="false"))
    assert list(tools(endpoint)) == ["search_docs"]
    reply = endpoint.legacy("tools/call", {"name": "fetch", "arguments": {"id": "5"}})
    assert "The tools are search_docs." in reply.json["error"]["message"]


def test_chunk_too_large_for_a_response_is_told_so(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    large = Passage(id=5, score=0, text="a" * 4_000_000, url="https://docs.example")
    monkeypatch.setattr(FixedStore, "fetch", lambda *_, **__: large)
    assert "too large" in said(endpoint.call("get_chunk", {"id": "5"}))


def test_name_and_description_are_the_deployments() -> None:
    endpoint = Endpoint(FakedContainer(MCP_NAME="acme-docs", MCP_DESCRIPTION="the Acme handbook"))
    assert endpoint.legacy("initialize").result["serverInfo"]["name"] == "acme-docs"
    assert "the Acme handbook" in endpoint.modern("server/discover").result["instructions"]
    assert all("the Acme handbook" in tool["description"] for tool in tools(endpoint).values())


def test_wrong_setting_is_an_error_that_names_it() -> None:
    reply = Endpoint(FakedContainer(MCP_NAME="a" * 101)).legacy("tools/list")
    assert (reply.status, reply.code) == (500, -32603)
    assert "MCP_NAME" in reply.json["error"]["message"]


def test_hits_are_in_the_order_of_their_scores() -> None:
    assert [hit.id for hit in HITS] == [1, 2]
