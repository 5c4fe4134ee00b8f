"""The passages of an answer as Markdown, for clients that give a model the text alone."""

from typing import Any


def passages_as_markdown(result: dict[str, Any]) -> str:
    """The result of `search_docs` as a person would write it: each passage under its title, with URL and id."""
    warnings = [f"> {warning}" for warning in result["warnings"]]
    passages = [
        f"## {number}. {passage['title']}\n\n{passage['url']} (id {passage['id']})\n\n{passage['text'].strip()}"
        for number, passage in enumerate(result["results"], start=1)
    ]
    return "\n\n".join([*warnings, *passages] or ["No passage fits."])
