"""What AWS SAM makes of template.yaml, for each of several sets of parameters.

Run by the Python of `.venv-sam`, which has SAM:

    .venv-sam/bin/python tests/template/expand.py template.yaml < sets.json > expanded.json

`sets.json` is `{"name": {"Parameter": "value"}}`; a parameter that is left out has its default. `uploaded:` before a
resource's name says which of several states of its code was uploaded.
"""

import itertools
import json
import logging
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

# The region decides about partition and nothing else.
os.environ.setdefault("AWS_DEFAULT_REGION", "eu-central-1")

from samtranslator.model import apigateway
from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import yaml_parse

UPLOADED = "uploaded:"


class _NoManagedPolicies:
    """The template names none."""

    def load(self) -> dict[str, str]:
        return {}


def _with_code(template: dict[str, Any], states: dict[str, str]) -> dict[str, Any]:
    """Put the address of uploaded code in, as `sam deploy` does."""
    for resource_name, resource in template["Resources"].items():
        for name in ("CodeUri", "ContentUri"):
            if name in resource["Properties"]:
                state = states.get(f"{UPLOADED}{resource_name}", "first")
                resource["Properties"][name] = f"s3://uploaded/{resource_name}-{state}"
    return template


def _parameters(given: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in given.items() if not name.startswith(UPLOADED)}


def main(path: Path, sets: dict[str, dict[str, str]]) -> dict[str, Any]:
    logging.disable(logging.CRITICAL)
    # Names that SAM makes of the time: each set of parameters has a second of its own, and the same one every time.
    apigateway.time = SimpleNamespace(time=itertools.count(1).__next__)
    text = path.read_text(encoding="utf-8")
    return {
        name: transform(_with_code(yaml_parse(text), given), _parameters(given), _NoManagedPolicies())
        for name, given in sets.items()
    }


if __name__ == "__main__":
    json.dump(main(Path(sys.argv[1]), json.load(sys.stdin)), sys.stdout)
