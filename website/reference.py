"""Reference pages that are written from the code: the HTTP API from its OpenAPI document, and the profiles."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from handler.config import profiles
from handler.config.profiles import Profile
from handler.entrypoints.http.routes import document

METHODS = ("get", "post")
LIMITS = {"minimum": "at least", "maximum": "at most", "maxLength": "at most", "default": "default"}


def pages() -> dict[str, str]:
    """Each page's Markdown, by its path under docs/."""
    return {"reference/api.md": _api(document("query-response")), "reference/profiles.md": _profiles()}


def home(readme: Path) -> str:
    """The README as the first page. Its links start at the repository's root, the site's at docs/."""

    def moved(match: re.Match[str]) -> str:
        target = match.group(1)
        if target.startswith("docs/") and target.endswith("/"):  # a folder is no page: link to its first one
            target += min(path.name for path in (readme.parent / target).glob("*.md"))
        return f"]({target.removeprefix('docs/') if target.startswith('docs/') else f'../{target}'})"

    return re.sub(r"\]\((?!https?:|#)([^)\s]+)\)", moved, readme.read_text(encoding="utf-8"))


def _api(described: Mapping[str, Any]) -> str:
    lines = [
        "# HTTP API",
        "",
        "Written from the [OpenAPI document](../openapi.json). A deployment serves it at `/openapi.json`, as a page "
        "at `/docs`.",
        "",
    ]
    for path, operations in sorted(described["paths"].items(), key=lambda item: _place(item[0])):
        for method in METHODS:
            if method in operations:
                lines += _operation(method, path, operations[method])
    return "\n".join(lines)


def _place(path: str) -> tuple[int, str]:
    """Questions first, then feedback, then what is stored, then the service itself."""
    ends = ("query", "feedback", "{id}", "collection")
    last = path.rsplit("/", 1)[1]
    return ends.index(last) if last in ends else len(ends), path if path.startswith("/profiles/") else ""


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> Iterator[str]:
    yield f"## `{method.upper()} {path}`"
    yield ""
    yield operation.get("summary", "")
    yield ""
    if operation.get("description"):
        yield operation["description"]
        yield ""
    parameters = operation.get("parameters", ())
    if parameters:
        yield "| parameter | in | type | required | description |"
        yield "|---|---|---|---|---|"
        for each in parameters:
            required = "yes" if each.get("required") else "no"
            yield f"| `{each['name']}` | {each['in']} | {_kind(each)} | {required} | {_cell(each)} |"
        yield ""
    yield "| status | meaning |"
    yield "|---|---|"
    for status, response in operation["responses"].items():
        yield f"| {status} | {_cell(response)} |"
    yield ""
    yield from _example(operation)


def _example(operation: Mapping[str, Any]) -> Iterator[str]:
    """A successful answer, as the document shows it."""
    content = operation["responses"].get("200", {}).get("content", {})
    example = content.get("application/json", {}).get("example")
    if example is not None:
        yield "```json"
        yield json.dumps(example, indent=2, ensure_ascii=False)
        yield "```"
        yield ""


def _kind(parameter: Mapping[str, Any]) -> str:
    if "schema" not in parameter:
        return "JSON"
    schema = parameter["schema"]
    kind = schema.get("type") or " or ".join(each.get("type", "any") for each in schema.get("anyOf", ()))
    limits = [f"{word} {schema[key]}" for key, word in LIMITS.items() if key in schema]
    return ", ".join([kind or "any", *limits])


def _cell(described: Mapping[str, Any]) -> str:
    return " ".join(described.get("description", "").split()).replace("|", "\\|")


def _profiles() -> str:
    lines = [
        "# Profiles",
        "",
        "Written from `src/handler/config/profiles`. A profile is a collection, its payload keys, models and limits.",
        "",
    ]
    for name in profiles.names():
        lines += _profile(profiles.load(name))
    return "\n".join(lines)


def _profile(profile: Profile) -> Iterator[str]:
    asked, count = profile.query.text, profile.query.count
    yield f"## `{profile.name}`"
    yield ""
    yield "| | |"
    yield "|---|---|"
    yield f"| contract | [`{profile.contract}`](../contracts.md#{profile.contract}) |"
    stored = profile.collection
    yield f"| collection | `{stored.name}`, {stored.dimension} dimensions, {stored.distance} |"
    yield f"| model | `{profile.embedding.model}` ({profile.embedding.provider}) |"
    yield f"| question | {_names(asked.names)}, {asked.min} to {asked.max} characters |"
    limits = f"{count.min} to {count.max}, {count.default} unless asked for; outside: {count.outside}"
    yield f"| passages | {_names(count.names)}, {limits} |"
    yield f"| filters | {_names(tuple(profile.filters)) or 'none'} |"
    yield ""


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)
