"""The indexes over a payload's text that rank by BM25: their fields, their languages, and their form for each engine.

One index has one stemmer, so a site in several languages has one index without a stemmer over all its text, and one
for each language that has one. `handler.core.words` says which words a text has.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from handler.adapters.qdrant.text_search import TextSearch, definition
from handler.config.payload_keys import RANKED_KEY, TITLES_KEY, is_ranked, language_code, ranked_key
from handler.config.profiles import Profile
from passage.indexing import stored
from passage.indexing.languages import DEFAULT, STEMMED

if TYPE_CHECKING:
    import qdrant_edge
    from qdrant_client import models

TOKENIZERS = frozenset({"word", "whitespace", "prefix", "multilingual", "code"})
"""Qdrant's tokenizers (Qdrant, "Indexing")."""


@dataclass(frozen=True, slots=True)
class TextIndex:
    """A scoring text index.

    Attributes:
        language: Qdrant's name for the stemmer and stop words; empty for no stemmer and no stop words.
        tokenizer: Qdrant's name; another one only over titles, and where something else wrote the text.
    """

    field: str
    language: str = DEFAULT
    tokenizer: str = "word"

    def to_rest(self) -> dict[str, Any]:
        """The index's definition in Qdrant's REST form (Qdrant, API reference, "Create payload index")."""
        return definition(self.language, self.tokenizer)

    def for_server(self) -> "models.TextIndexParams":
        from qdrant_client import models  # noqa: PLC0415 - takes a second; only a server needs it

        return models.TextIndexParams.model_validate(self.to_rest())

    def for_edge(self) -> "qdrant_edge.TextIndexParams":
        import qdrant_edge  # noqa: PLC0415 - as above

        name, lengths = self.language.title(), ("min_token_len", "max_token_len")
        languages = {getattr(qdrant_edge.Language, name)} if name else set()
        return qdrant_edge.TextIndexParams(
            **{key: value for key, value in self.to_rest().items() if key in lengths},
            tokenizer=getattr(qdrant_edge.TokenizerType, self.tokenizer.title()),
            lowercase=True,
            ascii_folding=True,
            scoring=True,
            stemmer=qdrant_edge.SnowballParams(getattr(qdrant_edge.SnowballLanguage, name)) if name else None,
            stopwords=qdrant_edge.StopwordsSet(languages=languages) if name else None,
        )


TITLES = TextIndex(TITLES_KEY, "", "prefix")
"""The index over titles, for what has been typed so far."""


def text_indexes(profile: Profile, languages: Mapping[str, int] | None = None) -> tuple[TextIndex, ...]:
    """The text indexes of a site: over all its text, its titles, and each of several languages; none without text.

    Args:
        languages: the number of chunks by stated language (`en`, `pt-BR`, empty for unknown).
    """
    if not stored.text_keys(profile):
        return ()
    names = {code: STEMMED.get(code, "") for code in map(language_code, languages or ()) if code}
    if len(set(names.values())) <= 1:
        return (TextIndex(RANKED_KEY, next(iter(names.values()), DEFAULT)), TITLES)
    own = sorted(names.items()) if _filters_by_language(profile) else []
    return (TextIndex(RANKED_KEY, ""), TITLES, *(TextIndex(ranked_key(code), name) for code, name in own if name))


def _filters_by_language(profile: Profile) -> bool:
    """Whether a question can name its language: no other question would search a language's index."""
    held = stored.keys(profile)
    return any(held.get(key) == "language" for key in profile.filters.get("language", ()))


def copy_indexes(
    profile: Profile, indexes: Mapping[str, Mapping[str, Any]], *, with_titles: bool
) -> tuple[TextIndex, ...]:
    """The text indexes of copied points: those that rank in the source, or one in the default language.

    Args:
        indexes: the source's text indexes in Qdrant's REST form, by payload key.
        with_titles: whether all points hold the text with the titles above it, which ranks better.
    """
    fields = stored.text_keys(profile)
    if not fields:
        return ()
    ranking = TextSearch.of(profile, indexes)
    if ranking is None:
        return (TextIndex(RANKED_KEY if with_titles else fields[0]),)
    keys = (ranking.field, *sorted(ranking.by_language))
    copied = (TextIndex(key, _language(indexes[key]), _tokenizer(key, indexes[key])) for key in keys)
    return (*copied, *([TITLES] if ranking.titles else []))


def _language(index: Mapping[str, Any]) -> str:
    """The language of an index's stemmer; empty for none, or for one that this module would not choose."""
    name = str((index.get("stemmer") or {}).get("language"))
    return name if name in STEMMED.values() else ""


def _tokenizer(key: str, index: Mapping[str, Any]) -> str:
    """The tokenizer for copied text: its own, unless Passage wrote the text."""
    name = str(index.get("tokenizer"))
    return name if name in TOKENIZERS and not is_ranked(key) else "word"
