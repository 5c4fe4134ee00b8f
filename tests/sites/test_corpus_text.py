"""A corpus is read line by line: text that cannot be encoded costs no document."""

import json
from pathlib import Path

import pytest

from passage.indexing.chunks import cut
from passage.sites.model import Page
from passage.sites.source import SiteOptions, open_site


@pytest.mark.parametrize("field", ["_id", "title", "text", "language"])
def test_a_lone_surrogate_is_replaced(tmp_path: Path, field: str) -> None:
    document = {"_id": "mill", "title": "Mill", "text": "Flour.", "language": "en"}
    lines = [{**document, field: "odd \ud800"}, {**document, "_id": "other"}]
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    pages = [each for each in open_site(tmp_path, SiteOptions()).read() if isinstance(each, Page)]
    assert len(pages) == 2
    assert all(chunk.text.encode() for chunk in cut(pages))
