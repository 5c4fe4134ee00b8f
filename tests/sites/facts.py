"""What a built site must yield, read from an `expected.json`, and how the Markdown of a page is compared with it."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from passage.sites.built.site import BuiltSite
from passage.sites.model import Page, Skip

SKIPPED_KINDS = (
    "404",
    "listing",
    "redirect",
    "noindex",
    "generated index",
    "search",
    "navigation",
    "whole book on one page",
    "source code listing",
    "other version",
    "untranslated",
    "left out of",
)

_markdown = MarkdownIt("commonmark").enable("table")


@dataclass(frozen=True)
class BuiltFacts:
    """One built site and what is expected of it."""

    name: str
    folder: Path
    site: dict[str, Any]
    everything: dict[str, Any]

    def read(self) -> list[Page | Skip]:
        """mdBook's HTML does not say where the book is published."""
        return list(BuiltSite(self.folder, self.site["base_url"] if self.name.startswith("mdbook") else None).read())

    def excepted(self, *words: str) -> bool:
        return any(all(word in exception for word in words) for exception in self.site["exceptions"])


def built_facts(folder: Path) -> Iterator[BuiltFacts]:
    """Every site that an `expected.json` describes."""
    everything = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    for name, site in everything["sites"].items():
        yield BuiltFacts(name, folder / name, site, everything)


def code_blocks(markdown: str) -> list[tuple[str, str]]:
    """Language and source of each fence, those in lists and quotes included."""
    return [(token.info, token.content.rstrip("\n")) for token in _markdown.parse(markdown) if token.type == "fence"]


def rows(markdown: str) -> list[list[str]]:
    """The cells of each table row, as plain words."""
    found: list[list[str]] = []
    tokens = _markdown.parse(markdown)
    for position, token in enumerate(tokens):
        if token.type == "tr_open":
            found.append([])
        elif token.type in ("th_open", "td_open"):
            found[-1].append(words(tokens[position + 1].content))
    return found


def links(markdown: str) -> list[tuple[str, str]]:
    """Words and address of each link."""
    return [
        (words(text), target.strip("<>"))
        for text, target in re.findall(r"(?<!!)\[((?:[^\]\\]|\\.)*)\]\(([^)]*)\)", markdown)
    ]


def words(markdown: str) -> str:
    """The text of Markdown as one line, without its marks."""
    text = re.sub(r"!\[((?:[^\]\\]|\\.)*)\]\([^)]*\)", r"\1", markdown)
    text = re.sub(r"(?<!!)\[((?:[^\]\\]|\\.)*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"(?m)^\s*(?:>\s?|[-*+]\s|\d+\.\s|#+\s)+", "", text)
    text = re.sub(r"[*`]|\\(?=[^\w\s])", "", text)
    text = text.replace("\u2019", "'").replace("\u2018", "'").replace("\u201c", '"').replace("\u201d", '"')
    return " ".join(text.split())
