"""A profile is one checked TOML file; a wrong one names the file, the key and what is allowed."""

import tomllib
from pathlib import Path

import pytest

from handler.config import profiles
from handler.config.profiles import CountLimit, TextLimit
from handler.config.settings import Settings
from handler.contracts import registry
from handler.contracts.fields import check_count, check_text
from handler.core.errors import BlankText, ConfigurationError, InvalidRequest, NotFound


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of profiles instead of the shipped one."""
    monkeypatch.setattr(profiles, "FOLDER", tmp_path)
    profiles.load.cache_clear()
    yield tmp_path
    profiles.load.cache_clear()


@pytest.mark.parametrize("name", profiles.names())
def test_every_shipped_profile_is_valid_with_a_known_contract(name: str) -> None:
    profile = profiles.load(name)
    assert profile.name == name
    assert registry.find(profile).name == profile.contract


def test_default_profile_matches_seed_000() -> None:
    profile = profiles.load("query-response")
    assert (profile.collection.name, profile.collection.dimension) == ("rag_embeddings", 768)
    assert profile.query.text.max == 10_000
    assert (profile.query.count.default, profile.query.count.min, profile.query.count.max) == (5, 1, 100)
    assert profile.payload.text[0] == "text_content"
    assert profile.payload.url[0] == "source_url"


def test_unknown_profile_is_not_found_and_lists_known_ones() -> None:
    with pytest.raises(NotFound, match="query-response"):
        profiles.load("../secrets")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("dimension = 768", "dimension = 0"),
        ('distance = "Cosine"', 'distance = "Manhattan"'),
        ("max = 100,", "max = 4,"),
        ('contract = "query_response"', 'contrct = "query_response"'),
        ('contract = "query_response"', "contract = "),
    ],
)
def test_a_wrong_profile_names_its_file(folder: Path, change: str, expected: str) -> None:
    shipped = Path(profiles.__file__).parent / "profiles" / "query-response.toml"
    text = shipped.read_text(encoding="utf-8")
    assert change in text
    (folder / "mine.toml").write_text(text.replace(change, expected), encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"profiles/mine\.toml is invalid"):
        profiles.load("mine")


@pytest.mark.parametrize("section", ["collection", "embedding", "payload", "query", "search", "noise"])
def test_unknown_key_of_a_section_names_the_known_ones(folder: Path, section: str) -> None:
    text = (Path(profiles.__file__).parent / "profiles" / "query-response.toml").read_text(encoding="utf-8")
    text += "" if section in tomllib.loads(text) else f"[{section}]\np50 = 0.1\np90 = 0.2\n"
    (folder / "mine.toml").write_text(text.replace(f"[{section}]", f"[{section}]\nlimit = 1", 1), encoding="utf-8")
    with pytest.raises(ConfigurationError, match=rf"{section}\.limit: unknown key; allowed: \w+, \w+"):
        profiles.load("mine")


def test_unknown_contract_is_a_configuration_error() -> None:
    with pytest.raises(ConfigurationError, match="query_response"):
        registry.find(profiles.load("ranked").model_copy(update={"contract": "rest"}))


def test_default_profile_can_use_another_collection() -> None:
    environ = {
        "COHERE_API_KEY": "k",
        "QDRANT_URL": "http://h",
        "COLLECTION_NAME": "mine",
        "VECTOR_NAME": "text",
        "EMBEDDING_DIMENSION": "1024",
        "EMBEDDING_MODEL": "embed-english-v3.0",
    }
    profile = profiles.load("query-response").with_settings(Settings.from_env(environ))
    assert (profile.collection.name, profile.collection.vector, profile.collection.dimension) == ("mine", "text", 1024)
    assert profile.embedding.model == "embed-english-v3.0"


def test_text_limits_count_characters_and_refuse_blank_text() -> None:
    limit = TextLimit(names=("text",), min=3, max=5)
    assert check_text(limit, " a ") == " a "
    assert check_text(limit, "🤖🤖🤖🤖🤖") == "🤖🤖🤖🤖🤖"
    with pytest.raises(BlankText):
        check_text(limit, " \t\n　")
    for text in ("ab", "abcdef"):
        with pytest.raises(InvalidRequest, match="must have 3 to 5"):
            check_text(limit, text)


@pytest.mark.parametrize(("outside", "count", "expected"), [("clamp", 0, 3), ("clamp", 99, 8), ("clamp", None, 5)])
def test_count_outside_limits_is_clamped_if_profile_says_so(outside: str, count: int | None, expected: int) -> None:
    limit = CountLimit(names=("k",), default=5, min=3, max=8, outside=outside)  # type: ignore[arg-type]
    assert check_count(limit, count) == expected


@pytest.mark.parametrize("count", [0, -1, 101, 10**30])
def test_a_count_beyond_the_limits_is_otherwise_refused(count: int) -> None:
    with pytest.raises(InvalidRequest, match="must be 1 to 100"):
        check_count(CountLimit(names=("k",), default=5, max=100), count)
