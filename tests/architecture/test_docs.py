"""Compares the documentation with the code: every name in one is in the other."""

import ast
import re
import sys
import typing
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import click
import pytest
from pydantic import BaseModel

from handler import telemetry
from handler.config import payload_keys, profiles, settings
from handler.contracts import registry
from handler.contracts.base import Contract, ErrorContext
from handler.core import errors
from handler.core.errors import PassageError
from handler.entrypoints.http import status as http_status
from passage.cli import COMMANDS, main

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "requirements" / "README.md")
)
EMITTING = ("src/handler/service/metrics.py", "src/handler/telemetry.py")
NOTICING = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "src" / "handler" / "contracts").glob("*.py"))

EMF_KEYS = {"CloudWatchMetrics", "Dimensions", "Metrics"}
"""Keys of the Embedded Metric Format, which telemetry sets next to its metrics."""

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")


@cache
def _read(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


def _section(document: str, heading: str) -> str:
    """The text under `## heading`, up to the next heading of that level."""
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", _read(document), re.MULTILINE | re.DOTALL)
    assert found, f"{document} has no section '{heading}'"
    return found.group(1)


def _rows(text: str) -> list[list[str]]:
    """The cells of a section's tables, without header and rule."""
    tables = re.findall(r"^\|.*\n\|[ :|-]+\|\n((?:\|.*\n)+)", text, re.MULTILINE)
    return [[cell.strip() for cell in line.strip("|").split("|")] for table in tables for line in table.splitlines()]


def _names(cell: str) -> list[str]:
    return _SPAN.findall(cell)


def _code(document: str) -> Iterator[str]:
    """Every line of a document's code blocks, and all inline code."""
    text = _read(document)
    for _, block in _FENCE.findall(text):
        yield from block.splitlines()
    yield from _SPAN.findall(_FENCE.sub("", text))


def _environment_variables() -> set[str]:
    return settings.names() | {str(field.alias) for field in settings.RuntimeSettings.model_fields.values()}


def test_every_settings_model_is_looked_at() -> None:
    models = {model.__name__ for model in settings._Environment.__subclasses__()}
    assert models == {"RuntimeSettings", "HttpSettings", "CollectionSettings"}, "the last one is part of Settings"


def test_environment_variables_are_those_of_the_settings() -> None:
    documented = [name for row in _rows(_section("docs/configuration.md", "Variables")) for name in _names(row[0])]
    assert sorted(documented) == sorted(_environment_variables())


def test_profile_keys_are_those_of_the_profile_model() -> None:
    documented = {name for row in _rows(_section("docs/configuration.md", "Profiles")) for name in _names(row[0])}
    whole = {"contract", "filters", "written_payload", "query.text", "query.count"}
    sections: dict[str, type[BaseModel]] = {
        "collection": profiles.Collection,
        "embedding": profiles.Embedding,
        "payload": payload_keys.Payload,
        "search": profiles.SearchOptions,
        "noise": profiles.NoiseLevels,
    }
    keys = {f"{section}.{key}" for section, model in sections.items() for key in model.model_fields}
    assert documented == whole | keys
    assert set(profiles.Profile.model_fields) == {"name", *(key.split(".")[0] for key in documented)}


def test_every_contract_has_a_section() -> None:
    sections = re.findall(r"^## (\w+)$", _read("docs/contracts.md"), re.MULTILINE)
    assert sections == list(registry.NAMES)


@pytest.mark.parametrize(
    "contract", [registry.load(name) for name in registry.NAMES], ids=lambda contract: contract.name
)
def test_a_contracts_section_has_its_fields_and_codes(contract: Contract) -> None:
    section = _section("docs/contracts.md", contract.name)
    fields = {name for row in _rows(section) for name in _names(row[0]) if not name.isupper()}
    models = (contract.request_model, contract.response_model)
    assert {name for model in models for name in model.model_fields} <= fields
    documented = {name for row in _rows(section) for name in _names(row[0]) if name.isupper()}
    assert documented == set(typing.get_args(sys.modules[contract.parse.__module__].Code))


def _errors(kind: type[PassageError] = PassageError) -> Iterator[type[PassageError]]:
    yield kind
    for child in kind.__subclasses__():
        if child.__module__ == errors.__name__:
            yield from _errors(child)


def _instance(kind: type[PassageError]) -> PassageError:
    if kind is errors.InternalError:
        return errors.InternalError(RuntimeError())
    if issubclass(kind, errors.UpstreamError):
        return kind("", upstream="store")
    return kind("")


def test_error_codes_are_those_of_the_error_tree() -> None:
    documented = [row[0].strip("`") for row in _rows(_section("docs/operations.md", "Error codes"))]
    assert sorted(documented) == sorted({kind.code for kind in _errors()})


@pytest.mark.parametrize(
    "kind", [kind for kind in _errors() if kind is not PassageError], ids=lambda kind: kind.__name__
)
def test_error_status_and_contract_code_match_the_docs(kind: type[PassageError]) -> None:
    row = next(row for row in _rows(_section("docs/operations.md", "Error codes")) if row[0] == f"`{kind.code}`")
    error = _instance(kind)
    context = ErrorContext(at=datetime.now(UTC), elapsed_ms=0, fields={}, profile=None)
    body = registry.load("query_response").render_error(error, context).model_dump()
    assert [row[1], row[2]] == [str(http_status.status(error)), body["code"]]
    assert row[3] == ("once" if isinstance(error, errors.UpstreamError) else "no")


def _keys(document: str) -> Iterator[str]:
    """Every key that a module puts into a dictionary, and every name it passes to `append_keys`."""
    for node in ast.walk(ast.parse(_read(document))):
        if isinstance(node, ast.Dict):
            yield from (text for key in node.keys if key is not None and (text := _text(key)))
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            yield from filter(None, [_text(node.slice)])
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append_keys":
            yield from (keyword.arg for keyword in node.keywords if keyword.arg)


def _notices(document: str) -> Iterator[ast.Call]:
    """The places where a contract makes a Notice, whose figures are logged and whose metric is counted."""
    for node in ast.walk(ast.parse(_read(document))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Notice":
            yield node


def _text(node: ast.expr) -> str | None:
    """A key's text. A key made at run time is its fixed start and a placeholder: `Error.<CODE>`, `Failed.<BLAME>`."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
        (value,) = (part.value for part in node.values[1:] if isinstance(part, ast.FormattedValue))
        name = next(part.id for part in ast.walk(value) if isinstance(part, ast.Name))
        return f"{node.values[0].value!s}<{name.upper()}>"
    return None


def test_metrics_are_those_emitted_with_their_units() -> None:
    documented = {row[0].strip("`"): row[1] for row in _rows(_section("docs/operations.md", "Metrics"))}
    # Metrics are in CamelCase, log fields in snake_case: that is how the two are told apart here.
    emitted = {key for document in EMITTING for key in _keys(document) if key[:1].isupper()} - EMF_KEYS
    for notice in (notice for document in NOTICING for notice in _notices(document)):
        emitted |= {_text(keyword.value) or "" for keyword in notice.keywords if keyword.arg == "metric"}
    emitted.remove("Failed.<BLAME>")
    emitted |= {f"Failed.{blame.capitalize()}" for blame in typing.get_args(errors.Blame)}
    assert documented == {name: telemetry._unit(name).value for name in emitted}


def test_every_log_field_is_documented() -> None:
    documented = {name for row in _rows(_section("docs/operations.md", "Log fields")) for name in _names(row[0])}
    written = {key for document in EMITTING for key in _keys(document) if key[:1].islower()}
    for notice in (notice for document in NOTICING for notice in _notices(document)):
        assert isinstance(notice.args[1], ast.Dict)
        written |= {_text(key) or "" for key in notice.args[1].keys if key}
    assert written <= documented


def test_the_metric_namespace_is_documented() -> None:
    assert f"Namespace `{telemetry.NAMESPACE}`" in _section("docs/operations.md", "Metrics")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_no_section_occurs_twice(document: str) -> None:
    """A section pasted twice: the other tests would read only its first copy."""
    headings = re.findall(r"^## .+$", _FENCE.sub("", _read(document)), re.MULTILINE)
    assert len(headings) == len(set(headings))


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_make_target_exists(document: str) -> None:
    targets = set(re.findall(r"^([a-z][a-z-]*):(?!=)", _read("Makefile"), re.MULTILINE))
    named = {found for code in _code(document) for found in re.findall(r"\bmake (?:-s )?([a-z][a-z-]*)", code)}
    assert named <= targets


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_passage_command_and_option_exists(document: str) -> None:
    for line in _code(document):
        for name, rest in re.findall(r"(?:^|/|\s)passage ([a-z]+)(.*)", line):
            command = main.get_command(click.Context(main), name)
            assert isinstance(command, click.Command), f"there is no `passage {name}`"
            options = {option for parameter in command.params for option in parameter.opts}
            assert set(re.findall(r"--[a-z-]+", rest)) <= options, f"`passage {name}` has only {sorted(options)}"


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_relative_link_leads_somewhere(document: str) -> None:
    for link in _LINK.findall(_FENCE.sub("", _read(document))):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = ((ROOT / document).parent / path).resolve() if path else ROOT / document
        assert target.exists(), f"{link} leads nowhere"
        if anchor:
            assert anchor in _anchors(target), f"{link} has no such heading"


def _anchors(target: Path) -> set[str]:
    """The anchors GitHub gives to a document's headings."""
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", target.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_file_named_in_code_exists(document: str) -> None:
    for code in _SPAN.findall(_FENCE.sub("", _read(document))):
        # `tools/list` and `tools/call` are MCP's methods.
        if re.fullmatch(
            r"(src|docs|events|tests|samples|benchmarks|requirements|layers)/[\w./-]+|tools/[\w/]+\.py", code
        ):
            assert (ROOT / code).exists(), f"{code} is not there"


def test_the_quick_start_is_two_commands() -> None:
    blocks = _FENCE.findall(_section("README.md", "Quick start"))
    assert [line for kind, block in blocks if kind == "sh" for line in block.splitlines()] == ["make run", "make test"]


def test_the_readme_names_every_contract_and_command() -> None:
    status = {row[0]: _names(row[1]) for row in _rows(_section("README.md", "Status"))}
    assert status["contracts"] == list(registry.NAMES)
    assert sorted(status["commands"]) == sorted(f"passage {name}" for name in COMMANDS)


def test_every_contract_has_rules_and_no_rule_is_listed_twice() -> None:
    rules = [(model.split(" · ")[-1], rule) for model, rule in _rows(_read("docs/contract-rules.md"))]
    assert {contract for contract, _ in rules} == {*registry.NAMES, "all"}
    assert len(set(rules)) == len(rules)


def test_each_statement_on_security_names_what_holds_it() -> None:
    held = [row[-1] for row in _rows(_read("docs/security.md"))]
    assert len(held) > 20
    for cell in held:
        named = [ROOT / name for name in _names(cell)]
        named += [ROOT / "docs" / page for page in re.findall(r"\]\(([\w-]+\.md)", cell)]
        assert named, cell
        assert [path for path in named if not path.is_file()] == []
