"""Evaluates a template as CloudFormation does: parameters and conditions get values, unused resources are gone.

It knows only the functions that our templates use. A reference to a resource stays as it is. A nested template gets the
parameters that template.yaml gives it, so a reference to a resource of template.yaml reaches it unchanged.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, reduce
from operator import getitem
from pathlib import Path
from typing import Any

from programs import run

ROOT = Path(__file__).resolve().parents[2]
PYTHON_OF_SAM = ROOT / ".venv-sam" / "bin" / "python"
GONE = object()
"""The value of AWS::NoValue."""
STACK = "passage-test"
PSEUDO = {
    "AWS::AccountId": "111122223333",
    "AWS::Partition": "aws",
    "AWS::Region": "eu-central-1",
    "AWS::URLSuffix": "amazonaws.com",
    "AWS::NoValue": GONE,
}


@dataclass(frozen=True, slots=True)
class Stack:
    """What one set of parameters makes, the resources and outputs of nested stacks included."""

    resources: Mapping[str, dict[str, Any]]
    outputs: Mapping[str, Any]
    """Values by name; those of a nested stack after the stack's name and a dot."""
    root: Mapping[str, dict[str, Any]]
    """The resources of template.yaml itself."""

    def of_type(self, kind: str) -> dict[str, dict[str, Any]]:
        """The properties of each resource of a type, by its name."""
        return {name: each["Properties"] for name, each in self.resources.items() if each["Type"] == f"AWS::{kind}"}

    def __getitem__(self, name: str) -> dict[str, Any]:
        """The attributes and properties of a resource, together."""
        return {**self.resources[name], **self.resources[name].get("Properties", {})}


class Refused(Exception):
    """The template's rules refuse the parameters. `str(error)` is the deployment's message."""


def stacks(sets: Mapping[str, Mapping[str, str]]) -> dict[str, Stack]:
    """The stack of each set of parameters. Raises `Refused` where a rule does not hold."""
    templates = _expand(json.dumps(sets, sort_keys=True))
    return {name: _Evaluation(templates[name], sets[name]).stack() for name in sets}


def check(parameters: Mapping[str, str]) -> None:
    """Check the template's rules alone. Raises `Refused` where one does not hold."""
    _Evaluation(expanded(), parameters).check()


def expanded() -> dict[str, Any]:
    """The template with its own functions and conditions."""
    return dict(_expand(json.dumps({"": {}}))[""])


@cache
def _expand(sets: str) -> dict[str, Any]:
    command = (PYTHON_OF_SAM, ROOT / "tests" / "template" / "expand.py", ROOT / "template.yaml")
    return dict(json.loads(run(*command, input=sets).stdout))


def at(node: Any, path: str) -> Any:
    """The value at a path of keys and positions; None where there is none."""
    for key in path.split("/"):
        if isinstance(node, list):
            node = node[int(key)]
        elif node is not None:
            node = node.get(key)
    return node


_OF_VALUES: Mapping[str, Callable[..., Any]] = {
    "Fn::Equals": lambda left, right: str(left) == str(right),
    "Fn::Not": lambda value: not value,
    "Fn::And": lambda *values: all(values),
    "Fn::Or": lambda *values: any(values),
    "Fn::Split": lambda separator, text: text.split(separator),
    "Fn::Select": lambda number, parts: parts[int(number)],
    "Fn::Join": str.join,
}


