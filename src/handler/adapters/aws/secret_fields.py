"""The key in a secret: the whole text, or one field of a JSON object."""

import json
from collections.abc import Mapping

MOST_NAMES, NAME_CHARACTERS = 10, 40
"""How many of a secret's fields a message names, and how much of each name."""


def field_of(text: str, field: str) -> str:
    """The key in a secret: the whole text, or one field of a JSON object.

    Raises:
        ValueError: the secret has no such field, or is an object and `field` is empty. The message holds the names of
            its fields, never their values: a secret can hold the keys of other services, too.
    """
    try:
        secret = json.loads(text)
    except (ValueError, RecursionError):
        secret = None
    if not isinstance(secret, dict):
        if field:
            raise ValueError(
                f"is not a JSON object, so it has no field '{field}': leave #{field} out, or store an object"
            )
        return text
    if not field:
        raise ValueError(f"is a JSON object: name the field of the key after a #. {_names_of(secret)}")
    value = secret.get(field)
    if not isinstance(value, str):
        raise ValueError(f"has no text in a field '{field}'. {_names_of(secret)}")
    return value


def _names_of(secret: Mapping[str, object]) -> str:
    names = [name if len(name) <= NAME_CHARACTERS else f"{name[:NAME_CHARACTERS]}…" for name in secret]
    if not names:
        return "It has no fields"
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"Its fields are {', '.join(names[:MOST_NAMES])}{more}"
