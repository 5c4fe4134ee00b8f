"""Writes the types of both clients from docs/openapi.json: `python -m tools.client_types`, as `make openapi` does."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from handler.config import profiles

ROOT = Path(__file__).parents[1]
TYPESCRIPT = ROOT / "clients" / "javascript" / "types.d.ts"
PYTHON = ROOT / "clients" / "python" / "src" / "passage_client" / "types.py"

Schema = Mapping[str, Any]

NOTE = "The API's questions, answers and error codes. Written from its OpenAPI document by `make openapi`: do not edit."


@dataclass(frozen=True)
class Shape:
    """An object type.

    Attributes:
        base: the type whose fields it has, too; "" without one.
        fields: each field's schema, and whether it is always there.
    """

    name: str
    words: str
    base: str
    fields: Mapping[str, tuple[Schema, bool]]


@dataclass(frozen=True)
class Syntax:
    """How a language writes a type."""

    simple: Mapping[str, str]
    array: Callable[[str], str]
    mapping: str
    literals: Callable[[Sequence[str]], str]

    def type(self, schema: Schema, names: Mapping[str, str]) -> str:
        """A schema as a type.

        Args:
            names: the types of the document's components, and of lists of error codes.
        """
        kinds: Any = schema.get("type")
        if "$ref" in schema:
            return names[schema["$ref"].rpartition("/")[2]]
        if "enum" in schema:
            return names.get(" ".join(schema["enum"])) or self.literals(schema["enum"])
        if "anyOf" in schema or isinstance(kinds, list):
            options = schema.get("anyOf") or [{**schema, "type": kind} for kind in kinds]
            return " | ".join(dict.fromkeys(self.type(option, names) for option in options))
        if kinds == "array":
            return self.array(self.type(schema["items"], names))
        if kinds == "object":
            if "properties" in schema:
                raise ValueError("an object with fields needs a name in the document: a client's type has one")
            values = schema.get("additionalProperties")
            return self.mapping.format(self.type(values, names) if isinstance(values, dict) else self.simple["any"])
        return self.simple[kinds]


IN_TYPESCRIPT = Syntax(
    simple={
        "integer": "number",
        "number": "number",
        "string": "string",
        "boolean": "boolean",
        "null": "null",
        "any": "unknown",
    },
    array=lambda item: f"({item})[]" if "|" in item else f"{item}[]",
    mapping="Record<string, {}>",
    literals=lambda values: " | ".join(f"'{value}'" for value in values),
)
IN_PYTHON = Syntax(
    simple={
        "integer": "int",
        "number": "float",
        "string": "str",
        "boolean": "bool",
        "null": "None",
        "any": "Any",
    },
    array="list[{}]".format,
    mapping="dict[str, {}]",
    literals=lambda values: f"Literal[{', '.join(json.dumps(value) for value in values)}]",
)


class Document:
    """The parts of the OpenAPI document that the clients' types are made from."""

    def __init__(self, document: Mapping[str, Any], contracts: Mapping[str, str]) -> None:
        """`contracts` has the name of each contract by the start of its components' names."""
        self.schemas: Mapping[str, Schema] = document["components"]["schemas"]
        self.contracts = contracts
        self.names = {name: self._public(name) for name in self.schemas}
        self.names |= {" ".join(self.codes(start)): f"{start}Code" for start in contracts}
        requests = [self._question(start) for start in contracts]
        answers = [self._fields(f"{start}Response") for start in contracts]
        self.options, self.any_answer = _common(requests), _common(answers)

    def _public(self, component: str) -> str:
        start = max((start for start in self.contracts if component.startswith(start)), key=len, default="")
        rest = component.removeprefix(start)
        if rest in ("Request", "Response"):
            return start + {"Request": "Question", "Response": "Answer"}[rest]
        return start + rest.removeprefix("Response") if start else component

    def _fields(self, component: str) -> dict[str, tuple[Schema, bool]]:
        schema = self.schemas[component]
        required = schema.get("required", ())
        return {name: (field, name in required) for name, field in schema["properties"].items()}

    def _question(self, start: str) -> dict[str, tuple[Schema, bool]]:
        """A question's fields. A client leaves a field out instead of sending null."""
        fields = self._fields(f"{start}Request")
        return {name: (_sent(name, schema), required) for name, (schema, required) in fields.items()}

    def ask_fields(self) -> dict[str, Schema]:
        """What all questions can have besides the question: text or vector."""
        fields: dict[str, Schema] = {}
        for start in self.contracts:
            _text, *others = self._question(start).items()
            fields |= {name: schema for name, (schema, _) in others if name != "query_vector"}
        return fields

    def codes(self, start: str) -> list[str]:
        """A contract's error codes."""
        fields = self.schemas[f"{start}Error"]["properties"]
        if "code" not in fields:
            fields = self.schemas[fields["error"]["$ref"].rpartition("/")[2]]["properties"]
        return list(fields["code"]["enum"])

    def shapes(self, others: Sequence[str]) -> Iterator[Shape]:
        """All object types, each after those that it names.

        Args:
            others: the components to write besides those of the contracts.
        """
        seen: set[str] = set()
        yield Shape("AskOptions", "Options that every contract's question can have.", "", self.options)
        yield from self._needed(self.any_answer, seen)
        yield Shape("AnyAnswer", "What every contract's answer can have.", "", self.any_answer)
        for start in self.contracts:
            asked = _without(self._question(start), self.options)
            yield Shape(f"{start}Question", self._words(f"{start}Request"), "AskOptions", asked)
            answered = _without(self._fields(f"{start}Response"), self.any_answer)
            yield from self._needed(answered, seen)
            yield Shape(f"{start}Answer", self._words(f"{start}Response"), "AnyAnswer", answered)
        for name in others:
            yield from self._component(name, seen)

    def _component(self, name: str, seen: set[str]) -> Iterator[Shape]:
        if name not in seen:
            seen.add(name)
            fields = self._fields(name)
            yield from self._needed(fields, seen)
            yield Shape(self.names[name], self._words(name), "", fields)

    def _needed(self, fields: Mapping[str, tuple[Schema, bool]], seen: set[str]) -> Iterator[Shape]:
        for schema, _ in fields.values():
            for name in _references(schema):
                yield from self._component(name, seen)

    def _words(self, component: str) -> str:
        return str(self.schemas[component].get("description", ""))


