"""The SAM template: valid by SAM's own linter, and in step with what the function reads."""

import os
import subprocess
from typing import Any

import pytest
import yaml

from conftest import ROOT
from handler.settings import HttpSettings, RuntimeSettings, Settings

NOT_SET_HERE = {
    "AWS_LAMBDA_INITIALIZATION_TYPE",  # Lambda sets it
    "BASE_PATH",  # a custom domain's, which this template does not make
    "COHERE_BASE_URL",  # another address than Cohere's own is for tests and proxies
    "EDGE_INDEX_PATH",  # the Edge store's, which this template does not deploy yet
    "REQUEST_TIMEOUT_MS",  # the default is the gateway's
}


class _Loader(yaml.SafeLoader):
    """Reads CloudFormation's short forms (`!Ref`, `!Sub`) as their values."""


_Loader.add_multi_constructor(
    "!",
    lambda loader, _, node: (
        loader.construct_scalar(node) if isinstance(node, yaml.ScalarNode) else loader.construct_sequence(node)
    ),
)


@pytest.fixture(scope="module")
def template() -> dict[str, Any]:
    text = (ROOT / "template.yaml").read_text(encoding="utf-8")
    return dict(yaml.load(text, Loader=_Loader))  # noqa: S506 - a SafeLoader's subclass


def test_sam_finds_nothing_wrong() -> None:
    done = subprocess.run(
        [str(ROOT / ".venv-sam" / "bin" / "sam"), "validate", "--lint"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "AWS_DEFAULT_REGION": "eu-central-1", "SAM_CLI_TELEMETRY": "0"},
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "is a valid SAM Template" in done.stdout


def test_the_function_is_given_every_variable_it_reads_and_no_other(template: dict[str, Any]) -> None:
    given = template["Resources"]["RetrievalFunction"]["Properties"]["Environment"]["Variables"]
    read = {
        field.alias
        for model in (Settings, HttpSettings, RuntimeSettings)
        for field in model.model_fields.values()
        if field.alias
    }
    assert set(given) == read - NOT_SET_HERE


def test_an_empty_parameter_leaves_the_setting_at_its_default(template: dict[str, Any]) -> None:
    parameters = template["Parameters"]
    variables = template["Resources"]["RetrievalFunction"]["Properties"]["Environment"]["Variables"]
    environ = {name: str(parameters.get(value, {}).get("Default", value)) for name, value in variables.items()}
    settings = Settings.from_env({**environ, "COHERE_API_KEY": "k", "QDRANT_URL": "https://host"})
    assert settings.collection_name is None
    assert settings.embedding_dimension is None
    assert HttpSettings.from_env(environ).allowed_origins == ("http://localhost:3000",)


def test_every_parameter_says_what_it_is(template: dict[str, Any]) -> None:
    assert [name for name, parameter in template["Parameters"].items() if not parameter.get("Description")] == []


def test_keys_are_never_echoed(template: dict[str, Any]) -> None:
    for name in ("CohereApiKey", "QdrantApiKey"):
        assert template["Parameters"][name]["NoEcho"] is True
