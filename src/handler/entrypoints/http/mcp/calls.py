"""Calls of tools: read the arguments, ask the service, and give the result. `results` says what is in it."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from handler.config.payload_keys import KeyPath
from handler.config.profiles import CountLimit, Profile, TextLimit
from handler.contracts.fields import as_whole, check_count, check_text
from handler.core.errors import AnswerTooLarge, InvalidRequest, PassageError
from handler.core.retrieve import NO_NOISE
from handler.entrypoints.http.call import Call
from handler.entrypoints.http.mcp import results
from handler.entrypoints.http.mcp.features import ID_CHARACTERS, MOST_CHARACTERS, NARROWING, count_limit, has_chunks
from handler.entrypoints.http.mcp.results import Result
from handler.entrypoints.limits import sent_bytes
from handler.service.answering import Answered, Question, answer, profile_name
from handler.service.documents import page, section
from handler.service.failures import failure
from handler.service.services import Served, find_chunk, shown_payload

Arguments = Mapping[str, Any]

PART = ("max_length", "start_index")
OPTIONS = (*NARROWING, "search")
"""The options of a question that are arguments of a tool."""

TEXT_NAMES = ("query", "question", "text")
"""The names of a question, which models mix up: each tool takes them all."""

SHOWN_CHARACTERS = 40
"""The longest unknown argument that an error names: its name can be any text."""

DIGITS = 10

UNCLEAR = "No clear answer: these are the nearest passages."

ENVELOPE_BYTES = 1_024
"""Room for the message around a result."""


def search(arguments: Arguments, call: Call) -> Result:
    """OpenAI's `search`: ids, titles and URLs."""
    return _ask(
        arguments,
        ("query",),
        call,
        lambda answered: {"results": list(map(results.show_reference, answered.retrieval.passages))},
    )


def search_docs(arguments: Arguments, call: Call) -> Result:
    """The passages that answer a question, with their texts."""
    return _ask(
        arguments,
        ("question", "top_k", *OPTIONS, *_profile_argument(call)),
        call,
        lambda answered: {
            "profile": answered.profile,
            "results": list(map(results.show_passage, answered.retrieval.passages)),
            "warnings": [*_warnings(answered), *_why_empty(answered, arguments, call)],
        },
        results.write_passages,
    )


def fetch(arguments: Arguments, call: Call) -> Result:
    """OpenAI's `fetch`: one passage, in its section."""

    def read(served: Served) -> Result:
        start, most = _read_part(arguments)
        passage, _ = find_chunk(served, _read_id(arguments), call.deadline)
        return results.show_document(section(served, passage, call.deadline, start=start, most=most))

    return _look_up(arguments, ("id", *PART), call, read)


def get_page(arguments: Arguments, call: Call) -> Result:
    """A page by its URL."""

    def read(served: Served) -> Result:
        start, most = _read_part(arguments)
        url = arguments.get("url")
        if not isinstance(url, str) or not url:
            raise InvalidRequest("'url' must be text: a page's URL, from the results of search or search_docs.")
        found = page(served, url, call.deadline, start=start or 0, most=most)
        return results.show_document(found, whole_page=True)

    return _look_up(arguments, ("url", *PART), call, read)


def get_chunk(arguments: Arguments, call: Call) -> Result:
    """One stored chunk with its fields."""

    def read(served: Served) -> Result:
        chunk, _ = find_chunk(served, _read_id(arguments), call.deadline)
        return {"id": str(chunk.id), "profile": served.profile.name, "payload": shown_payload(served, chunk)}

    return _look_up(arguments, ("id", *_profile_argument(call)), call, read)


CALLS: Mapping[str, Callable[[Arguments, Call], Result]] = {
    "search": search,
    "fetch": fetch,
    "search_docs": search_docs,
    "get_page": get_page,
    "get_chunk": get_chunk,
}


def available_calls(call: Call) -> Mapping[str, Callable[[Arguments, Call], Result]]:
    """The calls of the tools that the endpoint has: only one of them needs no chunk by its id."""
    return CALLS if has_chunks(call) else {"search_docs": search_docs}


def _profile_argument(call: Call) -> tuple[str, ...]:
    """The argument for a profile, where the path names none."""
    return ("profile",) if call.profile is None else ()


def _ask(
    arguments: Arguments,
    names: tuple[str, ...],
    call: Call,
    render: Callable[[Answered], Result],
    write: Callable[[Result], str] | None = None,
) -> Result:
    """The result of a question.

    Args:
        names: the tool's arguments, the question first.
        write: writes a result as text; None for its JSON.
    """

    def read(profile: Profile) -> Mapping[str, Any]:
        _check_names(arguments, names, TEXT_NAMES)
        limits = profile.query
        count = arguments.get("top_k")
        options = {name: arguments[name] for name in OPTIONS if arguments.get(name) is not None}
        options["fit"] = "top_k" in names  # `search` shows no warnings
        fields = {limits.text.names[0]: _read_question(arguments, names[0], limits.text), **options}
        return fields if count is None else {**fields, limits.count.names[0]: _read_count(count, count_limit(profile))}

    question = Question(read, _read_profile(arguments, names, call))
    (outcome,) = answer([question], call.services.served, call.deadline)
    if not isinstance(outcome, Answered):
        return results.write_failure(outcome.error)
    return results.write_result(render(outcome.shorten(lambda shorter: _fits(render(shorter), call))), write)


