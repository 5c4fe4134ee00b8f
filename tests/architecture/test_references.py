"""Docstrings and comments name modules, classes and functions that exist."""

import importlib
import re
from pathlib import Path

from conftest import ROOT

SOURCE = ROOT / "src"


def _exists(name: str) -> bool:
    """Whether a dotted name leads to a module, or to something that a module holds."""
    first, *others = name.split(".")
    found = importlib.import_module(first)
    for place, part in enumerate(others, start=2):
        if not hasattr(found, part):
            try:
                importlib.import_module(".".join([first, *others][:place]))
            except ModuleNotFoundError:
                return False
        found = getattr(found, part)
    return True


def _names(path: Path) -> set[str]:
    return set(re.findall(r"`((?:handler|passage|release_check)(?:\.\w+)+)`", path.read_text(encoding="utf-8")))


def test_each_name_in_a_docstring_exists() -> None:
    named = {name for path in SOURCE.rglob("*.py") for name in _names(path)}
    assert len(named) > 10
    assert [name for name in sorted(named) if not _exists(name)] == []