def _sent(name: str, schema: Schema) -> Schema:
    if name == "filters":  # which there are is the profile's matter
        return {"type": "object", "description": schema["description"]}
    if "anyOf" in schema:
        return {**schema, "anyOf": [option for option in schema["anyOf"] if option.get("type") != "null"]}
    kinds = schema.get("type")
    values = {"enum": [value for value in schema["enum"] if value is not None]} if "enum" in schema else {}
    return {**schema, "type": kinds[0], **values} if isinstance(kinds, list) else schema


def _common(several: Sequence[Mapping[str, tuple[Schema, bool]]]) -> dict[str, tuple[Schema, bool]]:
    first, *others = several
    return {name: field for name, field in first.items() if all(name in other for other in others)}


def _without(fields: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    return {name: field for name, field in fields.items() if name not in base}


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if "$ref" in value:
            yield value["$ref"].rpartition("/")[2]
        for inner in value.values():
            yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)


def typescript(of: Document) -> str:
    """The types of the JavaScript client."""
    lines = [f"/** {NOTE} */", "", "/** Each contract's question, answer and error codes. */"]
    lines.append("export interface Contracts {")
    for start, name in of.contracts.items():
        lines.append(f"  {name}: {{ question: {start}Question; answer: {start}Answer; code: {start}Code }}")
    lines.append("}")
    for start in of.contracts:
        lines += ["", f"export type {start}Code =", *(f"  | '{code}'" for code in of.codes(start))]
    for shape in of.shapes(["Chunk", "CollectionInfo", "ProfileList", "Feedback"]):
        lines += ["", *_comment(shape.words, "")]
        lines.append(f"export interface {shape.name} {f'extends {shape.base} ' if shape.base else ''}{{")
        for name, (schema, required) in shape.fields.items():
            lines += _comment(schema.get("description", ""), "  ")
            kind = IN_TYPESCRIPT.type(schema, of.names)
            kind = kind if required or shape.name != "Feedback" else kind.removesuffix(" | null")
            lines.append(f"  {name}{'' if required else '?'}: {kind}")
        lines.append("}")
    return "\n".join(lines) + "\n"


def _comment(words: str, indent: str) -> list[str]:
    return [f"{indent}/** {words} */"] if words else []


def python(of: Document) -> str:
    """The types of the Python client."""
    lines = [f'"""{NOTE}"""', "", "from typing import Any, Literal, NotRequired, TypedDict", ""]
    lines += ["from passage_client.records import Record"]
    optional: set[str] = set()
    for start in of.contracts:
        lines += ["", f"{start}Code = {IN_PYTHON.literals(of.codes(start))}"]
    for shape in of.shapes(["Chunk", "CollectionInfo", "ProfileList"]):
        asked = shape.name == "AskOptions" or shape.name.endswith("Question")
        lines += ["", "", f"class {shape.name}({shape.base or ('TypedDict' if asked else 'Record')}):"]
        lines += [f'    """{shape.words}"""', ""] if shape.words else []
        for name, (schema, required) in shape.fields.items():
            kind = IN_PYTHON.type(schema, of.names)
            absent = f"NotRequired[{kind}]" if asked else f"{kind.removesuffix(' | None')} | None"
            lines.append(f"    {name}: {kind if required else absent}")
            lines += [f'    """{schema["description"]}"""'] if schema.get("description") else []
            optional |= set() if asked or required else {name}
    lines += ["", "", "class AskFields(TypedDict, total=False):"]
    lines += ['    """The fields of all contracts\' questions, besides the question itself."""', ""]
    lines += [f"    {name}: {IN_PYTHON.type(schema, of.names)}" for name, schema in of.ask_fields().items()]
    lines += ["", "", f"OPTIONAL = frozenset({json.dumps(sorted(optional))})"]
    lines += ['"""The fields that an answer may lack."""']
    ruff = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(PYTHON), "-"]
    return subprocess.run(  # noqa: S603 - our own arguments
        ruff, input="\n".join(lines), capture_output=True, text=True, check=True
    ).stdout


def document() -> Document:
    """The committed OpenAPI document, in which each shipped profile has its contract's types."""
    starts = {"".join(map(str.capitalize, name.split("-"))): profiles.load(name).contract for name in profiles.names()}
    return Document(json.loads((ROOT / "docs" / "openapi.json").read_text(encoding="utf-8")), starts)


def written() -> dict[Path, str]:
    """The text of each file."""
    return {TYPESCRIPT: typescript(document()), PYTHON: python(document())}


if __name__ == "__main__":
    for path, text in written().items():
        path.write_text(text, encoding="utf-8")
