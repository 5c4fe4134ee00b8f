"""Imports in a fresh process: no SDK before a question needs it, and no import hooks."""

import sys

import pytest

from conftest import ROOT
from handler.config.providers import PROVIDERS
from programs import run

SDKS = ("boto3", "botocore.client", "cohere", "grpc", "httpx", "numpy", "qdrant_client", "qdrant_edge", "requests")


def python(code: str, **environment: str) -> str:
    """The output of `code` in a fresh interpreter that can import the function."""
    return run(sys.executable, "-c", code, env={"PYTHONPATH": str(ROOT / "src"), **environment}).stdout.strip()


def test_importing_the_function_loads_no_sdk() -> None:
    assert python(f"import sys, handler.app; print([name for name in {SDKS} if name in sys.modules])") == "[]"


def test_a_bad_request_and_a_health_check_load_no_sdk_either() -> None:
    code = f"""
import sys, json, handler.app as app
from passage.local.http_event import http_api_event
for event in (http_api_event("POST", "/query", body=b"null"), http_api_event("GET", "/health"), {{}}):
    app.lambda_handler(event, None)
print([name for name in {SDKS} if name in sys.modules])
"""
    environment = {"COHERE_API_KEY": "k", "QDRANT_URL": "http://127.0.0.1:9"}
    assert python(code, **environment).splitlines()[-1] == "[]"


@pytest.mark.parametrize("module", ["passage.cli", "passage.commands.index", "passage.commands.invoke"])
def test_a_command_loads_no_sdk_before_it_needs_one(module: str) -> None:
    names = (*SDKS, "aiohttp", "passage.emulators")
    assert python(f"import sys, {module}; print([name for name in {names} if name in sys.modules])") == "[]"


def test_the_help_of_all_commands_loads_none_of_them() -> None:
    code = "import sys; from passage.cli import main; main(['--help'], standalone_mode=False); print(*sys.modules)"
    modules = python(code).splitlines()[-1].split()
    assert not [name for name in modules if name.startswith(("handler", "passage.commands.", "pydantic"))]


def test_reading_the_environment_waits_for_the_first_event() -> None:
    assert python("import handler.app; print('imported')", COHERE_API_KEY="", QDRANT_URL="not a url") == "imported"


WARM = """
import sys
from handler.bootstrap import container as bootstrap
from handler.cold_start import warm_up
container = bootstrap.build()
warm_up(container)
"""
SETTINGS = {"COHERE_API_KEY": "key-51b0", "QDRANT_URL": "http://127.0.0.1:9"}


def test_models_after_warm_up_are_built_at_once() -> None:
    code = WARM + (
        "import pydantic, gc\n"
        "class Model(pydantic.BaseModel):\n    number: int\n"
        "print(Model.__pydantic_complete__, gc.isenabled(), pydantic.BaseModel.model_config)"
    )
    assert python(code, **SETTINGS).splitlines()[-1] == "True True {}"


def test_models_inside_deferral_are_built_at_first_use() -> None:
    code = """
import pydantic
from handler.cold_start import deferred_models
with deferred_models():
    class Model(pydantic.BaseModel):
        number: int
print(Model.__pydantic_complete__, Model(number="1").number, Model.__pydantic_complete__)
"""
    assert python(code) == "False 1 True"


def test_warm_up_loads_no_contract_but_the_default_profiles() -> None:
    """Each contract's models take milliseconds to build."""
    code = WARM + (
        "from handler.contracts import registry\n"
        "print([name for name in registry.NAMES if f'handler.contracts.{name}' in sys.modules])"
    )
    assert python(code, **SETTINGS) == "['query_response']"


def test_warm_up_changes_no_import_machinery() -> None:
    code = f"""
import builtins, sys
before = list(sys.meta_path), builtins.__build_class__, builtins.__import__
{WARM}
print(before == (list(sys.meta_path), builtins.__build_class__, builtins.__import__))
"""
    assert python(code, **SETTINGS) == "True"


def test_failed_warm_up_is_logged_and_retried() -> None:
    code = """
from handler.bootstrap import container as bootstrap
from handler.cold_start import warm_up
container = bootstrap.build()
load = container.load
def fail():
    raise ImportError("no such module")
container.load = fail
warm_up(container)
container.load = load
container.load()
container.warm()
print("usable")
"""
    lines = python(code, **SETTINGS).splitlines()
    assert any("warm-up failed" in line and "no such module" in line for line in lines)
    assert lines[-1] == "usable"


@pytest.mark.parametrize(
    ("variables", "loaded"),
    [
        ({}, ["cohere"]),
        ({"RERANK_PROVIDER": "cohere"}, ["cohere"]),
        ({"RERANK_PROVIDER": "bedrock", "AWS_DEFAULT_REGION": "eu-central-1"}, ["bedrock", "cohere"]),
    ],
    ids=["none", "cohere", "bedrock"],
)
def test_a_provider_is_loaded_where_one_is_configured(variables: dict[str, str], loaded: list[str]) -> None:
    code = WARM + f"print([name for name in {sorted(PROVIDERS)} if 'handler.adapters.' + name in sys.modules])"
    assert python(code, **SETTINGS, **variables) == str(loaded)


def test_the_dependency_direction_is_kept() -> None:
    run(ROOT / ".venv" / "bin" / "lint-imports", "--no-logo", cwd=ROOT)
