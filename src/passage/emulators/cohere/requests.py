"""Parts of Cohere requests that all endpoints share, and Cohere's error messages."""

from collections.abc import Iterable, Mapping
from typing import Any

from aiohttp import web

from handler.config.providers import PROVIDERS, Model
from passage.emulators.embedding import replace_lone_surrogates
from passage.emulators.server import ApiError, parse_json

DENIED = "emulator-denied-word"
"""A text with this word is refused, as the real service does for the words of its deny-list."""


def find_models(provider: str, *, embeds: bool) -> Mapping[str, Model]:
    """The models that an emulator serves, by name: those of a provider that are not retired."""
    models = (model for model in PROVIDERS[provider].models if model.state != "retired")
    return {model.name: model for model in models if model.embeds is embeds}


def invalid(message: str) -> ApiError:
    """Cohere's error for an invalid request."""
    return ApiError(400, f"invalid request: {message}")


def no_such_model(name: str) -> ApiError:
    """Cohere's error for an unknown or retired model."""
    advice = "make sure the correct model ID was used and that you have access to the model."
    return ApiError(404, f"model '{name}' not found, {advice}")


def check_words(texts: Iterable[str]) -> None:
    """Refuse a text with a word of the deny-list."""
    if any(DENIED in text for text in texts):
        raise ApiError(498, "blocked input: Enter a valid token")


async def read_object(request: web.Request) -> dict[str, Any]:
    """The JSON object in a request."""
    try:
        body = parse_json(await request.read())
    except ValueError as error:
        raise invalid(f"body is not valid JSON: {error}") from error
    if not isinstance(body, dict):
        raise invalid("body must be a JSON object")
    return body


def text_of(body: dict[str, Any], key: str) -> str:
    """A required string."""
    value = body.get(key)
    if not isinstance(value, str) or not value:
        raise invalid(f"{key} is required and must be a string")
    return replace_lone_surrogates(value)


def strings_of(body: dict[str, Any], key: str) -> list[str]:
    """A list of strings, empty when absent."""
    value = body.get(key)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise invalid(f"{key} must be a list of strings")
    return [replace_lone_surrogates(one) for one in value]
