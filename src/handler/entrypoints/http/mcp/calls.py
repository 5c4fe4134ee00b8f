"""Calls of tools: read the arguments, ask the service, and write the result or a sentence about the failure."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from handler.config.profiles import CountLimit, Profile, TextLimit
from handler.contracts.fields import check_count, check_text, json_safe
from handler.core.errors import AnswerTooLarge, InvalidRequest, PassageError
from handler.core.model import Passage
from handler.entrypoints.http.mcp.tools import ID_CHARACTERS, NARROWING, Endpoint, has_chunks
from handler.entrypoints.http.status import retry_after
from handler.entrypoints.limits import sent_bytes
from handler.service.answering import Answered, Question, answer, profile_name
from handler.service.chunks import StoredChunk, stored_chunk
from handler.service.failures import failure
from handler.service.services import Served

Arguments = Mapping[str, Any]
Result = dict[str, Any]

OPTIONS = (*NARROWING, "search")
"""The options of a question that are arguments of a tool."""

ENVELOPE_BYTES = 1_024
"""Room for the message around a result."""


def search(arguments: Arguments, endpoint: Endpoint) -> Result:
    """OpenAI's `search`: ids, titles and URLs."""
    return _ask(
        arguments, ("query",), endpoint, lambda answered: {"results": _list_passages(answered, _show_reference)}
    )


def search_docs(arguments: Arguments, endpoint: Endpoint) -> Result:
    """The passages that answer a question, with their texts."""
    return _ask(
        arguments,
        ("question", "top_k", *OPTIONS, *_profile_argument(endpoint)),
        endpoint,
        lambda answered: {
            "profile": answered.profile,
            "results": _list_passages(answered, _show_passage),
            "warnings": list(answered.retrieval.warnings),
        },
    )


def fetch(arguments: Arguments, endpoint: Endpoint) -> Result:
    """OpenAI's `fetch`: one passage."""
    return _fetch_chunk(arguments, ("id",), endpoint, lambda chunk, _: _show_document(chunk.passage))


def get_chunk(arguments: Arguments, endpoint: Endpoint) -> Result:
    """One stored chunk with its fields."""
    return _fetch_chunk(
        arguments,
        ("id", *_profile_argument(endpoint)),
        endpoint,
        lambda chunk, profile: {"id": str(chunk.id), "profile": profile.name, "payload": chunk.payload},
    )


CALLS: Mapping[str, Callable[[Arguments, Endpoint], Result]] = {
    "search": search,
    "fetch": fetch,
    "search_docs": search_docs,
    "get_chunk": get_chunk,
}


def available_calls(endpoint: Endpoint) -> Mapping[str, Callable[[Arguments, Endpoint], Result]]:
    """The calls of the tools that the endpoint has: only one of them needs no chunk by its id."""
    return CALLS if has_chunks(endpoint) else {"search_docs": search_docs}


def _profile_argument(endpoint: Endpoint) -> tuple[str, ...]:
    """The argument for a profile, where the path names none."""
    return ("profile",) if endpoint.profile is None else ()


def _ask(
    arguments: Arguments, names: tuple[str, ...], endpoint: Endpoint, render: Callable[[Answered], Result]
) -> Result:
    """The result of a question; `names` are the tool's arguments, the question first."""

    def read(profile: Profile) -> Mapping[str, Any]:
        _check_names(arguments, names)
        limits = profile.query
        count = arguments.get("top_k")
        options = {name: arguments[name] for name in OPTIONS if arguments.get(name) is not None}
        fields = {limits.text.names[0]: _read_question(arguments, names[0], limits.text), **options}
        return fields if count is None else {**fields, limits.count.names[0]: _read_count(count, limits.count)}

    question = Question(read, _read_profile(arguments, names, endpoint))
    (outcome,) = answer([question], endpoint.services.served, endpoint.until())
    if not isinstance(outcome, Answered):
        return _write_failure(outcome.error)
    return _write_result(render(outcome.shortened(lambda shorter: _fits(render(shorter), endpoint))))


