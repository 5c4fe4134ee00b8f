"""Calls of tools: read the arguments, ask the service, and write the result or a sentence about the failure."""

from collections.abc import Callable, Mapping
from typing import Any

from handler.config.profiles import CountLimit, Profile, TextLimit
from handler.contracts.fields import check_count, check_text
from handler.core.errors import AnswerTooLarge, InvalidRequest
from handler.entrypoints.mcp.endpoint import Endpoint
from handler.entrypoints.mcp.results import Result, document, failed, fits, listed, reference, succeeded, whole
from handler.entrypoints.mcp.tools import ID_CHARACTERS, NARROWING, has_chunks
from handler.service.answering import Answered, Question, answer, profile_name
from handler.service.chunks import StoredChunk, stored_chunk
from handler.service.failures import failure
from handler.service.services import Served

Arguments = Mapping[str, Any]


def search(arguments: Arguments, endpoint: Endpoint) -> Result:
    """OpenAI's `search`: ids, titles and URLs."""
    return _asked(arguments, ("query",), endpoint, lambda answered: {"results": listed(answered, reference)})


def search_docs(arguments: Arguments, endpoint: Endpoint) -> Result:
    """The passages that answer a question, with their texts."""
    return _asked(
        arguments,
        ("question", "top_k", *NARROWING, *_own(endpoint)),
        endpoint,
        lambda answered: {
            "profile": answered.profile,
            "results": listed(answered, whole),
            "warnings": list(answered.retrieval.warnings),
        },
    )


def fetch(arguments: Arguments, endpoint: Endpoint) -> Result:
    """OpenAI's `fetch`: one passage."""
    return _fetched(arguments, ("id",), endpoint, lambda chunk, _: document(chunk.passage))


def get_chunk(arguments: Arguments, endpoint: Endpoint) -> Result:
    """One stored chunk with its fields."""
    return _fetched(
        arguments,
        ("id", *_own(endpoint)),
        endpoint,
        lambda chunk, profile: {"id": str(chunk.id), "profile": profile.name, "payload": chunk.payload},
    )


CALLS: Mapping[str, Callable[[Arguments, Endpoint], Result]] = {
    "search": search,
    "fetch": fetch,
    "search_docs": search_docs,
    "get_chunk": get_chunk,
}


def calls(endpoint: Endpoint) -> Mapping[str, Callable[[Arguments, Endpoint], Result]]:
    """The calls of the tools that the endpoint has: only one of them needs no chunk by its id."""
    return CALLS if has_chunks(endpoint) else {"search_docs": search_docs}


def _own(endpoint: Endpoint) -> tuple[str, ...]:
    """The argument for a profile, where the path names none."""
    return ("profile",) if endpoint.profile is None else ()


def _asked(
    arguments: Arguments, names: tuple[str, ...], endpoint: Endpoint, render: Callable[[Answered], Result]
) -> Result:
    """The result of a question; `names` are the tool's arguments, the question first."""

    def read(profile: Profile) -> Mapping[str, Any]:
        _check_names(arguments, names)
        limits = profile.query
        count = arguments.get("top_k")
        narrowed = {name: arguments[name] for name in NARROWING if arguments.get(name) is not None}
        fields = {limits.text.names[0]: _question(arguments, names[0], limits.text), **narrowed}
        return fields if count is None else {**fields, limits.count.names[0]: _whole_number(count, limits.count)}

    question = Question(read, _profile(arguments, names, endpoint))
    (outcome,) = answer([question], endpoint.services.served, endpoint.until())
    if not isinstance(outcome, Answered):
        return failed(outcome.error)
    return succeeded(render(outcome.shortened(lambda shorter: fits(render(shorter), endpoint))))


def _fetched(
    arguments: Arguments, names: tuple[str, ...], endpoint: Endpoint, render: Callable[[StoredChunk, Profile], Result]
) -> Result:
    served: Served | None = None
    try:
        served = endpoint.services.served(_profile(arguments, names, endpoint))
        _check_names(arguments, names)
        found = render(stored_chunk(served, _chunk_id(arguments), endpoint.until()), served.profile)
        if not fits(found, endpoint):
            raise AnswerTooLarge(f"The chunk is too large: a response carries up to {endpoint.room:,} bytes here.")
    except Exception as error:  # noqa: BLE001 - every failure of a tool is a result that the model can read
        return failed(failure(error, endpoint.services.served, served).error)
    return succeeded(found)


def _profile(arguments: Arguments, names: tuple[str, ...], endpoint: Endpoint) -> str | None:
    return profile_name(arguments.get("profile")) if "profile" in names else endpoint.profile


def _check_names(arguments: Arguments, names: tuple[str, ...]) -> None:
    if not arguments.keys() <= set(names):
        raise InvalidRequest(f"An argument is unknown: the arguments are {', '.join(names)}.")


def _question(arguments: Arguments, name: str, limit: TextLimit) -> str:
    text = arguments.get(name)
    if not isinstance(text, str):
        raise InvalidRequest(f"'{name}' must be text: a question of {limit.min} to {limit.max:,} characters.")
    return check_text(limit.model_copy(update={"names": (name,)}), text)


def _whole_number(count: object, limit: CountLimit) -> int:
    if isinstance(count, bool) or not isinstance(count, int | float) or count != count // 1:
        raise InvalidRequest(f"'top_k' must be a whole number, {limit.min} to {limit.max}.")
    return check_count(limit.model_copy(update={"names": ("top_k",)}), int(count))


def _chunk_id(arguments: Arguments) -> str:
    chunk = arguments.get("id")
    if not isinstance(chunk, str) or not 0 < len(chunk) <= ID_CHARACTERS:
        raise InvalidRequest("'id' must be text: an id from the results of search or search_docs.")
    return chunk
