"""Direct invocation: a bare question in, the contract's body out, success or error."""

from collections.abc import Mapping
from time import perf_counter
from typing import Any

from handler.sources.question import Services, answer, as_object, failure


def handle(event: Mapping[str, Any], context: Any, services: Services) -> dict[str, Any]:
    """The contract's answer to a question of one of its profile's forms, with an optional `profile`.

    An error is answered, not raised: the contract's body says what is wrong, Lambda's own only that something was.
    """
    profile, started = None, perf_counter()
    fields = {key: value for key, value in event.items() if key != "profile"}
    try:
        name = event.get("profile")
        profile = services.profile(name if name is None else str(name))
        body = answer(fields, profile, services, services.deadline(context, None)).body
    except Exception as error:  # noqa: BLE001 - the last stop before Lambda's own error
        body = failure(error, services, profile, fields, started).body
    return as_object(body)
