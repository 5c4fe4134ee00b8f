"""Settings are typed and bounded; an error names the wrong variable without its value."""

import pytest

from handler.config.settings import HttpSettings, RuntimeSettings, Settings
from handler.core.errors import ConfigurationError

KEY = "co-key-3f9a"
BASE = {"COHERE_API_KEY": KEY, "QDRANT_URL": "http://127.0.0.1:6333"}


def test_the_least_a_server_store_needs_is_a_key_and_a_url() -> None:
    settings = Settings.from_env(BASE)
    assert settings.store == "qdrant_server"
    assert settings.default_profile == "query-response"
    assert settings.log_query_text is False


def test_a_variable_that_is_set_but_empty_counts_as_not_set() -> None:
    assert Settings.from_env({**BASE, "EMBEDDING_DIMENSION": "", "QDRANT_API_KEY": " "}).embedding_dimension is None


def test_missing_store_address_names_its_variable() -> None:
    with pytest.raises(ConfigurationError, match="QDRANT_URL: required when STORE is qdrant_server"):
        Settings.from_env({"COHERE_API_KEY": KEY})
    with pytest.raises(ConfigurationError, match="EDGE_INDEX_PATH: required when STORE is qdrant_edge"):
        Settings.from_env({"COHERE_API_KEY": KEY, "STORE": "qdrant_edge"})


def test_everything_that_is_wrong_is_named_at_once() -> None:
    with pytest.raises(ConfigurationError) as caught:
        Settings.from_env({**BASE, "STORE": "redis", "REQUEST_TIMEOUT_MS": "soon", "EMBEDDING_DIMENSION": "0"})
    for name in ("STORE", "REQUEST_TIMEOUT_MS", "EMBEDDING_DIMENSION"):
        assert name in str(caught.value)


def test_no_error_and_no_repr_holds_a_key() -> None:
    with pytest.raises(ConfigurationError) as caught:
        Settings.from_env({**BASE, "STORE": "redis", "QDRANT_API_KEY": "qd-key-77b1"})
    assert KEY not in str(caught.value)
    assert "qd-key-77b1" not in str(caught.value)
    assert caught.value.__cause__ is None
    settings = Settings.from_env({**BASE, "PASSAGE_SETTINGS": "QDRANT_API_KEY=qd-key-77b1"})
    assert settings.secrets() == [KEY, "qd-key-77b1"]
    shown = f"{settings!r} {settings} {settings.model_dump()} {settings.model_dump_json()}"
    assert KEY not in shown
    assert "qd-key-77b1" not in shown


def test_origins_are_a_list_separated_by_commas() -> None:
    settings = HttpSettings.from_env({"ALLOWED_ORIGINS": "https://user.github.io, http://localhost:3000"})
    assert settings.allowed_origins == ("https://user.github.io", "http://localhost:3000")


@pytest.mark.parametrize("path", ["docs", "/docs/"])
def test_base_path_starts_with_a_slash_and_ends_without(path: str) -> None:
    with pytest.raises(ConfigurationError, match="BASE_PATH"):
        HttpSettings.from_env({"BASE_PATH": path})


@pytest.mark.parametrize("kind", ["on-demand", "provisioned-concurrency", "snap-start"])
def test_lambda_is_known_by_the_variable_it_sets(kind: str) -> None:
    assert RuntimeSettings.from_env({"AWS_LAMBDA_INITIALIZATION_TYPE": kind}).in_lambda
    assert not RuntimeSettings.from_env({}).in_lambda


@pytest.mark.parametrize("separator", [",", ", ", ";", "\n", " ;\n"])
def test_packed_settings_are_read_like_variables(separator: str) -> None:
    pairs = ("RERANK_PROVIDER=cohere", "RERANK_CANDIDATES=100", "ALLOWED_HEADERS=traceparent,baggage", "BASE_PATH=/a=b")
    environ = {**BASE, "PASSAGE_SETTINGS": separator.join((*pairs, "MCP_DESCRIPTION=robots, arms; and grippers"))}
    settings, http = Settings.from_env(environ), HttpSettings.from_env(environ)
    assert (settings.rerank_provider, settings.rerank_candidates) == ("cohere", 100)
    assert settings.mcp_description == "robots, arms; and grippers"
    assert (http.allowed_headers, http.base_path) == (("traceparent", "baggage"), "/a=b")


@pytest.mark.parametrize(
    ("packed", "message"),
    [
        ("RERANK_PROVIDR=cohere", "PASSAGE_SETTINGS: there is no setting RERANK_PROVIDR"),
        ("AWS_EXECUTION_ENV=x", "there is no setting AWS_EXECUTION_ENV"),
        ("PASSAGE_SETTINGS=x", "there is no setting PASSAGE_SETTINGS"),
        ("cohere", "must be NAME=value pairs"),
        ("FEEDBACK=false,FEEDBACK=true", "has FEEDBACK twice"),
        ("QDRANT_URL=http://other", "QDRANT_URL: is set as a variable and in PASSAGE_SETTINGS"),
        ("RERANK_CANDIDATES=0", "RERANK_CANDIDATES: Input should be greater"),
        ("POWERTOOLS_LOG_LEVEL=LOUD", "POWERTOOLS_LOG_LEVEL: "),
    ],
)
def test_wrong_packed_settings_are_named(packed: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        Settings.from_env({**BASE, "PASSAGE_SETTINGS": packed})


def test_wrong_packed_settings_leave_cors_readable() -> None:
    packed = {"PASSAGE_SETTINGS": "RERANK_PROVIDR=cohere,ALLOWED_ORIGINS=https://a.example"}
    assert HttpSettings.from_env(packed).allowed_origins == ("https://a.example",)
