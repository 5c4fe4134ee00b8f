"""The measured functions: this one with its two stores, and four to compare with."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.asking import MODEL_VARIABLES, ROOT
from tools import artefact

HANDLERS = Path(__file__).resolve().parent / "handlers"
CACHE = ROOT / ".passage" / "artefact"
OURS = "handler.app.lambda_handler"

EMPTY, PLAIN = "empty handler", "plain handler"
SERVER, EDGE = "passage, server store", "passage, Edge store"
LANGCHAIN, LLAMA_INDEX = "LangChain", "LlamaIndex"
BARE_SERVER, BARE_EDGE = "server store, no bytecode", "Edge store, no bytecode"
NAMES = (EMPTY, PLAIN, SERVER, EDGE, LANGCHAIN, LLAMA_INDEX)
SHORT = (EMPTY, PLAIN, SERVER, EDGE)
BARE = (BARE_SERVER, BARE_EDGE)


@dataclass(frozen=True)
class Function:
    """environment: of the function alone. The upstreams' variables are added, unless it calls no upstream."""

    name: str
    handler: str
    code: tuple[Path, ...]
    python: Path
    environment: Mapping[str, str]

    @property
    def asks(self) -> bool:
        return self.name != EMPTY


def lambda_python() -> Path:
    """Exits the program if that version is missing."""
    python = artefact.find_python()
    if python is None:
        raise SystemExit(
            f"Everything is measured on Python {artefact.LAMBDA_PYTHON}, Lambda's, which was not found. "
            f"`.venv/bin/uv python install {artefact.LAMBDA_PYTHON}` fetches one."
        )
    return python


def build() -> artefact.Artefact:
    """The function and the layer as they are deployed."""
    return artefact.build(ROOT, CACHE, lambda_python())


def functions(names: Sequence[str], index: Path, *, from_source: bool) -> list[Function]:
    """The functions of these names, everything they need installed for Lambda's Python.

    Args:
        index: the folder `passage index` wrote.
        from_source: measure the source with the packages of requirements/runtime.txt, not the built function.
    """
    built = build()
    edge = {**MODEL_VARIABLES, "STORE": "qdrant_edge", "EDGE_INDEX_PATH": str(index)}

    def theirs(name: str, module: str, requirements: str) -> Function:
        packages = artefact.installed(ROOT / "requirements" / requirements, CACHE, lambda_python())
        return Function(name, f"{module}.lambda_handler", (HANDLERS, packages, built.runtime), built.python, {})

    def ours(name: str, store: Mapping[str, str], code: tuple[Path, ...]) -> Function:
        return Function(name, OURS, code, built.python, store)

    def as_developed_or_deployed() -> tuple[Path, ...]:
        if not from_source:
            return built.code
        return ROOT / "src", artefact.installed(ROOT / "requirements" / "runtime.txt", CACHE, lambda_python())

    def bare() -> tuple[Path, ...]:
        return artefact.build(ROOT, CACHE, lambda_python(), bytecode=False).code

    unwritten = {"PYTHONDONTWRITEBYTECODE": "1"}
    made: Mapping[str, Callable[[], Function]] = {
        EMPTY: lambda: Function(EMPTY, "empty.lambda_handler", (HANDLERS, built.runtime), built.python, {}),
        PLAIN: lambda: theirs(PLAIN, "plain", "runtime.txt"),
        LANGCHAIN: lambda: theirs(LANGCHAIN, "peer_langchain", "peer-langchain.txt"),
        LLAMA_INDEX: lambda: theirs(LLAMA_INDEX, "peer_llama_index", "peer-llama-index.txt"),
        SERVER: lambda: ours(SERVER, MODEL_VARIABLES, as_developed_or_deployed()),
        EDGE: lambda: ours(EDGE, edge, as_developed_or_deployed()),
        BARE_SERVER: lambda: ours(BARE_SERVER, {**MODEL_VARIABLES, **unwritten}, bare()),
        BARE_EDGE: lambda: ours(BARE_EDGE, {**edge, **unwritten}, bare()),
    }
    return [made[name]() for name in names]
