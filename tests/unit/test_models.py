"""The table of models is complete, and profiles, settings and documentation agree with it."""

import re
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.config import models, profiles
from handler.config.profiles import Profile
from handler.config.providers import PROVIDERS, Model
from handler.config.settings import CollectionSettings, Settings
from handler.core.errors import ConfigurationError, DimensionMismatch, ModelMismatch
from passage.indexing.embedding import check_models

CONFIGURATION = Path(__file__).parents[2] / "docs" / "configuration.md"
MODELS = [model for provider in PROVIDERS.values() for model in provider.models]
RETIRED = [model for model in MODELS if model.state == "retired"]
EMBEDDING = [model for model in MODELS if model.embeds]
names = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)


def deployed(profile: str = "query-response", **variables: str) -> Profile:
    return profiles.load(profile).with_settings(CollectionSettings.from_env(variables))


def test_model_names_are_unique() -> None:
    assert len({model.name for model in MODELS}) == len(MODELS)


@names
def test_model_that_ends_has_a_date_and_an_active_replacement(model: Model) -> None:
    if model.state == "active":
        assert (model.since, model.replacement) == ("", "")
        return
    date.fromisoformat(model.since)
    replacement = models.find(model.replacement)
    assert replacement is not None
    assert (replacement.state, models.provider_of(replacement), replacement.embeds) == (
        "active",
        models.provider_of(model),
        model.embeds,
    )


@names
def test_documentation_has_each_model_of_the_table(model: Model) -> None:
    (row,) = re.findall(rf"^\| `{re.escape(model.name)}` \|(.*)\|$", CONFIGURATION.read_text(), re.MULTILINE)
    provider, dimensions, tokens, state = (cell.strip() for cell in row.split("|"))
    assert provider == models.provider_of(model)
    assert dimensions == (", ".join(map(str, model.dimensions)) or "reranks")
    assert tokens == f"{model.tokens_per_text:,}"
    ended = f"{model.state} {model.since}; use `{model.replacement}`"
    assert state == ("active" if model.state == "active" else ended)


def check_question_model(profile: Profile) -> str | None:
    return models.check_model(profile.embedding.provider, profile.embedding.model, profile.collection.dimension)


@pytest.mark.parametrize("name", profiles.names())
def test_shipped_profile_has_active_models_that_fit(name: str) -> None:
    assert check_models(profiles.load(name)) == []


def test_default_rerankers_are_active_models_of_their_provider() -> None:
    for provider in PROVIDERS.values():
        assert provider.reranker is None or provider.default_reranker in models.reranker_refused(provider.name, "")


@pytest.mark.parametrize(
    "name",
    [
        "cohere.embed-v4:0",
        "eu.cohere.embed-v4:0",
        "global.cohere.embed-v4:0",
        "arn:aws:bedrock:eu-west-1::foundation-model/cohere.embed-v4:0",
        "arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.cohere.embed-v4:0",
    ],
)
def test_bedrock_id_profile_and_arn_are_one_model(name: str) -> None:
    found = models.find(name)
    assert found is not None
    assert found.name == "cohere.embed-v4:0"


@pytest.mark.parametrize(
    "name", ["", "/", "cohere.", ".cohere.", "embed-v4.0/", "arn:x/application-inference-profile/a1"]
)
def test_unknown_model_name_gives_none(name: str) -> None:
    assert models.find(name) is None


@pytest.mark.parametrize(
    ("one", "other", "comparable"),
    [
        ("embed-v5.0-pro", "embed-v5.0-fast", True),
        ("embed-v4.0", "us.cohere.embed-v4:0", True),
        ("embed-english-v3.0", "cohere.embed-english-v3", True),
        ("embed-english-v3.0", "embed-multilingual-v3.0", False),
        ("embed-v4.0", "embed-v5.0-fast", False),
        ("my-model", "my-model", True),
        ("my-model", "embed-v4.0", False),
        ("rerank-v3.5", "rerank-v4.0-fast", False),
    ],
)
def test_models_of_one_space_are_comparable(one: str, other: str, comparable: bool) -> None:
    assert models.are_comparable(one, other) is comparable
    assert models.are_comparable(other, one) is comparable


NAMES = st.sampled_from([model.name for model in MODELS]) | st.text(max_size=20)


@given(NAMES, NAMES, NAMES)
def test_comparable_is_an_equivalence(one: str, other: str, third: str) -> None:
    assert models.are_comparable(one, one)
    assert models.are_comparable(one, other) == models.are_comparable(other, one)
    if models.are_comparable(one, other) and models.are_comparable(other, third):
        assert models.are_comparable(one, third)


