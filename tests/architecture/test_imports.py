"""What a fresh process loads: nothing heavy before a question needs it, and nothing stood in for outside Lambda."""

import subprocess
import sys

import pytest

from conftest import ROOT

SDKS = ("boto3", "botocore.client", "cohere", "grpc", "httpx", "numpy", "qdrant_client", "qdrant_edge", "requests")


def python(code: str, **environment: str) -> str:
    """What `code` prints in a fresh interpreter that can import the function."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT / "src"), **environment},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


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


def test_reading_the_environment_waits_for_the_first_event() -> None:
    assert python("import handler.app; print('imported')", COHERE_API_KEY="", QDRANT_URL="not a url") == "imported"


LEAN = """
import sys
from handler.cold_start import lean as cold_start
from handler.bootstrap import container as bootstrap
container = bootstrap.build()
cold_start.warm(container)
"""


@pytest.mark.parametrize("store", [{"QDRANT_URL": "http://127.0.0.1:9"}])
def test_cold_start_loads_only_the_needed_parts_of_the_sdks(store: dict[str, str]) -> None:
    code = (
        LEAN
        + "print([name for name in ('cohere', 'qdrant_client', 'numpy', 'grpc', 'requests') if name in sys.modules])"
    )
    assert python(code, COHERE_API_KEY="k", **store).splitlines()[-1] == "['cohere', 'qdrant_client']"


def test_stubbed_modules_can_be_imported_for_real_afterwards() -> None:
    code = LEAN + "import numpy, grpc; print(numpy.zeros(2).sum(), grpc.StatusCode.OK.name)"
    assert python(code, COHERE_API_KEY="k", QDRANT_URL="http://127.0.0.1:9").splitlines()[-1] == "0.0 OK"


def test_models_defined_after_a_cold_start_are_built_at_once() -> None:
    code = LEAN + (
        "import pydantic, gc\n"
        "class Model(pydantic.BaseModel):\n    number: int\n"
        "print(Model.__pydantic_complete__, gc.isenabled(), 'model_rebuild' in vars(pydantic.BaseModel))"
    )
    assert python(code, COHERE_API_KEY="k", QDRANT_URL="http://127.0.0.1:9").splitlines()[-1] == "True True True"


def test_models_of_ours_can_be_used_while_the_sdks_are_imported() -> None:
    code = """
from handler.bootstrap import container as bootstrap
from handler.cold_start import sdk_models
container = bootstrap.build()
with sdk_models.lean():
    print(container.settings.store, container.profile(None).name)  # their validators are built at first use
    container.load()
"""
    printed = python(code, COHERE_API_KEY="key-51b0", QDRANT_URL="http://127.0.0.1:9")
    assert printed == "qdrant_server query-response"


def test_sdk_that_fails_with_stubs_is_loaded_plainly() -> None:
    code = """
import sys
from handler.cold_start import lean as cold_start
from handler.bootstrap import container as bootstrap
cold_start.NOT_NEEDED = (*cold_start.NOT_NEEDED, "cohere.v2.raw_client")  # something that is needed
container = bootstrap.build()
cold_start.warm(container)
import numpy, cohere.v2.raw_client as needed
container.retriever(container.profile(None)).warm()
print("usable", numpy.__name__, needed.RawV2Client.__module__)
"""
    lines = python(code, COHERE_API_KEY="k", QDRANT_URL="http://127.0.0.1:9").splitlines()
    assert any("lean imports failed" in line for line in lines)
    assert lines[-1] == "usable numpy cohere.v2.raw_client"


def test_failure_during_warm_up_loads_the_sdks_plainly() -> None:
    code = """
from handler.cold_start import lean as cold_start
from handler.bootstrap import container as bootstrap
cold_start.NOT_NEEDED = (*cold_start.NOT_NEEDED, "httpcore._sync")  # where the connections are
container = bootstrap.build()
cold_start.warm(container)
import httpx
from handler.adapters import transport
print(transport.rehearsal([]).handle_request(httpx.Request("GET", "http://127.0.0.1/")).read())
"""
    lines = python(code, COHERE_API_KEY="key-51b0", QDRANT_URL="http://127.0.0.1:9").splitlines()
    assert any("lean imports failed" in line for line in lines)
    assert lines[-1] == "b'[]'"


def test_powertools_that_fails_with_stubs_is_loaded_plainly() -> None:
    code = """
