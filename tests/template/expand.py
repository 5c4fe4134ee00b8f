"""Expands a template with AWS SAM, for each of several sets of parameters.

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
        uploaded = deepcopy(template)
        for resource_name, resource in uploaded["Resources"].items():  # `sam deploy` replaces local paths, too
            for key in {"CodeUri", "ContentUri"} & resource["Properties"].keys():
                state = given.get(f"uploaded:{resource_name}", "first")
                resource["Properties"][key] = f"s3://uploaded/{resource_name}-{state}"
        no_managed_policies = SimpleNamespace(load=dict)
        expanded[name] = transform(uploaded, given, no_managed_policies) | {"Nested": nested}
    return expanded


if __name__ == "__main__":
    json.dump(main(Path(sys.argv[1]), json.load(sys.stdin)), sys.stdout)
