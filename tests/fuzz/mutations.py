"""Mutations of sample events: each is seeded, so that a finding can be made again."""

import copy
import json
from random import Random
from typing import Any

DEEP = "nested deeply"
"""Stands for lists within lists, `NESTED` deep: Python could not copy them."""

NESTED = 800

ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 1e308, -0.0, 2**53, 2**64, -(2**63), 10**400, float("nan"), float("inf")),
    *("   ", "\t \n ", "\u3000\u3000\u3000", " * ", "***"),
    *("", " ", "\u200b", "\ud800", "a\udfffb", "\x00", "🤖" * 3, "../..", "%zz", "null", "[", '{"text": "a"}', "5"),
    *(
        DEEP,
        DEEP,
        "aws:sqs",
        "aws:sns",
        "TOKEN",
        "$default",
        "gzip",
        "HEAD",
        "OPTIONS",
        "1e999",
        "NaN",
        "/query",
        "Notification",
    ),
    *({"gt": 5}, {"prefix": "a"}, {"source_url": {"prefix": "h"}, "chunk_index": {"lt": 2}}, 0.5),
    *([], {}, [[]], [None], {"": None}, [5, "a"], {"text": 5}, {"a": {"b": []}}, [{"eventSource": "aws:sqs"}]),
)
TEXTS = ("", "   ", " * ", "***", "a", " e ", "/query", "What is a digital twin?")
"""Values that many fields of a request have."""

KEYS = (
    *("text", "k", "query", "profile", "query_text", "query_vector", "filters", "correlation_id", "Records", "detail"),
    *("detail-type", "source", "requestContext", "http", "elb", "body", "headers", "multiValueHeaders", "httpMethod"),
    *("path", "rawPath", "stage", "version", "isBase64Encoded", "queryStringParameters", "messageId", "eventSource"),
    *("eventSourceARN", "EventSource", "Sns", "Message", "MessageId", "actionGroup", "apiPath", "function", "agent"),
    *("language", "score_threshold", "offset", "max_per_page", "diversity", "unique", "neighbors", "order", "debug"),
    *("parameters", "requestBody", "methodArn", "type", "authorizer", "sourceIp", "requestId", "id", "attributes"),
)
DEPTH = 3_000
"""Deeper than Python's limit of recursion, in text that is read as JSON later."""


def mutated(event: Any, random: Random) -> Any:
    """A copy of `event` with one to six mutations."""
    event = copy.deepcopy(event)
    for _ in range(random.choice((1, 1, 1, 2, 3, 6))):
        event = _mutate(event, random)
    return event


def _mutate(event: Any, random: Random) -> Any:
    """Mutate one place of an event; now and then the whole of it."""
    places = list(_places(event))
    if not places or random.random() < 0.01:
        return random.choice((odd(random), [event], {"text": event}, [event, event]))
    holder, key = random.choice(places)
    match random.randrange(10):
        case 0:
            del holder[key]
        case 1 | 2:
            holder[key] = odd(random)
        case 3:
            holder[key] = random.choice(([holder[key]], {random.choice(KEYS): holder[key]}, [[holder[key]]]))
        case 4:
            other, at = random.choice(places)
            if not _within(holder[key], other) and not _within(other[at], holder):
                holder[key], other[at] = other[at], holder[key]
        case 5 | 6 | 7 if isinstance(holder, dict):
            _add(holder, key, random)
        case 8 if isinstance(holder[key], str):
            holder[key] = _text(holder[key], random)
        case _:
            holder[key] = copy.deepcopy(random.choice(places)[0])
    return event


def _add(fields: dict[str, Any], key: str, random: Random) -> None:
    """Rename a field, add one, or add many of the same value."""
    match random.randrange(3):
        case 0:
            fields[random.choice((*KEYS, "\ud800", ""))] = fields.pop(key)
        case 1:
            fields[random.choice(KEYS)] = odd(random)
        case _:
            fields |= dict.fromkeys((f"f{number}" for number in range(random.choice((3, 30)))), random.choice(TEXTS))


def odd(random: Random) -> Any:
    """A value that its place does not expect."""
    if random.random() < 0.03:
        return random.choice(("[" * DEPTH, '{"text":' * DEPTH, '{"text": ' + "[" * DEPTH + "]" * DEPTH + "}"))
    return copy.deepcopy(random.choice(ODD))


def _text(text: str, random: Random) -> str:
    """Other text: cut, doubled, changed within its JSON, or with an odd character."""
    cut = random.randrange(len(text) + 1)
    if text.startswith("{") and random.random() < 0.7:
        try:
            return json.dumps(_mutate(json.loads(text), random))
        except (ValueError, RecursionError):
            pass
    return random.choice((text[:cut], text + text, text[:cut] + "\ud83d" + text[cut:], text.upper(), f"/dev{text}"))


def _places(value: Any, depth: int = 0) -> Any:
    """Each holder and the key or index of something in it."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield value, key
        if depth < 12:
            yield from _places(inner, depth + 1)


def _within(outer: Any, inner: Any) -> bool:
    """Whether a value holds a holder; exchanging the two would make a circle."""
    if outer is inner:
        return True
    items = outer.values() if isinstance(outer, dict) else outer if isinstance(outer, list) else ()
    return any(_within(item, inner) for item in items)
