"""An MCP endpoint, and its tools as clients see them: names, descriptions and schemas. The order is fixed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from handler.bootstrap.container import Container
from handler.config.profiles import CountLimit, Profile
from handler.core.deadline import Deadline
from handler.service.documents import labels
from handler.service.services import Served

SITE = "this documentation site"
"""What the tools search where the deployment does not say it (MCP_DESCRIPTION)."""

ID_CHARACTERS = 512
"""The most characters of a chunk's id."""

STRING: dict[str, Any] = {"type": "string"}
OPTIONAL = ["string", "null"]
LABEL = {"type": OPTIONAL, "minLength": 1, "maxLength": 100}
NARROWING = {"language": "en", "version": "2.1"}
"""Options of a question that the tools have, each with an example."""
SEARCH = {
    "type": OPTIONAL,
    "enum": ["words", "titles", None],
    "description": "Leave it out to search by meaning. `words` finds exact words, such as names and error codes, and "
    "`titles` a page or section by the beginning of its title. Both are faster, and scores are then 0.",
}

MOST_RESULTS = 20
"""The most passages in one result: more would fill a model's context."""

MOST_CHARACTERS = 32_000
"""The most characters that fetch and get_page return at once, and the usual number: about 8,000 tokens."""

READ_ONLY = {"readOnlyHint": True, "openWorldHint": False}

HEADINGS = {"type": "array", "items": STRING, "description": "The headings above the passage, outermost first."}
WARNINGS = {"type": "array", "items": STRING, "description": "Why the answer is incomplete. Empty for a complete one."}
URL = {**STRING, "description": "Where the passage is published. Cite it."}
TITLE = {**STRING, "description": "The page's title, and the heading above the passage."}

FOUND = {
    "id": {**STRING, "description": "Pass it to fetch."},
    "title": TITLE,
    "url": URL,
}
PART = {
    "max_length": {
        "type": ["integer", "null"],
        "minimum": 1,
        "maximum": MOST_CHARACTERS,
        "description": f"The most characters to return; by default {MOST_CHARACTERS:,}.",
    },
    "start_index": {
        "type": ["integer", "null"],
        "minimum": 0,
        "description": "The character to start at: `next_start_index` of the call before.",
    },
}
"""Arguments for a part of a text."""

PASSAGE = {
    "id": {**STRING, "description": "Pass it to get_chunk, with the same profile."},
    "title": TITLE,
    "url": URL,
    "headings": HEADINGS,
    "text": {**STRING, "description": "The passage, as the site has it."},
    "score": {"type": "number", "description": "How well the passage fits. Compare scores within one answer only."},
}
DOCUMENT = {
    "id": STRING,
    "title": TITLE,
    "text": {**STRING, "description": "The text, as the site has it: of the passage's whole section, or of the page."},
    "url": URL,
    "metadata": {
        "type": "object",
        "additionalProperties": STRING,
        "description": "The headings; `previous` and `next`, the ids of the passages before and after the section; and "
        "`next_start_index`, if the text goes on: call again with it as start_index.",
    },
}
CHUNK = {
    "id": STRING,
    "profile": {**STRING, "description": "The profile that has the chunk."},
    "payload": {"type": "object", "description": "The fields that are stored with the chunk."},
}


@dataclass(frozen=True)
class Endpoint:
    """What a request needs to know about the deployment and the invocation.

    Attributes:
        profile: the profile in the path; None for `/mcp`, where tools ask the default one or take its name.
        until: returns the invocation's deadline. Raises ConfigurationError.
        room: the most bytes of a response's body.
    """

    services: Container
    profile: str | None
    until: Callable[[], Deadline]
    room: int


def has_chunks(endpoint: Endpoint) -> bool:
    """Whether the deployment serves chunks by their id: `search`, `fetch` and `get_chunk` need it.

    Raises:
        ConfigurationError: the settings cannot be read.
    """
    return endpoint.services.settings.chunks != "false"


def subject(endpoint: Endpoint) -> str:
    """What the endpoint searches, in words that follow "search"."""
    return endpoint.services.settings.mcp_description or SITE


