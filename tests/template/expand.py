"""Expands template.yaml with AWS SAM, for each of several sets of parameters.

Run by the Python of `.venv-sam`, which has SAM:

    .venv-sam/bin/python tests/template/expand.py template.yaml < sets.json > expanded.json

`sets.json` is `{"name": {"Parameter": "value"}}`; a parameter that is left out has its default. `uploaded:` before a
resource's name says which of several states of its code was uploaded. `Nested` in the output holds the templates of
nested stacks, by the resource that names them.
"""

import itertools
import json
import logging
import os
import sys
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

# SAM reads only the partition from the region.
os.environ.setdefault("AWS_DEFAULT_REGION", "eu-central-1")

from samtranslator.model import apigateway
from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import yaml_parse

UPLOADED = "uploaded:"


class _NoManagedPolicies:
    """The template names no managed policy."""

    def load(self) -> dict[str, str]:
        return {}


def _with_code(template: dict[str, Any], states: dict[str, str]) -> dict[str, Any]:
    """Replace local paths by addresses of uploaded code, as `sam deploy` does."""
    for resource_name, resource in template["Resources"].items():
        for name in ("CodeUri", "ContentUri"):
            if name in resource["Properties"]:
                state = states.get(f"{UPLOADED}{resource_name}", "first")
                resource["Properties"][name] = f"s3://uploaded/{resource_name}-{state}"
    return template


def main(path: Path, sets: dict[str, dict[str, str]]) -> dict[str, Any]:
    logging.disable(logging.CRITICAL)
    # SAM puts the time into some names. Each set of parameters gets its own fixed second.
    apigateway.time = SimpleNamespace(time=itertools.count(1).__next__)
    template = yaml_parse(path.read_text(encoding="utf-8"))
    nested = {
        name: yaml_parse((path.parent / resource["Properties"]["TemplateURL"]).read_text(encoding="utf-8"))
        for name, resource in template["Resources"].items()
        if resource["Type"] == "AWS::CloudFormation::Stack"
    }
    expanded = {}
    for name, given in sets.items():
        parameters = {key: value for key, value in given.items() if not key.startswith(UPLOADED)}
        with_code = _with_code(deepcopy(template), given)
        expanded[name] = transform(with_code, parameters, _NoManagedPolicies()) | {"Nested": nested}
    return expanded


if __name__ == "__main__":
    json.dump(main(Path(sys.argv[1]), json.load(sys.stdin)), sys.stdout)
