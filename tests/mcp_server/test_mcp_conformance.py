"""MCP's own conformance suite against the endpoint, for both eras. A failure must be in expected-failures.toml."""

import json
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from programs import NODE

HERE = Path(__file__).parent / "conformance"
SUITE = HERE / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
VERSIONS = ("2025-11-25", "2026-07-28")


def expected(version: str) -> set[str]:
    groups = tomllib.loads((HERE / "expected-failures.toml").read_text(encoding="utf-8"))["failures"]
    return {check for group in groups for check in group[version]}


def checks(url: str, version: str, folder: Path) -> list[dict[str, Any]]:
    """The results of every scenario of a revision, drafts included."""
    assert SUITE.exists(), "the suite is not installed: run `make test-mcp`, which installs it"
    command = [NODE, SUITE, "server", "--url", f"{url}/mcp", "--suite", "all", "--spec-version", version, "-o", folder]
    subprocess.run(command, capture_output=True, check=False, timeout=60)  # it exits with 1 for an expected failure
    return [check for path in folder.glob("*/checks.json") for check in json.loads(path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("version", VERSIONS)
def test_conformance_suite_fails_only_where_expected(version: str, url: str, tmp_path: Path) -> None:
    found = checks(url, version, tmp_path)
    failed = {check["id"]: check.get("errorMessage") for check in found if check["status"] == "FAILURE"}
    unexpected = {check: why for check, why in failed.items() if check not in expected(version)}
    assert unexpected == {}
    assert expected(version) - failed.keys() == set(), "these checks pass now"
    assert sum(check["status"] == "SUCCESS" for check in found) > 30