class _Evaluation:
    def __init__(self, template: Mapping[str, Any], given: Mapping[str, Any], stack: str = STACK) -> None:
        self._template = template
        self._pseudo = {**PSEUDO, "AWS::StackName": stack}
        declared = template["Parameters"]
        given = {name: value for name, value in given.items() if not name.startswith("uploaded:")}  # see expand.py
        assert given.keys() <= declared.keys(), given.keys() - declared.keys()
        values = {name: given[name] if name in given else rule["Default"] for name, rule in declared.items()}
        # A nested template's parameter can be a reference to a resource of its parent.
        self._parameters = {name: value if isinstance(value, dict) else str(value) for name, value in values.items()}
        for name, value in self._parameters.items():
            if isinstance(value, str) and not _fits(value, declared[name]):
                raise Refused(f"{name} is not as its declaration wants it")
        self._functions: dict[str, Callable[[Any], Any]] = {
            "Condition": lambda name: bool(self._value(template["Conditions"][name])),
            "Ref": lambda name: self._pseudo.get(name, self._parameters.get(name, {"Ref": name})),
            "Fn::GetAtt": lambda names: {"Fn::GetAtt": names},
            "Fn::FindInMap": lambda keys: reduce(getitem, self._value(keys), template["Mappings"]),
            "Fn::If": lambda parts: self._value(parts[1 if self._functions["Condition"](parts[0]) else 2]),
            "Fn::Sub": self._sub,
        }

    def check(self) -> None:
        for rule in self._template.get("Rules", {}).values():
            if "RuleCondition" not in rule or self._value(rule["RuleCondition"]):
                for assertion in rule["Assertions"]:
                    if not self._value(assertion["Assert"]):
                        raise Refused(assertion["AssertDescription"])

    def stack(self) -> Stack:
        self.check()
        root = self._made(self._template["Resources"])
        resources = dict(root)
        outputs = {name: entry["Value"] for name, entry in self._made(self._template.get("Outputs", {})).items()}
        for name, template in self._template.get("Nested", {}).items():
            if name in root:
                nested = _Evaluation(template, at(root[name], "Properties/Parameters"), f"{STACK}-{name}").stack()
                assert not resources.keys() & nested.resources.keys(), "a name is unique over all templates"
                resources |= nested.resources
                outputs |= {f"{name}.{output}": value for output, value in nested.outputs.items()}
        return Stack(resources, outputs, root)

    def _made(self, section: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: self._value({key: part for key, part in entry.items() if key != "Condition"})
            for name, entry in sorted(section.items())
            if "Condition" not in entry or self._functions["Condition"](entry["Condition"])
        }

    def _value(self, node: Any) -> Any:
        if isinstance(node, list):
            return [value for value in map(self._value, node) if value is not GONE]
        if not isinstance(node, dict):
            return node
        if len(node) == 1:
            ((name, argument),) = node.items()
            if name.startswith("Fn::") or name == "Ref" or (name == "Condition" and isinstance(argument, str)):
                return self._function(name, argument)
        return {key: value for key, part in node.items() if (value := self._value(part)) is not GONE}

    def _function(self, name: str, argument: Any) -> Any:
        if name in self._functions:
            return self._functions[name](argument)
        values = self._value(argument)
        try:
            return _OF_VALUES[name](*values)
        except (AttributeError, KeyError, TypeError):  # a part of the value is known at deployment only
            return {name: values}

    def _sub(self, argument: Any) -> str:
        text, variables = argument if isinstance(argument, list) else (argument, {})
        own = self._value(variables)

        def replaced(match: re.Match[str]) -> str:
            if match[1].startswith("!"):
                return "${" + match[1][1:] + "}"
            value = own.get(match[1], self._functions["Ref"](match[1]))
            return value if isinstance(value, str) else match[0]

        return re.sub(r"\$\{([^}]+)\}", replaced, text)


def _fits(value: str, declared: Mapping[str, Any]) -> bool:
    """Whether CloudFormation takes the parameter's value, before it looks at the rules."""
    low, high = declared.get("MinValue", "-inf"), declared.get("MaxValue", "inf")
    in_range = declared["Type"] != "Number" or float(low) <= float(value) <= float(high)
    allowed = map(str, declared.get("AllowedValues", [value]))
    return in_range and value in allowed and bool(re.fullmatch(declared.get("AllowedPattern", r"[\s\S]*"), value))
