"""Reads a site's search index, which lacks the pages that the owner excluded from search."""

import json
from collections.abc import Sequence
from pathlib import Path

from passage.sites.built.addresses import forms
from passage.sites.built.generators import GENERATORS


def files(folder: Path, published: Sequence[str]) -> frozenset[str] | None:
    """The published files that a generator's search index names; None where no index names most of them."""
    for name in filter(None, (generator.search_index for generator in GENERATORS)):
        locations = _locations(folder / name)
        files = frozenset(file for file in published if locations.intersection(forms(file)))
        if len(files) * 2 > len(published):
            return files
    return None


def _locations(file: Path) -> frozenset[str]:
    """The pages of an index, relative to the site's URL."""
    try:
        index = json.loads(file.read_bytes())
        entries = index.get("docs") or index.get("items") or []
        return frozenset(str(entry["location"]).partition("#")[0] for entry in entries if "location" in entry)
    except (OSError, ValueError, AttributeError, TypeError):
        return frozenset()
