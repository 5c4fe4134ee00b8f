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
from devkit.http_event import http_api_event
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
from handler import cold_start, bootstrap
container = bootstrap.build()
cold_start.warm(container)
"""


@pytest.mark.parametrize("store", [{"QDRANT_URL": "http://127.0.0.1:9"}])
def test_a_cold_start_loads_the_sdks_without_what_no_question_needs(store: dict[str, str]) -> None:
    code = (
        LEAN
        + "print([name for name in ('cohere', 'qdrant_client', 'numpy', 'grpc', 'requests') if name in sys.modules])"
    )
    assert python(code, COHERE_API_KEY="k", **store).splitlines()[-1] == "['cohere', 'qdrant_client']"


def test_what_was_stood_in_for_can_be_imported_for_real_afterwards() -> None:
    code = LEAN + "import numpy, grpc; print(numpy.zeros(2).sum(), grpc.StatusCode.OK.name)"
    assert python(code, COHERE_API_KEY="k", QDRANT_URL="http://127.0.0.1:9").splitlines()[-1] == "0.0 OK"


def test_models_defined_after_a_cold_start_are_built_at_once_again() -> None:
    code = LEAN + (
        "import pydantic, gc\n"
        "class Model(pydantic.BaseModel):\n    number: int\n"
        "print(Model.__pydantic_complete__, gc.isenabled(), 'model_rebuild' in vars(pydantic.BaseModel))"
    )
    assert python(code, COHERE_API_KEY="k", QDRANT_URL="http://127.0.0.1:9").splitlines()[-1] == "True True True"


def test_an_sdk_that_does_not_load_the_lean_way_is_loaded_plainly() -> None:
    code = """
import sys
from handler import cold_start, bootstrap
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


def test_the_dependency_direction_is_kept() -> None:
    done = subprocess.run(
        [str(ROOT / ".venv" / "bin" / "lint-imports"), "--no-logo"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stdout
