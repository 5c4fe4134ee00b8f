"""The JavaScript client's own tests, its package and its size."""

import gzip
import json
import os
from pathlib import Path

from conftest import ROOT
from programs import NODE, NPM, run

FOLDER = ROOT / "clients" / "javascript"
MOST_BYTES = 2_048


def test_its_own_tests_pass_against_the_api(api_url: str) -> None:
    command = (NODE, "--test", "--test-reporter=spec", "test/client.test.js")
    assert "skipped 0" in run(*command, cwd=FOLDER, env={**os.environ, "PASSAGE_URL": api_url}).stdout


def test_client_is_small_enough() -> None:
    """As it is published, comments included; a bundler makes it smaller."""
    assert len(gzip.compress((FOLDER / "passage-client.js").read_bytes(), 9, mtime=0)) <= MOST_BYTES


def test_package_holds_client_types_and_license(tmp_path: Path) -> None:
    environ = {**os.environ, "npm_config_cache": str(tmp_path), "npm_config_update_notifier": "false"}
    (package,) = json.loads(run(*NPM, "pack", "--dry-run", "--json", "--offline", cwd=FOLDER, env=environ).stdout)
    names = {file["path"] for file in package["files"]}
    assert names == {"LICENSE", "README.md", "package.json", "passage-client.d.ts", "passage-client.js", "types.d.ts"}