import sys
from handler.cold_start import lean as cold_start
cold_start.NOT_NEEDED_OF_POWERTOOLS = ("aws_lambda_powertools.event_handler.api_gateway",)  # something that is needed
import handler.app as app
from passage.local.http_event import http_api_event
print(app.lambda_handler(http_api_event("GET", "/health"), None)["statusCode"], "asyncio" in sys.modules)
"""
    lambdas = {"AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand", "COHERE_API_KEY": "key-51b0"}
    lines = python(code, QDRANT_URL="http://127.0.0.1:9", **lambdas).splitlines()
    assert any("lean imports failed" in line for line in lines)
    assert lines[-1] == "200 True"


def test_cold_start_builds_only_the_response_models() -> None:
    """`FOR_AN_ANSWER` holds the answer's models and every model in them, as qdrant-client itself declares them."""
    code = """
import typing, pydantic
from handler.cold_start.sdk_models import FOR_AN_ANSWER
from qdrant_client.http.models import models
reached = set()
def reach(kind):
    if getattr(kind, "__module__", "") == models.__name__ and isinstance(kind, type) and kind.__name__ not in reached:
        reached.add(kind.__name__)
        for field in kind.model_fields.values() if issubclass(kind, pydantic.BaseModel) else ():
            reach(field.annotation)
    for inner in typing.get_args(kind):
        reach(inner)
reach(models.InlineResponse20022)
reach(models.InlineResponse20023)
print(sorted(FOR_AN_ANSWER ^ reached))
"""
    assert python(code) == "[]"


def test_every_other_model_is_there_when_it_is_asked_for() -> None:
    code = (
        LEAN
        + """
from qdrant_client.http.models import models
held = models.ScoredPoint
before = set(vars(models))
import importlib
package = importlib.import_module('qdrant_client.http.models')
wanted = package.Filter(must=[package.FieldCondition(key="url", match=package.MatchValue(value="a"))])
print(wanted.model_dump_json(exclude_none=True))
print("Filter" in before, models.ScoredPoint is held, package.ScoredPoint is held, models.Distance.COSINE.value)
print(package.Query == models.Query, len(vars(models)) - len(before) > 300)
try:
    package.NoSuchModel
except AttributeError as error:
    print(error)
"""
    )
    printed = python(code, COHERE_API_KEY="key-51b0", QDRANT_URL="http://127.0.0.1:9").splitlines()
    assert printed == [
        '{"must":[{"key":"url","match":{"value":"a"}}]}',
        "False True True Cosine",
        "True True",
        "module 'qdrant_client.http.models' has no attribute 'NoSuchModel'",
    ]


def test_the_whole_of_the_models_is_what_a_plain_import_has() -> None:
    """A container that started lean and was asked for a collection has what one that started plainly has."""
    listing = (
        "from qdrant_client.http.models import models; import pydantic, inspect\n"
        "getattr(models, 'Filter')\n"
        "print(sorted(name for name in vars(models) if not name.startswith('_')))\n"
        "print([m.model_json_schema() for _, m in sorted(inspect.getmembers(models, inspect.isclass))\n"
        "       if issubclass(m, pydantic.BaseModel) and m.__module__ == models.__name__])"
    )
    variables = {"COHERE_API_KEY": "key-51b0", "QDRANT_URL": "http://127.0.0.1:9"}
    lean, plain = python(LEAN + listing, **variables), python(listing, **variables)
    assert lean == plain


@pytest.mark.parametrize(
    ("variables", "loaded"),
    [
        ({}, []),
        ({"RERANK_PROVIDER": "cohere"}, ["handler.adapters.cohere.reranker"]),
        ({"RERANK_PROVIDER": "bedrock", "AWS_DEFAULT_REGION": "eu-central-1"}, ["handler.adapters.bedrock.reranker"]),
    ],
    ids=["none", "cohere", "bedrock"],
)
def test_a_reranker_is_loaded_where_one_is_configured(variables: dict[str, str], loaded: list[str]) -> None:
    code = LEAN + "print([name for name in sys.modules if name.endswith('.reranker')])"
    printed = python(code, COHERE_API_KEY="key-51b0", QDRANT_URL="http://127.0.0.1:9", **variables)
    assert printed.splitlines() == [str(loaded)]


def test_the_dependency_direction_is_kept() -> None:
    done = subprocess.run(
        [str(ROOT / ".venv" / "bin" / "lint-imports"), "--no-logo"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stdout
