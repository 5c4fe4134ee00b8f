"""What an MCP endpoint offers: tools, whose definitions are in tools.json, a prompt and a resource."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from handler.config.profiles import CountLimit, Profile
from handler.core.deadline import Deadline
from handler.entrypoints.http.call import Call
from handler.entrypoints.http.mcp.protocol import INVALID_PARAMS, Refused
from handler.service.documents import labels, pages
from handler.service.services import Served

SITE = "this documentation site"
"""What the tools search where the deployment does not say it (MCP_DESCRIPTION)."""

ID_CHARACTERS = 512
"""The most characters of a chunk's id."""

NARROWING = {"language": "en", "version": "2.1"}
"""Options of a question that the tools have, each with an example."""

MOST_RESULTS = 20
"""The most passages in one result: more would fill a model's context."""

MOST_CHARACTERS = 32_000
"""The most characters that fetch and get_page return at once, and the usual number: about 8,000 tokens."""

OPTIONAL = ["string", "null"]

PROMPT = "answer-from-docs"

PAGES = "passage://pages"
"""The URI of the resource that lists the index's pages."""

MARKDOWN = "text/markdown"


def has_chunks(call: Call) -> bool:
    """Whether the deployment serves chunks by their id: `search`, `fetch` and `get_chunk` need it.

    Raises:
        ConfigurationError: the settings cannot be read.
    """
    return call.services.settings.chunks != "false"


def subject(call: Call) -> str:
    """What the endpoint searches, in words that follow "search"."""
    return call.services.settings.mcp_description or SITE


def list_tools(call: Call) -> list[dict[str, Any]]:
    """The tools' definitions: those of tools.json, with `{subject}` and each argument that is `{}` filled in.

    They are the same at each call. An argument that the endpoint does not have is left out.

    Raises:
        PassageError: the endpoint's profile does not exist, or a setting is wrong.
    """
    about, own = subject(call), _own_arguments(call)
    tools: list[dict[str, Any]] = json.loads(Path(__file__).with_name("tools.json").read_text("utf-8"))["tools"]
    if not has_chunks(call):
        tools = [tool for tool in tools if tool["name"] == "search_docs"]
        del tools[0]["outputSchema"]["properties"]["results"]["items"]["properties"]["id"]["description"]
    for tool in tools:
        tool["description"] = tool["description"].replace("{subject}", about)
        arguments = tool["inputSchema"]["properties"].items()
        tool["inputSchema"]["properties"] = {
            name: fixed or own[name] for name, fixed in arguments if fixed or name in own
        }
    return tools


def _own_arguments(call: Call) -> dict[str, dict[str, Any]]:
    """The arguments that depend on the endpoint's profile, on the index or on a limit."""
    served = call.services.served(call.profile)
    text, count = served.profile.query.text, count_limit(served.profile)
    question = {
        "type": "string",
        "minLength": text.min,
        "maxLength": text.max,
        "description": "A question, best as a full sentence.",
    }
    bounds = {"minimum": count.min, "maximum": count.max} if count.outside == "reject" else {}
    own: dict[str, dict[str, Any]] = {
        "query": question,
        "question": question,
        "top_k": {
            "type": ["integer", "null"],
            **bounds,
            "description": f"How many passages to return, {count.min} to {count.max}; by default {count.default}.",
        },
        "id": {
            "type": "string",
            "minLength": 1,
            "maxLength": ID_CHARACTERS,
            "description": "An id from search or search_docs, or `previous` or `next` from fetch.",
        },
        "max_length": {
            "type": ["integer", "null"],
            "minimum": 1,
            "maximum": MOST_CHARACTERS,
            "description": f"The most characters to return; by default {MOST_CHARACTERS:,}.",
        },
        **_narrowing(served, call.deadline),
    }
    if call.profile is None:
        names = [each.profile.name for each in call.services.usable_profiles()]
        default = served.profile.name
        words = f"The index to use. Leave it out for the default, {default}, unless the user names another."
        own["profile"] = {"type": OPTIONAL, "enum": [*names, None], "description": words}
    return own


def count_limit(profile: Profile) -> CountLimit:
    """The profile's limit of the number of passages, held to `MOST_RESULTS`."""
    limit = profile.query.count
    most = max(limit.min, min(limit.max, MOST_RESULTS))
    return limit.model_copy(update={"names": ("top_k",), "max": most, "default": min(limit.default, most)})


def _narrowing(served: Served, until: Deadline) -> dict[str, Any]:
    """The arguments for a language and a version, each with the values that the index has; none if it has none.

    Where they cannot be listed, the argument takes any text.
    """
    label = {"type": OPTIONAL, "minLength": 1, "maxLength": 100}
    arguments: dict[str, Any] = {}
    for name, values in labels(served, [name for name in NARROWING if name in served.profile.filters], until).items():
        words = f"The {name} that passages must have. Leave it out unless the user needs one {name}."
        if values is None:
            words = f"{words} As in `{NARROWING[name]}`; passages may state none."
        if values != ():
            choice = label if values is None else {"type": OPTIONAL, "enum": [*values, None]}
            arguments[name] = {**choice, "description": words}
    return arguments


def list_prompts(call: Call) -> list[dict[str, Any]]:
    """The definitions of the prompts."""
    question = {"name": "question", "description": "What you want to know.", "required": True}
    words = f"Answers a question from {subject(call)}, with the pages it comes from."
    return [{"name": PROMPT, "title": "Answer from the docs", "description": words, "arguments": [question]}]


def get_prompt(params: Mapping[str, Any], call: Call) -> dict[str, Any]:
    """The result of `prompts/get`.

    Raises:
        Refused: there is no such prompt, or its question is missing.
    """
    arguments = params.get("arguments")
    question = arguments.get("question") if isinstance(arguments, Mapping) else None
    if params.get("name") != PROMPT or not isinstance(question, str):
        raise Refused(INVALID_PARAMS, f"There is one prompt, {PROMPT}, and its argument 'question' is text.")
    text = (
        f"Answer the question below from {subject(call)} alone. Search it with search_docs, and read more with "
        "fetch where a passage is not enough. Cite the URL of each passage that you use. If no passage answers the "
        f"question, say so.\n\n{question}"
    )
    return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}


def list_resources(call: Call) -> list[dict[str, Any]]:
    """The definition of the page list; nothing where the index is too large for one."""
    if not _pages(call):
        return []
    words = f"The URL of each page of {subject(call)}. Read one with get_page."
    return [{"uri": PAGES, "name": "pages", "title": "All pages", "description": words, "mimeType": MARKDOWN}]


def read_resource(params: Mapping[str, Any], call: Call) -> dict[str, Any]:
    """The result of `resources/read`.

    Raises:
        Refused: there is no such resource.
    """
    listed = _pages(call) if params.get("uri") == PAGES else ()
    if not listed:
        raise Refused(INVALID_PARAMS, "There is no such resource: resources/list has those that there are.")
    text = "".join(f"- <{url}>\n" for url in listed)
    return {"contents": [{"uri": PAGES, "mimeType": MARKDOWN, "text": text}]}


def _pages(call: Call) -> tuple[str, ...]:
    return pages(call.services.served(call.profile), call.deadline)