@pytest.mark.parametrize(
    ("variables", "questions", "texts"),
    [
        ({}, "embed-v5.0-fast", "embed-v5.0-pro"),
        ({"EMBEDDING_MODEL": "embed-v5.0-pro"}, "embed-v5.0-pro", "embed-v5.0-pro"),
        ({"EMBEDDING_MODEL": "embed-v4.0"}, "embed-v4.0", "embed-v4.0"),
        ({"EMBEDDING_MODEL": "my-model"}, "my-model", "my-model"),
        ({"EMBEDDING_DOCUMENT_MODEL": "embed-v5.0-fast"}, "embed-v5.0-fast", "embed-v5.0-fast"),
        (
            {"EMBEDDING_PROVIDER": "bedrock", "EMBEDDING_MODEL": "eu.cohere.embed-v4:0"},
            "eu.cohere.embed-v4:0",
            "eu.cohere.embed-v4:0",
        ),
    ],
)
def test_variables_choose_both_models(variables: dict[str, str], questions: str, texts: str) -> None:
    embedding = deployed(**variables).embedding
    assert (embedding.model, embedding.for_texts) == (questions, texts)


@pytest.mark.parametrize("model", [model for model in RETIRED if model.embeds], ids=lambda model: model.name)
@pytest.mark.parametrize("variable", ["EMBEDDING_MODEL", "EMBEDDING_DOCUMENT_MODEL"])
def test_retired_embedding_model_is_refused(variable: str, model: Model) -> None:
    profile = deployed(**{variable: model.name, "EMBEDDING_DIMENSION": str(model.dimensions[0])})
    with pytest.raises(ConfigurationError) as caught:
        check_models(profile)
    for part in (model.name, model.since, model.replacement, variable):
        assert part in str(caught.value)


@pytest.mark.parametrize("model", [model for model in RETIRED if not model.embeds], ids=lambda model: model.name)
def test_retired_reranker_is_refused(model: Model) -> None:
    environ = {"QDRANT_URL": "http://h", "RERANK_PROVIDER": "cohere", "RERANK_MODEL": model.name}
    with pytest.raises(ConfigurationError, match=rf"RERANK_MODEL.*{model.since}.*rerank-v4\.0-fast"):
        Settings.from_env(environ)


def test_another_providers_name_gets_the_right_one() -> None:
    profile = deployed(EMBEDDING_PROVIDER="bedrock", EMBEDDING_MODEL="embed-english-v3.0")
    with pytest.raises(ConfigurationError, match=r"EMBEDDING_MODEL.*cohere\.embed-english-v3"):
        check_question_model(profile)


def test_reranker_as_embedding_model_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="is a reranking model"):
        check_question_model(deployed(EMBEDDING_MODEL="rerank-v3.5"))


def test_dimension_that_a_model_lacks_names_models_that_have_it() -> None:
    with pytest.raises(DimensionMismatch, match=r"1024.*768.*EMBEDDING_MODEL.*embed-v5\.0-pro or embed-v5\.0-fast"):
        check_models(deployed(EMBEDDING_MODEL="embed-english-v3.0"))


def test_refused_reranker_names_those_that_serve() -> None:
    assert "rerank-v4.0-fast" in models.reranker_refused("cohere", "my-model")
    assert "cohere.rerank-v3-5:0" in models.reranker_refused("bedrock", "my-model")
    assert "v2.0" not in models.reranker_refused("cohere", "my-model")


def test_texts_and_questions_of_two_spaces_are_refused() -> None:
    profile = deployed(EMBEDDING_DOCUMENT_MODEL="embed-v4.0", EMBEDDING_DIMENSION="1024")
    with pytest.raises(ModelMismatch, match="EMBEDDING_DOCUMENT_MODEL"):
        check_models(profile)


def test_unknown_model_is_allowed_with_a_warning() -> None:
    assert "my-model" in (check_question_model(deployed(EMBEDDING_MODEL="my-model")) or "")


def test_deprecated_model_is_allowed_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    cohere = PROVIDERS["cohere"]
    (fast,) = (model for model in cohere.models if model.name == "embed-v5.0-fast")
    ending = fast._replace(state="deprecated", since="2026-11-01", replacement="embed-v5.0-pro")
    monkeypatch.setitem(PROVIDERS, "cohere", cohere._replace(models=(ending,)))
    warning = check_question_model(deployed())
    for part in ("embed-v5.0-fast", "2026-11-01", "embed-v5.0-pro"):
        assert part in (warning or "")


@pytest.mark.parametrize("model", EMBEDDING, ids=lambda model: model.name)
def test_dimension_is_requested_if_the_model_has_several(model: Model) -> None:
    assert models.takes_dimension(model.name) is (len(model.dimensions) > 1)
