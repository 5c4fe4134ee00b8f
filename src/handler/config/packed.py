"""PASSAGE_SETTINGS: several settings in one environment variable, template.yaml's parameter `Settings`."""

import re
from collections.abc import Collection, Iterator, Mapping

VARIABLE = "PASSAGE_SETTINGS"

_SEPARATOR = re.compile(r"\s*[\n;,]\s*(?=\w+=)")
"""Between two settings. A comma, semicolon or line break without `NAME=` after it belongs to the value."""


def unpack(environ: Mapping[str, str]) -> dict[str, str]:
    """The settings of PASSAGE_SETTINGS by name. Anything wrong with it is for `problems` to say."""
    return dict(_pairs(environ))


def problems(environ: Mapping[str, str], known: Collection[str]) -> Iterator[str]:
    """What is wrong with PASSAGE_SETTINGS as a whole: its form, unknown names, and settings that are set twice.

    Args:
        known: the names of all settings.
    """
    seen: set[str] = set()
    for name, _ in _pairs(environ):
        if not re.fullmatch(r"\w+", name):
            yield f"{VARIABLE}: must be NAME=value pairs, one a line or separated by commas or semicolons"
        elif name not in known:
            yield f"{VARIABLE}: there is no setting {name}"
        elif name in seen:
            yield f"{VARIABLE}: has {name} twice"
        elif environ.get(name, "").strip():
            yield f"{name}: is set as a variable and in {VARIABLE}; set it in one place"
        seen.add(name)


def _pairs(environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    text = environ.get(VARIABLE, "").strip().rstrip(";,")
    for pair in _SEPARATOR.split(text) if text else ():
        name, equals, value = pair.partition("=")
        yield name.strip() if equals else "", value.strip()
