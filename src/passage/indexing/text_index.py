"""The index over a payload's text that ranks by BM25: its field, its language, and its form for each engine.

The tokenizer `multilingual` finds Chinese and Japanese words and is as good in English. One index has one stemmer,
so a site in several languages gets no stemmer.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from handler.adapters.qdrant.text_search import definition
from handler.config.payload_keys import RANKED_KEY
from handler.config.profiles import Profile
from passage.indexing import stored

if TYPE_CHECKING:
    import qdrant_edge
    from qdrant_client import models

DEFAULT_LANGUAGE = "english"
"""The language of a site that states none: the default of the common generators."""

STEMMED: Mapping[str, str] = {
    "ar": "arabic",
    "da": "danish",
    "nl": "dutch",
    "en": "english",
    "fi": "finnish",
    "fr": "french",
    "de": "german",
    "el": "greek",
    "hu": "hungarian",
    "it": "italian",
    "no": "norwegian",
    "nb": "norwegian",
    "nn": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "es": "spanish",
    "sv": "swedish",
    "tr": "turkish",
}
"""Languages with a stemmer and a list of stop words in Qdrant, by their ISO 639-1 code."""


@dataclass(frozen=True, slots=True)
class TextIndex:
    """A scoring text index.

    Attributes:
        language: Qdrant's name for the stemmer and stop words; empty for no stemmer and no stop words.
    """

    field: str
    language: str = DEFAULT_LANGUAGE

    def shown(self) -> dict[str, Any]:
        """The index's definition in Qdrant's REST form (Qdrant, API reference, "Create payload index")."""
        return definition(self.language)

    def for_server(self) -> "models.TextIndexParams":
        from qdrant_client import models  # noqa: PLC0415 - takes a second; only a server needs it

        return models.TextIndexParams.model_validate(self.shown())

    def for_edge(self) -> "qdrant_edge.TextIndexParams":
        import qdrant_edge  # noqa: PLC0415 - as above

        name = self.language.title()
        languages = {getattr(qdrant_edge.Language, name)} if name else set()
        return qdrant_edge.TextIndexParams(
            tokenizer=qdrant_edge.TokenizerType.Multilingual,
            lowercase=True,
            scoring=True,
            stemmer=qdrant_edge.SnowballParams(getattr(qdrant_edge.SnowballLanguage, name)) if name else None,
            stopwords=qdrant_edge.StopwordsSet(languages=languages) if name else None,
        )


def text_index(
    profile: Profile, languages: Mapping[str, int] | None = None, *, with_titles: bool = True
) -> TextIndex | None:
    """The text index of a profile's collection; None where the profile stores no text.

    Args:
        with_titles: whether the points hold the text with the titles above it, which ranks better.
        languages: the number of chunks by stated language (`en`, `pt-BR`, empty for unknown).
    """
    fields = stored.text_keys(profile)
    if not fields:
        return None
    field = RANKED_KEY if with_titles else fields[0]
    codes = {code.lower().replace("_", "-").partition("-")[0] for code in languages or ()} - {""}
    if not codes:
        return TextIndex(field)
    names = {STEMMED.get(code, "") for code in codes}
    return TextIndex(field, names.pop() if len(names) == 1 else "")