def _fetch_chunk(
    arguments: Arguments, names: tuple[str, ...], endpoint: Endpoint, render: Callable[[StoredChunk, Profile], Result]
) -> Result:
    served: Served | None = None
    try:
        served = endpoint.services.served(_read_profile(arguments, names, endpoint))
        _check_names(arguments, names)
        result = render(stored_chunk(served, _read_id(arguments), endpoint.until()), served.profile)
        if not _fits(result, endpoint):
            raise AnswerTooLarge(f"The chunk is too large: a response carries up to {endpoint.room:,} bytes here.")
    except Exception as error:  # noqa: BLE001 - every failure of a tool is a result that the model can read
        return _write_failure(failure(error, endpoint.services.served, served).error)
    return _write_result(result)


def _read_profile(arguments: Arguments, names: tuple[str, ...], endpoint: Endpoint) -> str | None:
    return profile_name(arguments.get("profile")) if "profile" in names else endpoint.profile


def _check_names(arguments: Arguments, names: tuple[str, ...]) -> None:
    if not arguments.keys() <= set(names):
        raise InvalidRequest(f"An argument is unknown: the arguments are {', '.join(names)}.")


def _read_question(arguments: Arguments, name: str, limit: TextLimit) -> str:
    text = arguments.get(name)
    if not isinstance(text, str):
        raise InvalidRequest(f"'{name}' must be text: a question of {limit.min} to {limit.max:,} characters.")
    return check_text(limit.model_copy(update={"names": (name,)}), text)


def _read_count(count: object, limit: CountLimit) -> int:
    if isinstance(count, bool) or not isinstance(count, int | float) or count != count // 1:
        raise InvalidRequest(f"'top_k' must be a whole number, {limit.min} to {limit.max}.")
    return check_count(limit.model_copy(update={"names": ("top_k",)}), int(count))


def _read_id(arguments: Arguments) -> str:
    chunk = arguments.get("id")
    if not isinstance(chunk, str) or not 0 < len(chunk) <= ID_CHARACTERS:
        raise InvalidRequest("'id' must be text: an id from the results of search or search_docs.")
    return chunk


def _list_passages(answered: Answered, render: Callable[[Passage], Result]) -> list[Result]:
    """An answer's passages, each as `render` shows it."""
    return [render(passage) for passage in answered.retrieval.passages]


def _show_reference(passage: Passage) -> Result:
    """A result of OpenAI's `search`: where a passage is, without its text."""
    return {"id": str(passage.id), "title": _title(passage), "url": passage.url}


def _show_passage(passage: Passage) -> Result:
    """A result of `search_docs`: a passage with its text."""
    return {
        **_show_reference(passage),
        "headings": list(passage.headings),
        "text": passage.text,
        "score": passage.score,
    }


def _show_document(passage: Passage) -> Result:
    """The result of OpenAI's `fetch`."""
    place = {"headings": " > ".join(passage.headings), "chunk_id": passage.chunk_id or ""}
    return {
        "id": str(passage.id),
        "title": _title(passage),
        "text": passage.text,
        "url": passage.url,
        "metadata": {name: value for name, value in place.items() if value},
    }


def _title(passage: Passage) -> str:
    """The page's title and the nearest heading; the URL where neither is stored."""
    parts = dict.fromkeys(part for part in (passage.title, *passage.headings[-1:]) if part)
    return ": ".join(parts) or passage.url


def _write_result(result: Result) -> Result:
    """A result as data and, for clients that read only text, as JSON in one text."""
    safe = json_safe(result)
    return {
        "content": [{"type": "text", "text": json.dumps(safe, ensure_ascii=False)}],
        "structuredContent": safe,
        "isError": False,
    }


def _write_failure(error: PassageError) -> Result:
    """A failure in words that a model can act on. They never hold a key or a service's URL (see PassageError)."""
    seconds = retry_after(error)
    wait = "" if seconds is None else f" Try again in {seconds} seconds."
    return {"content": [{"type": "text", "text": f"{error}{wait}"}], "isError": True}


def _fits(result: Result, endpoint: Endpoint) -> bool:
    """Whether a response can carry the result."""
    message = json.dumps(_write_result(result), ensure_ascii=False)
    return sent_bytes(message, utf8=endpoint.services.writes_utf8) <= endpoint.room - ENVELOPE_BYTES
