"""Evaluates a template as CloudFormation does: parameters and conditions get values, unused resources are gone.

It knows only the functions that our templates use. A reference to a resource stays as it is. A nested template gets the
parameters that template.yaml gives it, so a reference to a resource of template.yaml reaches it unchanged.
"""

import json
import re
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

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
UPLOADED = "uploaded:"
"""Prefix of a resource's name, in place of a parameter's: the state of its uploaded code. See `expand.py`."""


@dataclass(frozen=True, slots=True)
class Stack:
    """The resources of one set of parameters. Lookups by type and name search nested stacks, too."""

    parameters: Mapping[str, Any]
    resources: dict[str, dict[str, Any]]
    outputs: dict[str, Any]
    nested: Mapping[str, "Stack"]

    def everything(self) -> dict[str, dict[str, Any]]:
        """The resources of this stack and of those nested in it, by name."""
        resources = dict(self.resources)
        for stack in self.nested.values():
            assert not resources.keys() & stack.resources.keys(), "a name is unique over all templates"
            resources |= stack.everything()
        return resources

    def of_type(self, kind: str) -> dict[str, dict[str, Any]]:
        """The properties of each resource of a type, by its name."""
        all_of_them = self.everything().items()
        return {name: resource["Properties"] for name, resource in all_of_them if resource["Type"] == f"AWS::{kind}"}

    def __getitem__(self, name: str) -> dict[str, Any]:
        return dict(self.everything()[name].get("Properties", {}))

    def __contains__(self, name: object) -> bool:
        return name in self.everything()


class Refused(Exception):
    """The template's rules refuse the parameters. `str(error)` is the deployment's message."""


def stacks(sets: Mapping[str, Mapping[str, str]]) -> dict[str, Stack]:
    """The stack of each set of parameters.

    Raises:
        Refused: a rule does not hold.
    """
    templates = _expand(json.dumps(sets, sort_keys=True))
    return {name: _Evaluation(templates[name], sets[name]).stack() for name in sets}


def check(parameters: Mapping[str, str]) -> None:
    """Check the template's rules alone.

    Raises:
        Refused: one does not hold.
    """
    _Evaluation(expanded(), parameters).check()


def expanded() -> dict[str, Any]:
    """The template with its own functions and conditions."""
    return dict(_expand(json.dumps({"": {}}))[""])


@cache
def _expand(sets: str) -> dict[str, Any]:
    command = [str(PYTHON_OF_SAM), str(ROOT / "tests" / "template" / "expand.py"), str(ROOT / "template.yaml")]
    done = subprocess.run(command, input=sets, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
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
        given = {name: value for name, value in given.items() if not name.startswith(UPLOADED)}
        assert given.keys() <= declared.keys(), given.keys() - declared.keys()
        values = {name: given[name] if name in given else rule["Default"] for name, rule in declared.items()}
        # A nested template's parameter can be a reference to a resource of its parent.
        self._parameters = {name: value if isinstance(value, dict) else str(value) for name, value in values.items()}
        for name, value in self._parameters.items():
            if isinstance(value, str):
                self._check_parameter(name, value, declared[name])

    def check(self) -> None:
        for rule in self._template.get("Rules", {}).values():
            if "RuleCondition" not in rule or self._value(rule["RuleCondition"]):
                for assertion in rule["Assertions"]:
                    if not self._value(assertion["Assert"]):
                        raise Refused(assertion["AssertDescription"])

    def stack(self) -> Stack:
        self.check()
        resources = self._made(self._template["Resources"])
        nested = {
            name: _Evaluation(
                self._template["Nested"][name], resource["Properties"]["Parameters"], f"{STACK}-{name}"
            ).stack()
            for name, resource in resources.items()
            if resource["Type"] == "AWS::CloudFormation::Stack"
        }
        return Stack(self._parameters, resources, self._made(self._template.get("Outputs", {})), nested)

    @staticmethod
    def _check_parameter(name: str, value: str, declared: Mapping[str, Any]) -> None:
        """Check a value as CloudFormation does before it looks at the rules."""
        if "AllowedValues" in declared and value not in map(str, declared["AllowedValues"]):
            raise Refused(f"{name} is not one of {declared['AllowedValues']}")
        if "AllowedPattern" in declared and not re.fullmatch(declared["AllowedPattern"], value):
            raise Refused(f"{name} does not match {declared['AllowedPattern']}")
        if declared["Type"] == "Number":
            low, high = float(declared.get("MinValue", "-inf")), float(declared.get("MaxValue", "inf"))
            if not low <= float(value) <= high:
                raise Refused(f"{name} is not from {low} to {high}")

    def _made(self, section: Mapping[str, Any]) -> dict[str, Any]:
        return {
            name: self._value({key: part for key, part in entry.items() if key != "Condition"})
            for name, entry in sorted(section.items())
            if "Condition" not in entry or self._condition(entry["Condition"])
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

    def _condition(self, name: str) -> bool:
        return bool(self._value(self._template["Conditions"][name]))

    def _function(self, name: str, argument: Any) -> Any:
        if name == "Fn::GetAtt":
            return {name: argument}
        own: dict[str, Callable[[Any], Any]] = {"Ref": self._ref, "Condition": self._condition}
        own |= {"Fn::If": self._if, "Fn::Sub": self._sub}
        if name in own:
            return own[name](argument)
        values = self._value(argument)
        if name == "Fn::FindInMap":
            return self._template["Mappings"][values[0]][values[1]][values[2]]
        function = _FUNCTIONS[name]
        try:
            return function(*values)
        except (AttributeError, KeyError, TypeError):  # a part of the value is known at deployment only
            return {name: values}

    def _ref(self, name: str) -> Any:
        return self._pseudo.get(name, self._parameters.get(name, {"Ref": name}))

    def _if(self, arguments: list[Any]) -> Any:
        return self._value(arguments[1 if self._condition(arguments[0]) else 2])

    def _sub(self, argument: Any) -> str:
        text, variables = argument if isinstance(argument, list) else (argument, {})
        own = self._value(variables)

        def replaced(match: re.Match[str]) -> str:
            if match[1].startswith("!"):
                return "${" + match[1][1:] + "}"
            value = own.get(match[1], self._ref(match[1]))
            return value if isinstance(value, str) else match[0]

        return re.sub(r"\$\{([^}]+)\}", replaced, text)