def list_tools(endpoint: Endpoint) -> list[dict[str, Any]]:
    """The definitions, the same at each call.

    Raises:
        PassageError: the endpoint's profile does not exist, or a setting is wrong.
    """
    served = endpoint.services.served(endpoint.profile)
    profile = served.profile
    about = subject(endpoint)
    question, count = _text(profile), _count(count_limit(profile))
    chosen = {} if endpoint.profile is not None else {"profile": _profiles(endpoint, profile)}
    chunk_id = {
        **STRING,
        "minLength": 1,
        "maxLength": ID_CHARACTERS,
        "description": "An id from search or search_docs, or `previous` or `next` from fetch.",
    }
    fetchable = has_chunks(endpoint)
    defined = [
        _tool(
            "search",
            "Search the documentation",
            f"Search {about}. Returns the id, title and URL of the passages that fit best, best first, without their "
            "text. Read the promising ones with fetch. To get texts in one call, use search_docs. "
            "An empty list means that no passage fits.",
            {"query": question},
            ["query"],
            {"results": {"type": "array", "items": _object(FOUND)}},
        ),
        _tool(
            "fetch",
            "Read a section",
            f"Read a passage of {about} in its section, by its id from search. Returns text, title and URL, and in "
            "metadata the ids of the passages before and after it.",
            {"id": chunk_id, **PART},
            ["id"],
            DOCUMENT,
        ),
        _tool(
            "search_docs",
            "Ask the documentation",
            f"Find the passages of {about} that answer a question. Returns their texts with URLs, best first. Ask one "
            "thing at a time, in a full sentence, and keep names of functions and options as they are written. "
            "An empty list means that no passage fits: ask in other words before you give up.",
            {"question": question, "top_k": count, **_narrowing(served, endpoint.until()), "search": SEARCH, **chosen},
            ["question"],
            {
                "profile": {**STRING, "description": "The profile that was asked."},
                "results": {"type": "array", "items": _object(PASSAGE if fetchable else {**PASSAGE, "id": STRING})},
                "warnings": WARNINGS,
            },
        ),
        _tool(
            "get_page",
            "Read a page",
            f"Read a whole page of {about} by its URL from search or search_docs. To read one section, use fetch.",
            {"url": {**STRING, "minLength": 1, "description": "A page's URL."}, **PART},
            ["url"],
            DOCUMENT,
        ),
        _tool(
            "get_chunk",
            "Get a stored chunk",
            f"Get one chunk of {about} with the fields that are stored with it, such as its page, position and date. "
            "For its text alone, use fetch.",
            {"id": chunk_id, **chosen},
            ["id"],
            CHUNK,
        ),
    ]
    return defined if fetchable else [tool for tool in defined if tool["name"] == "search_docs"]


def _tool(
    name: str,
    title: str,
    description: str,
    arguments: dict[str, Any],
    required: list[str],
    output: dict[str, Any],
) -> dict[str, Any]:
    return {
        "name": name,
        "title": title,
        "description": description,
        "inputSchema": {
            "type": "object",
            "properties": arguments,
            "required": required,
            "additionalProperties": False,
        },
        "outputSchema": _object(output),
        "annotations": {"title": title, **READ_ONLY},
    }


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    """An object that always has all these properties."""
    return {"type": "object", "properties": properties, "required": list(properties)}


def _text(profile: Profile) -> dict[str, Any]:
    limit = profile.query.text
    words = "A question, best as a full sentence."
    return {**STRING, "minLength": limit.min, "maxLength": limit.max, "description": words}


def count_limit(profile: Profile) -> CountLimit:
    """The profile's limit of the number of passages, held to `MOST_RESULTS`."""
    limit = profile.query.count
    most = max(limit.min, min(limit.max, MOST_RESULTS))
    return limit.model_copy(update={"names": ("top_k",), "max": most, "default": min(limit.default, most)})


def _count(limit: CountLimit) -> dict[str, Any]:
    bounds = {"minimum": limit.min, "maximum": limit.max} if limit.outside == "reject" else {}
    words = f"How many passages to return, {limit.min} to {limit.max}; by default {limit.default}."
    return {"type": ["integer", "null"], **bounds, "description": words}


def _narrowing(served: Served, until: Deadline) -> dict[str, Any]:
    """The arguments for a language and a version, each with the values that the index has; none if it has none.

    Where they cannot be listed, the argument takes any text.
    """
    arguments: dict[str, Any] = {}
    for name, values in labels(served, [name for name in NARROWING if name in served.profile.filters], until).items():
        words = f"The {name} that passages must have. Leave it out unless the user needs one {name}."
        if values is None:
            words = f"{words} As in `{NARROWING[name]}`; passages may state none."
        if values != ():
            choice = LABEL if values is None else {"type": OPTIONAL, "enum": [*values, None]}
            arguments[name] = {**choice, "description": words}
    return arguments


def _profiles(endpoint: Endpoint, default: Profile) -> dict[str, Any]:
    names = [served.profile.name for served in endpoint.services.usable_profiles()]
    words = f"The index to use. Leave it out for the default, {default.name}, unless the user names another."
    return {"type": OPTIONAL, "enum": [*names, None], "description": words}
