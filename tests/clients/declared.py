"""The types of both clients and of the OpenAPI document, reduced to one form that can be compared.

A type is a set of alternatives: "string", "number", "boolean", "null", ("list", type) or ("object", fields).
`fields` has each field's name, whether it is always there, and its type; it is None for an object of any fields.
A text of given values counts as a string.
"""

import types
import typing
from collections.abc import Iterator
from functools import cache
from typing import Any, Literal, NotRequired

import tree_sitter_typescript
from tree_sitter import Language, Node, Parser

from conftest import ROOT
from handler.entrypoints.http.routes import document

Type = frozenset[Any]

JSON_NAMES = {"integer": "number"}
PYTHON_NAMES = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null"}


def described(name: str) -> Type:
    """A component of the OpenAPI document."""
    return _schema({"$ref": f"#/components/schemas/{name}"})


def codes_described(name: str) -> set[str]:
    """The error codes of a component, wherever it has its `code`."""
    schemas = document("query-response")["components"]["schemas"]
    fields = schemas[name]["properties"]
    if "code" not in fields:
        fields = schemas[fields["error"]["$ref"].rpartition("/")[2]]["properties"]
    return set(fields["code"]["enum"])


def _schema(schema: dict[str, Any]) -> Type:
    if "$ref" in schema:
        return _schema(document("query-response")["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
    if "anyOf" in schema:
        return frozenset().union(*(_schema(option) for option in schema["anyOf"]))
    if "enum" in schema:
        return frozenset({"string"})
    kinds = schema["type"]
    return frozenset(_of_kind(kind, schema) for kind in ([kinds] if isinstance(kinds, str) else kinds))


def _of_kind(kind: str, schema: dict[str, Any]) -> Any:
    if kind == "array":
        return "list", _schema(schema["items"])
    if kind == "object":
        required = schema.get("required", ())
        fields = schema.get("properties")
        return "object", fields and frozenset((name, name in required, _schema(of)) for name, of in fields.items())
    return JSON_NAMES.get(kind, kind)


@cache
def _typescript() -> dict[str, Node]:
    """The declarations of the JavaScript client's types, by name."""
    source = (ROOT / "clients" / "javascript" / "passage-client.d.ts").read_bytes()
    root = Parser(Language(tree_sitter_typescript.language_typescript())).parse(source).root_node
    assert not root.has_error, "passage-client.d.ts cannot be parsed"
    found = (node.child_by_field_name("declaration") for node in root.named_children)
    return {_text(node.child_by_field_name("name")): node for node in found if node}


def _text(node: Node | None) -> str:
    assert node is not None
    assert node.text is not None
    return node.text.decode()


def in_typescript(name: str) -> Type:
    """An interface or type alias of passage-client.d.ts."""
    node = _typescript()[name]
    if node.type == "type_alias_declaration":
        return _node(_child(node, "value"))
    return frozenset({("object", frozenset(_members(node)))})


def field_names(name: str) -> set[str]:
    """The names of an interface's own fields."""
    members = _child(_typescript()[name], "body").named_children
    return {_text(_child(member, "name")) for member in members if member.type == "property_signature"}


def codes_in_typescript(name: str) -> set[str]:
    """The values of a union of texts."""
    return {text.strip("' |\n") for text in _text(_child(_typescript()[name], "value")).split("|") if text.strip()}


def _child(node: Node, field: str) -> Node:
    child = node.child_by_field_name(field)
    assert child is not None, (field, _text(node))
    return child


def _members(node: Node) -> Iterator[tuple[str, bool, Type]]:
    for clause in node.named_children:
        if clause.type == "extends_type_clause":
            for parent in clause.named_children:
                yield from _members(_typescript()[_text(parent)])
    for member in _child(node, "body").named_children:
        if member.type == "property_signature":
            optional = any(child.type == "?" for child in member.children)
            yield _text(_child(member, "name")), not optional, _node(_child(member, "type").named_children[0])


def _node(node: Node) -> Type:
    match node.type:
        case "union_type":
            return frozenset().union(*(_node(option) for option in node.named_children))
        case "array_type":
            return frozenset({("list", _node(node.named_children[0]))})
        case "literal_type":
            return frozenset({"null" if _text(node) == "null" else "string"})
        case "type_identifier":
            return in_typescript(_text(node))
        case "generic_type":
            assert _text(node).startswith("Record<string,"), _text(node)
            return frozenset({("object", None)})
        case _:
            return frozenset({_text(node)})


def in_python(annotation: Any) -> Type:
    """A TypedDict, or the type of one of its fields."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (NotRequired, typing.Union, types.UnionType):
        return frozenset().union(*(in_python(option) for option in arguments))
    if typing.is_typeddict(annotation):
        return frozenset({("object", frozenset(_fields(annotation)))})
    other = {Literal: "string", dict: ("object", None)}
    if origin is list:
        return frozenset({("list", in_python(arguments[0]))})
    return frozenset({other[origin] if origin else PYTHON_NAMES[annotation]})


def _fields(kind: Any) -> Iterator[tuple[str, bool, Type]]:
    for name, of in typing.get_type_hints(kind, include_extras=True).items():
        yield name, name in kind.__required_keys__, in_python(of)


def optional_fields(whole: Type) -> dict[str, Type]:
    """The fields of an object, each without null: a client leaves a field out instead."""
    ((_, fields),) = whole
    return {name: of - {"null"} for name, _, of in fields}
