"""The Cohere models that the emulators serve: those of `handler.config.providers` that are not retired."""

from collections.abc import Mapping

from handler.config.providers import PROVIDERS, Model


def _served(provider: str, *, embeds: bool) -> Mapping[str, Model]:
    return {
        model.name: model for model in PROVIDERS[provider].models if model.embeds is embeds and model.state != "retired"
    }


EMBED_MODELS = _served("cohere", embeds=True)
RERANK_MODELS = _served("cohere", embeds=False)
BEDROCK_EMBED_MODELS = _served("bedrock", embeds=True)
BEDROCK_RERANK_MODELS = _served("bedrock", embeds=False)
