"""Reads literals and constants in JavaScript and TypeScript, without running the code."""

from collections.abc import Callable
from functools import cache
from typing import Any

import tree_sitter_typescript
from tree_sitter import Language, Node, Parser

_DEEPEST = 40

_LONGEST = 300
"""The most lines of one statement in a page."""


class Unknown:
    """A value that only running the program would give."""


UNKNOWN = Unknown()

Constants = dict[str, Node]
"""The values of a module's names, unread."""

_LITERALS = {"true": True, "false": False, "null": None, "undefined": None}


def default_export(source: bytes) -> dict[str, Any]:
    """The object that a module exports; empty where it exports none. A computed value is `UNKNOWN`."""
    root = _parser().parse(source).root_node
    constants: dict[str, Node] = {}
    exported: Node | None = None
    for statement in root.named_children:
        if statement.type == "export_statement":
            exported = statement.child_by_field_name("value") or exported
            declaration = statement.child_by_field_name("declaration")
            if declaration is not None:
                if statement.text and statement.text.startswith(b"export default"):
                    exported = declaration
                _declare(declaration, constants)
        elif statement.type == "expression_statement":
            exported = _module_exports(statement) or exported
        else:
            _declare(statement, constants)
    value = _value(exported, constants, 0) if exported is not None else UNKNOWN
    return value if isinstance(value, dict) else {}


def statement(text: str) -> str | None:
    """The import or export at the beginning of `text`, in whole lines; None where there is none.

    Markdown after the statement would break the parser's tree. So the parser gets more lines until the tree is valid.
    """
    lines = text.split("\n", _LONGEST)[:_LONGEST]
    for number in range(1, len(lines) + 1):
        source = "\n".join(lines[:number])
        if number > 1 and not lines[number - 1].strip() and _is_closed(source):
            return None  # a paragraph has ended, and no bracket is open: prose
        root = _parser().parse(source.encode("utf-8", "replace")).root_node
        kinds = {child.type for child in root.named_children if child.type != "comment"}
        if not root.has_error and kinds and kinds <= {"import_statement", "export_statement"}:
            return source
    return None


def _is_closed(source: str) -> bool:
    return all(source.count(opening) <= source.count(closing) for opening, closing in ("{}", "()", "[]"))


@cache
def _parser() -> Parser:
    return Parser(Language(tree_sitter_typescript.language_tsx()))


def _declare(statement: Node, constants: Constants) -> None:
    if statement.type == "function_declaration":
        if name := statement.child_by_field_name("name"):
            constants[_text(name)] = statement
        return
    for declared in statement.named_children:
        if declared.type == "variable_declarator":
            name, value = declared.child_by_field_name("name"), declared.child_by_field_name("value")
            if name is not None and value is not None and name.type == "identifier":
                constants[_text(name)] = value


def _module_exports(statement: Node) -> Node | None:
    assignment = statement.named_children[0] if statement.named_children else None
    if assignment is None or assignment.type != "assignment_expression":
        return None
    left = assignment.child_by_field_name("left")
    is_export = left is not None and _text(left) in ("module.exports", "exports.default")
    return assignment.child_by_field_name("right") if is_export else None


def _value(node: Node, constants: Constants, depth: int) -> Any:
    """A node's value; `UNKNOWN` where it is computed."""
    if node.type in _LITERALS:
        return _LITERALS[node.type]
    read = _READERS.get(node.type)
    return read(node, constants, depth + 1) if read is not None and depth < _DEEPEST else UNKNOWN


def _array(node: Node, constants: Constants, depth: int) -> Any:
    return [_value(each, constants, depth) for each in node.named_children if each.type != "comment"]


def _name(node: Node, constants: Constants, depth: int) -> Any:
    known = constants.get(_text(node))
    return _value(known, constants, depth) if known is not None else UNKNOWN


def _wrapped(node: Node, constants: Constants, depth: int) -> Any:
    inner = next((each for each in node.named_children if each.type != "comment"), None)
    return _value(inner, constants, depth) if inner is not None else UNKNOWN


