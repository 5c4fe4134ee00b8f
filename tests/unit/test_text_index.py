"""The text indexes of a site by its languages, and the one that ranks a question."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.adapters.qdrant.payload import Hit, read, without_ranked_text
from handler.adapters.qdrant.text_search import TextSearch, definition
from handler.config import profiles
from handler.config.payload_keys import RANKED_KEY, is_ranked, ranked_key
from handler.core.conditions import Prefix, Range
from handler.core.model import Search
from passage.indexing.languages import STEMMED
from passage.indexing.text_index import TITLES, TextIndex, copy_indexes, text_indexes

PROFILE = profiles.load("query-response")
DE, EN, PT = "ranked_text_de", "ranked_text_en", "ranked_text_pt"


def indexes(*languages: str) -> dict[str, str]:
    """The language of each index over texts, by its field, for a site that states these languages."""
    made = text_indexes(PROFILE, dict.fromkeys(languages, 1))
    assert TITLES in made
    return {index.field: index.language for index in made if index != TITLES}


@pytest.mark.parametrize(
    ("languages", "stemmer"),
    [
        ((), "english"),
        (("",), "english"),
        (("de",), "german"),
        (("de", ""), "german"),
        (("en-US", "en_GB", "EN"), "english"),
        (("nb", "nn"), "norwegian"),
        (("zh",), ""),
        (("zh-Hans", "ja", "xx-mystery"), ""),
    ],
)
def test_site_with_one_stemmer_has_one_index(languages: tuple[str, ...], stemmer: str) -> None:
    assert indexes(*languages) == {RANKED_KEY: stemmer}


@pytest.mark.parametrize(
    ("languages", "others"),
    [
        (("en", "de"), {DE: "german", EN: "english"}),
        (("en", "zh"), {EN: "english"}),
        (("pt-BR", "pt", "en", ""), {EN: "english", PT: "portuguese"}),
        (("nb", "nn", "ja"), {"ranked_text_nb": "norwegian", "ranked_text_nn": "norwegian"}),
    ],
)
def test_several_stemmers_have_an_index_each(languages: tuple[str, ...], others: dict[str, str]) -> None:
    assert indexes(*languages) == {RANKED_KEY: "", **others}


def test_no_language_index_where_none_can_be_asked_for() -> None:
    mixed = {"en": 1, "de": 1}
    filters = {name: keys for name, keys in PROFILE.filters.items() if name != "language"}
    assert text_indexes(PROFILE.model_copy(update={"filters": filters}), mixed) == (TextIndex(RANKED_KEY, ""), TITLES)
    unstored = {"text_content": "text", "source_url": "url"}
    assert text_indexes(PROFILE.model_copy(update={"written_payload": unstored}), mixed) == (
        TextIndex(RANKED_KEY, ""),
        TITLES,
    )


def test_profile_that_stores_no_text_has_no_index() -> None:
    silent = PROFILE.model_copy(update={"written_payload": {"source_url": "url", "language": "language"}})
    assert text_indexes(silent, {"en": 1, "de": 1}) == ()


@pytest.mark.parametrize("name", sorted(set(STEMMED.values())))
def test_both_engines_know_every_language(name: str) -> None:
    index = TextIndex("f", name)
    assert index.for_server().model_dump(mode="json", exclude_none=True) == definition(name)
    stemmer: Any = index.for_edge().stemmer
    assert str(stemmer.language).rpartition(".")[2].lower() == name


def test_copy_has_the_indexes_of_its_source() -> None:
    titles = {TITLES.field: TITLES.to_rest()}
    source = {
        **titles,
        RANKED_KEY: definition(""),
        DE: definition("german"),
        EN: definition("english"),
        "ranked_text_x": {},
    }
    copied = copy_indexes(PROFILE, source, with_titles=True)
    assert copied == (TextIndex(RANKED_KEY, ""), TextIndex(DE, "german"), TextIndex(EN), TITLES)
    (german,) = copy_indexes(PROFILE, {"text_content": definition("german")}, with_titles=False)
    assert german == TextIndex("text_content", "german")
    own = {"text_content": definition("", "multilingual"), RANKED_KEY: definition("", "multilingual")}
    assert (
        copy_indexes(PROFILE, {"text_content": own["text_content"]}, with_titles=False)[0].tokenizer == "multilingual"
    )
    assert copy_indexes(PROFILE, own, with_titles=True)[0].tokenizer == "word", "Passage wrote the text"


def test_copy_without_a_scoring_index_gets_the_default() -> None:
    unscored = {"text_content": definition("german") | {"scoring": False}}
    assert copy_indexes(PROFILE, unscored, with_titles=True) == (TextIndex(RANKED_KEY),)
    assert copy_indexes(PROFILE, {}, with_titles=False) == (TextIndex("text_content"),)


def test_copied_stemmer_without_stop_words_is_left_out() -> None:
    odd = {RANKED_KEY: definition("") | {"stemmer": {"type": "snowball", "language": "armenian"}}}
    assert copy_indexes(PROFILE, odd, with_titles=True) == (TextIndex(RANKED_KEY, ""),)


BY_TEXT = TextSearch(RANKED_KEY, 0.65, by_language=frozenset({DE, PT}))


@pytest.mark.parametrize(
    ("condition", "key"),
    [
        (None, RANKED_KEY),
        (("de",), DE),
        (("de-AT",), DE),
        (("pt-BR", "pt"), PT),
        (("de", "pt"), RANKED_KEY),
        (("fr",), RANKED_KEY),
        (("", 7), RANKED_KEY),
        (Prefix("de"), RANKED_KEY),
        (Range(gt="a"), RANKED_KEY),
    ],
)
def test_one_language_in_the_filter_chooses_its_index(condition: Any, key: str) -> None:
    filters = {} if condition is None else {"language": condition}
    assert BY_TEXT.key(Search(top_k=1, filters=filters)) == key
    assert replace(BY_TEXT, by_language=frozenset()).key(Search(top_k=1, filters=filters)) == RANKED_KEY


def test_only_scoring_indexes_of_languages_are_used() -> None:
    scoring = {"scoring": True}
    held = {RANKED_KEY: scoring, DE: scoring, EN: {"scoring": False}, PT: None, "ranked_text_long": scoring}
    search = TextSearch.of(PROFILE, held)
    assert search is not None
    assert search.by_language == {DE}


@given(language=st.sampled_from(sorted(STEMMED)), suffix=st.sampled_from(["", "-BR", "_at", "-Hans-CN"]))
def test_every_language_key_is_hidden(language: str, suffix: str) -> None:
    key = ranked_key(language.upper() + suffix)
    assert key == f"ranked_text_{language}"
    assert without_ranked_text({key: "x", RANKED_KEY: "x", "text": "y"}) == {"text": "y"}
    hit = Hit(1, 0.5, {key: "x", RANKED_KEY: "x", "text_content": "y", "source_url": "/u"})
    (passage,) = read([hit], PROFILE.payload).passages
    assert passage.payload.keys() == {"text_content", "source_url"}


@given(key=st.text(min_size=1).filter(lambda key: not key.startswith(RANKED_KEY)))
def test_other_keys_are_shown(key: str) -> None:
    assert not is_ranked(key)
    assert not is_ranked(f"{RANKED_KEY}_{key}xx")
