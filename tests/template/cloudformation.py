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
GONE = object()
"""The value of AWS::NoValue."""
NESTED = "AWS::CloudFormation::Stack"

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

PYTHON_OF_SAM = ROOT / ".venv-sam" / "bin" / "python"


@dataclass(frozen=True, slots=True)
class Stack:
    """The resources of one set of parameters. Lookups by type and name search nested stacks, too."""

    parameters: Mapping[str, Any]
    resources: dict[str, dict[str, Any]]
    outputs: dict[str, Any]
    nested: Mapping[str, "Stack"]

    def everything(self) -> dict[str, dict[str, Any]]:
        """The resources of this stack and of those nested in it, by name."""
        found = dict(self.resources)
        for stack in self.nested.values():
            assert not found.keys() & stack.resources.keys(), "a name is unique over all templates"
            found |= stack.everything()
        return found

    def of_type(self, kind: str) -> dict[str, dict[str, Any]]:
        """The properties of each resource of a type, by its name."""
        return {
            name: resource["Properties"]
            for name, resource in self.everything().items()
            if resource["Type"] == f"AWS::{kind}"
        }

    def __getitem__(self, name: str) -> dict[str, Any]:
        """A resource's properties, by its name with or without the hash that SAM adds."""
        resources = self.everything()
        named = [key for key in resources if key == name or re.fullmatch(re.escape(name) + r"[0-9a-f]{10}", key)]
        assert len(named) == 1, f"{name}: {named or sorted(resources)}"
        return dict(resources[named[0]].get("Properties", {}))

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
    _Evaluation(_expand(_RULES)["rules"], parameters).check()


def rules() -> Mapping[str, Mapping[str, Any]]:
    """The template's rules, with their functions as CloudFormation gets them."""
    return dict(_expand(_RULES)["rules"]["Rules"])


_RULES = json.dumps({"rules": {}})


@cache
def _expand(sets: str) -> dict[str, Any]:
    done = subprocess.run(
        [str(PYTHON_OF_SAM), str(ROOT / "tests" / "template" / "expand.py"), str(ROOT / "template.yaml")],
        input=sets,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


class _Evaluation:
    def __init__(self, template: Mapping[str, Any], given: Mapping[str, Any], stack: str = STACK) -> None:
        self._template = template
        self._pseudo = {**PSEUDO, "AWS::StackName": stack}
        declared = template["Parameters"]
        given = {name: value for name, value in given.items() if not name.startswith(UPLOADED)}
        assert given.keys() <= declared.keys(), given.keys() - declared.keys()
        missing = {name for name in declared if name not in given and "Default" not in declared[name]}
        assert not missing, f"parameters without a value: {missing}"
        values = {name: given.get(name, declared[name].get("Default")) for name in declared}
        # A nested template's parameter can be a reference to a resource of its parent.
        self._parameters = {name: value if isinstance(value, dict) else str(value) for name, value in values.items()}
        for name, value in self._parameters.items():
            if not isinstance(value, dict):
                self._check_parameter(name, value, declared[name])
        self._functions: dict[str, Callable[[Any], Any]] = {
            "Ref": self._ref,
            "Condition": self._condition,
            "Fn::If": lambda arguments: self._value(arguments[1 if self._condition(arguments[0]) else 2]),
            "Fn::Equals": lambda arguments: str(self._value(arguments[0])) == str(self._value(arguments[1])),
            "Fn::Not": lambda arguments: not self._value(arguments[0]),
            "Fn::And": lambda arguments: all(map(self._value, arguments)),
            "Fn::Or": lambda arguments: any(map(self._value, arguments)),
            "Fn::FindInMap": self._find_in_map,
            "Fn::Sub": self._sub,
            "Fn::Split": self._split,
            "Fn::Select": self._select,
            "Fn::Join": self._join,
        }

    def check(self) -> None:
        for rule in self._template.get("Rules", {}).values():
            if "RuleCondition" in rule and not self._value(rule["RuleCondition"]):
                continue
            for assertion in rule["Assertions"]:
                if not self._value(assertion["Assert"]):
                    raise Refused(assertion["AssertDescription"])

    def stack(self) -> Stack:
        self.check()
        resources = self._made(self._template["Resources"])
        return Stack(
            parameters=self._parameters,
            resources=resources,
            outputs=self._made(self._template.get("Outputs", {})),
            nested={name: self._nested(name, made) for name, made in resources.items() if made["Type"] == NESTED},
        )

    def _nested(self, name: str, resource: Mapping[str, Any]) -> Stack:
        template = self._template["Nested"][name]
        return _Evaluation(template, resource["Properties"]["Parameters"], f"{STACK}-{name}").stack()

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
            if name in self._functions and (name != "Condition" or isinstance(argument, str)):
                return self._functions[name](argument)
            if name == "Fn::GetAtt":
                return node
            assert not name.startswith("Fn::"), f"{name} is not understood yet"
        return {key: value for key, part in node.items() if (value := self._value(part)) is not GONE}

    def _ref(self, name: str) -> Any:
        return self._pseudo.get(name, self._parameters.get(name, {"Ref": name}))

    def _condition(self, name: str) -> bool:
        return bool(self._value(self._template["Conditions"][name]))

    def _find_in_map(self, arguments: list[Any]) -> Any:
        name, key, second = map(self._value, arguments)
        return self._template["Mappings"][name][key][second]

    def _split(self, arguments: Any) -> Any:
        text = self._value(arguments[1])
        return text.split(arguments[0]) if isinstance(text, str) else {"Fn::Split": [arguments[0], text]}

    def _select(self, arguments: Any) -> Any:
        parts = self._value(arguments[1])
        return parts[int(arguments[0])] if isinstance(parts, list) else {"Fn::Select": [arguments[0], parts]}

    def _join(self, arguments: list[Any]) -> Any:
        parts = self._value(arguments[1])
        return (
            arguments[0].join(parts)
            if all(isinstance(part, str) for part in parts)
            else {"Fn::Join": [arguments[0], parts]}
        )

    def _sub(self, arguments: Any) -> str:
        text, variables = arguments if isinstance(arguments, list) else (arguments, {})
        own = {name: self._value(value) for name, value in variables.items()}

        def replaced(match: re.Match[str]) -> str:
            if match[1].startswith("!"):
                return "${" + match[1][1:] + "}"
            value = own.get(match[1], self._ref(match[1]))
            return value if isinstance(value, str) else match[0]

        return re.sub(r"\$\{([^}]+)\}", replaced, text)
