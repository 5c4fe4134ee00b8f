"""Separates a page's front matter from its text."""

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

from passage.sites import encoding
from passage.sites.markdown.convention import Meta, encodable

_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?\n)?(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TOML = re.compile(r"\+\+\+[ \t]*\n(.*?\n)?\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)
"""Hugo's and Zola's."""

_KEY = re.compile(r" {0,3}([A-Za-z0-9_-]+):\s*(.*)")
_MORE = re.compile(r" {4,}(.*)")


class PageError(Exception):
    """One page cannot be read; the message says why, without its name."""


def content(file: Path) -> bytes:
    """A file's bytes.

    Raises:
        PageError: it cannot be read.
    """
    try:
        return file.read_bytes()
    except OSError as error:
        raise PageError(f"cannot be read: {error.strerror}") from error


def decoded(content: bytes) -> str:
    """A file's text."""
    # Lines as the parsers split them; str.splitlines() also breaks at form feeds, U+2028 and others.
    return re.sub(r"\r\n?", "\n", encoding.decoded(content, encoding.of_text(content)))


def split(text: str, *, multimarkdown: bool = False) -> tuple[Meta, str]:
    """A page's front matter and the text after it. Text between two rules that is not a mapping belongs to the page.

    Args:
        multimarkdown: lines of `Key: value` at the very beginning count as well, as MkDocs reads them.

    Raises:
        PageError: the front matter is not YAML or, between lines of `+++`, not TOML.
    """
    if block := _TOML.match(text):
        return _toml(block[1] or ""), text[block.end() :]
    block = _FRONT_MATTER.match(text)
    if block is None:
        return _multimarkdown(text) if multimarkdown else ({}, text)
    meta = _yaml(block[1] or "")
    if meta is None or meta == "":
        return {}, text[block.end() :]
    return (meta, text[block.end() :]) if isinstance(meta, dict) else ({}, text)


def title(meta: Meta) -> str:
    """The title in front matter, on one line; empty where it has none."""
    value = meta.get("title")
    if not isinstance(value, str) or value.strip() in ("", "~", "null"):
        return ""
    return encodable(" ".join(value.split()))


def _yaml(text: str) -> Any:
    """YAML with every scalar as its source text: a title like 1.10 stays unchanged."""
    try:
        return yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - it makes only text, lists and mappings
    except (yaml.YAMLError, RecursionError) as error:
        raise PageError(f"has front matter that is not YAML: {' '.join(str(error).split())[:200]}") from error


def _toml(text: str) -> Meta:
    """TOML in the form of `_yaml`."""
    try:
        meta: Meta = _as_text(tomllib.loads(text, parse_float=str))
    except (ValueError, RecursionError) as error:
        raise PageError(f"has front matter that is not TOML: {' '.join(str(error).split())[:200]}") from error
    return meta


def _as_text(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _as_text(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_as_text(each) for each in value]
    return str(value).lower() if isinstance(value, bool) else str(value)


def _multimarkdown(text: str) -> tuple[Meta, str]:
    lines = text.split("\n")
    meta: dict[str, str] = {}
    key = ""
    for number, line in enumerate(lines):
        if not line.strip():
            return meta, "\n".join(lines[number + 1 :]) if meta else text
        if pair := _KEY.fullmatch(line):
            key = pair[1].lower()
            meta[key] = pair[2].strip()
        elif key and (more := _MORE.fullmatch(line)):
            meta[key] = f"{meta[key]} {more[1].strip()}"
        else:
            return meta, "\n".join(lines[number:]) if meta else text
    return meta, "" if meta else text
