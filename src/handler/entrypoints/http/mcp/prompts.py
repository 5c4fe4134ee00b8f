"""The prompt that MCP clients show to people: answer a question from the documentation, with citations."""

from collections.abc import Mapping
from typing import Any

from handler.entrypoints.http.mcp.protocol import INVALID_PARAMS, Refused
from handler.entrypoints.http.mcp.tools import Endpoint, subject

NAME = "answer-from-docs"


def list_prompts(endpoint: Endpoint) -> list[dict[str, Any]]:
    """The definitions of the prompts."""
    question = {"name": "question", "description": "What you want to know.", "required": True}
    words = f"Answers a question from {subject(endpoint)}, with the pages it comes from."
    return [{"name": NAME, "title": "Answer from the docs", "description": words, "arguments": [question]}]


def get_prompt(params: Mapping[str, Any], endpoint: Endpoint) -> dict[str, Any]:
    """The result of `prompts/get`.

    Raises:
        Refused: there is no such prompt, or its question is missing.
    """
    arguments = params.get("arguments")
    question = arguments.get("question") if isinstance(arguments, Mapping) else None
    if params.get("name") != NAME or not isinstance(question, str):
        raise Refused(INVALID_PARAMS, f"There is one prompt, {NAME}, and its argument 'question' is text.")
    text = (
        f"Answer the question below from {subject(endpoint)} alone. Search it with search_docs, and read more with "
        "fetch where a passage is not enough. Cite the URL of each passage that you use. If no passage answers the "
        f"question, say so.\n\n{question}"
    )
    return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}
