"""Snapshots of each option's resources, nested stacks included. `make snapshots` writes them.

`default.json` holds the whole stack of the fewest parameters. Every other file holds what its option adds to that,
removes and changes. A reviewer reads the difference.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from template.cloudformation import ROOT, Stack
from template.options import LEAST, OPTIONS

SNAPSHOTS = ROOT / "tests" / "template" / "snapshots"
_HASH = re.compile(r"\b[0-9a-f]{40}\b|(?<=[a-z])[0-9a-f]{10}\b")
"""Hashes that SAM adds to names and descriptions."""


def _plain(value: Any) -> Any:
    """Without hashes, and with text that is JSON as JSON."""
    if isinstance(value, dict):
        return {_HASH.sub("", key): _plain(part) for key, part in sorted(value.items())}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    if isinstance(value, str) and value.startswith('{"'):
        return json.loads(value)
    return _HASH.sub("", value) if isinstance(value, str) else value


def _differences(before: Any, after: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys()):
            yield from _differences(before.get(key), after.get(key), f"{path}.{key}".lstrip("."))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for position, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _differences(old, new, f"{path}.{position}")
    elif before != after:
        yield path, before, after


def _resources(stack: Stack) -> dict[str, Any]:
    """The resources, with the role's statements by name: a new one must not look as if those after it had changed."""
    resources = _plain(stack.everything())
    role = resources["RetrievalRole"]["Properties"]
    (policy,) = role["Policies"]
    role["Policies"] = {statement.pop("Sid"): statement for statement in policy["PolicyDocument"]["Statement"]}
    return dict(resources)


def _changes(default: Stack, stack: Stack, parameters: Mapping[str, str]) -> dict[str, Any]:
    before, after = _resources(default), _resources(stack)
    return {
        "parameters": {name: value for name, value in parameters.items() if LEAST.get(name) != value},
        "added": {name: after[name] for name in sorted(after.keys() - before.keys())},
        "removed": sorted(before.keys() - after.keys()),
        "changed": {
            path: [old, new]
            for name in sorted(before.keys() & after.keys())
            for path, old, new in _differences(before[name], after[name], name)
        },
        "outputs": sorted(stack.outputs.keys() ^ default.outputs.keys()),
    }


@pytest.mark.parametrize("option", OPTIONS)
def test_option_changes_match_its_snapshot(option: str, made: dict[str, Stack]) -> None:
    default = made["default"]
    found = (
        {"resources": _resources(default), "outputs": _plain(default.outputs)}
        if option == "default"
        else _changes(default, made[option], OPTIONS[option])
    )
    path = SNAPSHOTS / f"{option}.json"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    assert path.exists(), "run `make snapshots`"
    assert found == json.loads(path.read_text(encoding="utf-8")), "if it is meant to be so: `make snapshots`"


def test_every_snapshot_is_an_options() -> None:
    assert {path.stem for path in SNAPSHOTS.iterdir()} == set(OPTIONS)
