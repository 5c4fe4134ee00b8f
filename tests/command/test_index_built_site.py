"""`passage index` on a folder that a generator wrote."""

import json
import re
import shutil
from pathlib import Path

import pytest

from command.passage_command import Passage
from conftest import ROOT

PAGES = ROOT / "tests" / "sites" / "pages" / "docusaurus"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A built site with one page that is not in the encoding it declares."""
    folder = tmp_path / "build"
    shutil.copytree(PAGES, folder)
    (folder / "docs" / "broken.html").write_bytes(b"<html><meta charset=utf-8><main><p>caf\xe9</p></main></html>")
    return folder


def test_a_built_site_is_indexed_and_asked(passage: Passage, site: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "index")
    done = passage("index", str(site), "--out", out).ok()
    assert "2 pages " in done.stderr
    listed = re.findall(r"([a-z ]+) \([\w./]+\.html\)", done.stderr)
    assert [each.strip() for each in listed] == [
        "error page",
        "list of pages",
        "other version",
        "redirect",
        "untranslated",
    ]
    assert "Warning: docs/broken.html is not utf-8 at byte 38" in done.stderr
    event = '{"text": "How do I start the mill with water?", "k": 5}'
    results = json.loads(passage("invoke", "--index", out, "-", stdin=event).stdout)["results"]
    texts = {result["url"]: result["chunk_text"] for result in results}
    assert "mill water --gate open" in texts["https://mill.example.com/manual/docs/grinding#start-the-mill"]


def test_strict_refuses_a_site_with_a_bad_page(passage: Passage, site: Path, tmp_path: Path) -> None:
    done = passage("index", str(site), "--strict", "--out", str(tmp_path / "index"))
    assert done.returncode == 1
    assert "docs/broken.html is not utf-8 at byte 38" in done.stderr
    assert not (tmp_path / "index" / "query-response" / "manifest.json").exists()


def test_a_version_is_indexed_when_asked_for(passage: Passage, site: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "index")
    passage("index", str(site), "--version", "1.0", "--out", out).ok()
    event = '{"text": "When does the mill grind?", "k": 5}'
    results = json.loads(passage("invoke", "--index", out, "-", stdin=event).stdout)["results"]
    assert [result["chunk_text"] for result in results] == ["The old mill grinds at noon."]