def _call(node: Node, constants: Constants, depth: int) -> Any:
    """`defineConfig({…})`, `withMermaid(defineConfig({…}))`: the object that is passed on."""
    arguments = node.child_by_field_name("arguments")
    values = [_value(each, constants, depth) for each in (arguments.named_children if arguments else [])]
    return next((value for value in values if isinstance(value, dict)), UNKNOWN)


def _member(node: Node, constants: Constants, depth: int) -> Any:
    holder, name = node.child_by_field_name("object"), node.child_by_field_name("property")
    value = _value(holder, constants, depth) if holder is not None else UNKNOWN
    return value.get(_text(name), UNKNOWN) if isinstance(value, dict) and name is not None else UNKNOWN


def _default(node: Node, constants: Constants, depth: int) -> Any:
    """`process.env.NAME || "value"`: the value, because the environment here is not the build's."""
    left, operator, right = (node.child_by_field_name(name) for name in ("left", "operator", "right"))
    if left is None or operator is None or right is None or _text(operator) not in ("||", "??"):
        return UNKNOWN
    value = _value(left, constants, depth)
    if not isinstance(value, Unknown):
        return value or _value(right, constants, depth)
    return _value(right, constants, depth) if _text(left).startswith("process.env.") else UNKNOWN


def _returned(node: Node, constants: Constants, depth: int) -> Any:
    """The value that a function without conditions returns, for a configuration that is a function."""
    body = node.child_by_field_name("body")
    if body is None:
        return UNKNOWN
    if body.type != "statement_block":
        value = _value(body, constants, depth)
        return value if isinstance(value, dict) else UNKNOWN
    inner = dict(constants)
    for statement in body.named_children:
        _declare(statement, inner)
        if statement.type == "return_statement" and statement.named_children:
            value = _value(statement.named_children[0], inner, depth)
            return value if isinstance(value, dict) else UNKNOWN
    return UNKNOWN


def _object(node: Node, constants: Constants, depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for each in node.named_children:
        if each.type == "pair":
            key, value = each.child_by_field_name("key"), each.child_by_field_name("value")
            if key is not None and value is not None and key.type != "computed_property_name":
                name = _string(key, constants, depth) if key.type == "string" else _text(key)
                found[str(name)] = _value(value, constants, depth)
        elif each.type == "shorthand_property_identifier":
            known = constants.get(_text(each))
            found[_text(each)] = _value(known, constants, depth) if known is not None else UNKNOWN
        elif each.type == "spread_element" and each.named_children:
            value = _value(each.named_children[0], constants, depth)
            found.update(value if isinstance(value, dict) else {})
        elif each.type == "method_definition" and (method := each.child_by_field_name("name")):
            found[_text(method)] = UNKNOWN
    return found


def _string(node: Node, constants: Constants, depth: int) -> Any:
    parts = []
    for each in node.named_children:
        if each.type == "template_substitution":
            value = _value(each.named_children[0], constants, depth) if each.named_children else UNKNOWN
            if not isinstance(value, str | int | float):
                return UNKNOWN
            parts.append(str(value))
        elif each.type == "escape_sequence":
            parts.append(_escaped(_text(each)))
        else:
            parts.append(_text(each))
    return "".join(parts)


def _escaped(sequence: str) -> str:
    known = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}
    try:
        if sequence[1] in "ux":
            return chr(int(sequence[2:].strip("{}"), 16))
    except (ValueError, OverflowError):
        return ""
    return known.get(sequence[1], sequence[1:])


def _number(node: Node, _: Constants, __: int) -> Any:
    try:
        number = float(_text(node))
    except ValueError:
        return UNKNOWN
    return int(number) if number.is_integer() else number


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


_READERS: dict[str, Callable[[Node, Constants, int], Any]] = {
    "string": _string,
    "template_string": _string,
    "number": _number,
    "object": _object,
    "array": _array,
    "identifier": _name,
    "parenthesized_expression": _wrapped,
    "satisfies_expression": _wrapped,
    "as_expression": _wrapped,
    "non_null_expression": _wrapped,
    "await_expression": _wrapped,
    "call_expression": _call,
    "member_expression": _member,
    "binary_expression": _default,
    "arrow_function": _returned,
    "function_declaration": _returned,
    "function_expression": _returned,
}
