"""One line for a person about each question that `passage serve` answers."""

import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs

from passage.local.serve import Handler

QUESTION = ("text", "query", "question", "query_text")


def log_questions(handler: Handler, say: Callable[[str], object]) -> Handler:
    """The handler; `say` gets a line after each question or error, as in `200  66 ms  3 passages`.

    The line has the question only with LOG_QUERY_TEXT, as the function's log.
    """
    shows_text = os.environ.get("LOG_QUERY_TEXT", "").lower() in ("1", "true", "yes", "on")

    def tell(event: dict[str, Any], context: Any) -> dict[str, Any]:
        started = time.perf_counter()
        answer = handler(event, context)
        line = _line(event, answer, shows_text=shows_text)
        if line:
            say(f"{answer['statusCode']}  {(time.perf_counter() - started) * 1000:.0f} ms  {line}")
        return answer

    return tell


def _line(event: Mapping[str, Any], answer: Mapping[str, Any], *, shows_text: bool) -> str:
    """What the line says; empty for a request that is no question and did not fail."""
    body = _object(answer.get("body"))
    if answer["statusCode"] >= 400:
        said = body.get("error") or body.get("message") or ""
        return str(said.get("message", "") if isinstance(said, dict) else said)
    passages = body.get("results", body.get("chunks"))
    if not event["rawPath"].endswith("/query") or not isinstance(passages, list):
        return ""
    count = "1 passage" if len(passages) == 1 else f"{len(passages)} passages"
    given = _object(event.get("body")) or {
        name: values[0] for name, values in parse_qs(event["rawQueryString"]).items()
    }
    question = next((given[name] for name in QUESTION if isinstance(given.get(name), str)), "")
    return f"{count}  {json.dumps(question, ensure_ascii=False)}" if shows_text else count


def _object(text: Any) -> dict[str, Any]:
    with suppress(TypeError, ValueError, RecursionError):
        read = json.loads(text)
        return read if isinstance(read, dict) else {}
    return {}