def _warnings(answered: Answered) -> list[str]:
    """An answer's warnings, and that it is no clear one. An index that cannot say it is the operator's matter."""
    first = next(iter(answered.retrieval.passages), None)
    unclear = [UNCLEAR] if first is not None and first.fit == "none" else []
    return unclear + [warning for warning in answered.retrieval.warnings if warning != NO_NOISE]


def _why_empty(answered: Answered, arguments: Arguments, call: Call) -> list[str]:
    """Why a language or a version emptied an answer: what the best passage without them states."""
    given = [name for name in NARROWING if arguments.get(name) is not None]
    if answered.retrieval.passages or answered.retrieval.left_out or not given:
        return []
    wide = {name: value for name, value in arguments.items() if name not in NARROWING}
    found = search_docs(wide, call).get("structuredContent", {}).get("results")
    if not found:
        return []
    try:
        best, _ = answered.served.retriever.fetch(found[0]["id"], call.deadline, with_vectors=False)
    except PassageError:
        return []
    filters = answered.served.profile.filters
    keys = {name: map(KeyPath.of, filters[name]) for name in given}
    stated = {name: next(filter(None, (path.value(best.payload) for path in keys[name])), None) for name in given}
    said = [f"no {name}" if value is None else f"the {name} {value}" for name, value in stated.items()]
    return [f"No passage that fits has the {' and '.join(given)} asked for. The best one states {' and '.join(said)}."]


def _look_up(arguments: Arguments, names: tuple[str, ...], call: Call, read: Callable[[Served], Result]) -> Result:
    served: Served | None = None
    try:
        served = call.services.served(_read_profile(arguments, names, call))
        _check_names(arguments, names)
        result = read(served)
        if not _fits(result, call):
            raise AnswerTooLarge(f"The chunk is too large: a response carries up to {call.room:,} bytes here.")
    except Exception as error:  # noqa: BLE001 - every failure of a tool is a result that the model can read
        return results.write_failure(failure(error, call.services.served, served).error)
    return results.write_result(result)


def _read_profile(arguments: Arguments, names: tuple[str, ...], call: Call) -> str | None:
    return profile_name(arguments.get("profile")) if "profile" in names else call.profile


def _check_names(arguments: Arguments, names: tuple[str, ...], others: tuple[str, ...] = ()) -> None:
    unknown = next((name for name in arguments if name not in (*names, *others)), None)
    if unknown is not None:
        shown = f"'{unknown}'" if unknown.isidentifier() and len(unknown) <= SHOWN_CHARACTERS else "An argument"
        raise InvalidRequest(f"{shown} is unknown here: the arguments are {', '.join(names)}.")


def _read_question(arguments: Arguments, name: str, limit: TextLimit) -> str:
    given = [arguments[each] for each in TEXT_NAMES if arguments.get(each) is not None]
    if len(given) > 1:
        raise InvalidRequest(f"{', '.join(TEXT_NAMES)} mean the same: send '{name}' alone.")
    if not given or not isinstance(given[0], str):
        raise InvalidRequest(f"'{name}' must be text: a question of {limit.min} to {limit.max:,} characters.")
    return check_text(limit.model_copy(update={"names": (name,)}), given[0])


def _read_count(count: object, limit: CountLimit) -> int:
    number = _whole_number(count)
    if number is None:
        raise InvalidRequest(f"'top_k' must be a whole number, {limit.min} to {limit.max}.")
    return check_count(limit, number)


def _read_part(arguments: Arguments) -> tuple[int | None, int]:
    """Where a text shall start, None where that is left open, and how many characters of it to return."""

    def read(name: str, least: int) -> int | None:
        value = arguments.get(name)
        number = None if value is None else _whole_number(value)
        if value is not None and (number is None or number < least):
            raise InvalidRequest(f"'{name}' must be a whole number, {least} or more.")
        return number

    return read("start_index", 0), min(read("max_length", 1) or MOST_CHARACTERS, MOST_CHARACTERS)


def _whole_number(value: object) -> int | None:
    """A whole number, which models also send as text; None for anything else."""
    if isinstance(value, str) and value.isdecimal() and len(value) < DIGITS:
        return int(value)
    number = as_whole(value)
    return number if isinstance(number, int) and not isinstance(number, bool) else None


def _read_id(arguments: Arguments) -> str:
    chunk = arguments.get("id")
    if not isinstance(chunk, str) or not 0 < len(chunk) <= ID_CHARACTERS:
        raise InvalidRequest("'id' must be text: an id from the results of search or search_docs.")
    return chunk


def _fits(result: Result, call: Call) -> bool:
    """Whether a response can carry the result."""
    message = json.dumps(results.write_result(result), ensure_ascii=False)
    return sent_bytes(message, utf8=call.services.runtime.writes_utf8) <= call.room - ENVELOPE_BYTES
