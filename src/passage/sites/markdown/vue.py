"""Converts VitePress' dialect to Markdown: resolves includes and removes Vue's expressions and components."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from passage.sites.markdown import front_matter, jsx
from passage.sites.markdown.code_spans import outside
from passage.sites.markdown.commonmark import titled_alerts
from passage.sites.markdown.convention import Flat
from passage.sites.markdown.front_matter import PageError

_DEEPEST = 8
"""The most levels of parts that include others."""

_INCLUDE = re.compile(r"<!--\s*@include:\s*(.*?)\s*-->")
_SNIPPET = re.compile(r"^([ \t]*)<<<[ \t]+(.+?)[ \t]*$", re.MULTILINE)
_TARGET = re.compile(r"(?P<path>.+?)(?P<region>#[\w-]+)?\s*(?:\{(?P<braces>[^}]*)\})?\s*(?:\[(?P<title>[^\]]*)\])?\Z")
_RANGE = re.compile(r"(\d*),(\d*)\Z")
_TOC = re.compile(r"^[ \t]*\[\[toc\]\][ \t]*$", re.MULTILINE | re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_INTERPOLATION = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_VERBATIM = re.compile(
    r"<(\w+)\b[^>]*\sv-pre\b[^>]*>.*?</\1>|^:::[ \t]*v-pre[ \t]*\n.*?^:::[ \t]*$", re.DOTALL | re.MULTILINE
)
"""Vue reads nothing in an element with `v-pre`."""

_TAG = re.compile(r"<(?=/?[A-Z])")
_REGION = r"^\s*(?:\/\/|\/\*|<!--|#|--|REM|::|;)?\s*#?{mark}\s+{name}\s*(?:\*\/|-->)?\s*$"
_SILENT = frozenset({"Badge"})


def flatten(text: str, file: Path, root: Path) -> Flat:
    """The Markdown of a page.

    Args:
        file: of the page; includes are relative to it.
        root: the folder of the sources: `@` in includes. Only files in its parent are read.
    """
    flattener = _Flattener(root)
    markdown = outside(flattener.plain, flattener.included(text, file, 0))
    return Flat(markdown, tuple(flattener.unresolved))


@dataclass(slots=True)
class _Flattener:
    """Remembers the unresolved parts of a page."""

    root: Path
    unresolved: list[str] = field(default_factory=list)

    def included(self, text: str, file: Path, depth: int) -> str:
        """The text with includes and snippets inserted; those in code are examples and stay."""

        def resolve(piece: str) -> str:
            piece = _INCLUDE.sub(lambda found: self._include(found[1], file, depth), piece)
            return _SNIPPET.sub(lambda found: self._snippet(found[2], file, found[1]), piece)

        return outside(resolve, text)

    def plain(self, piece: str) -> str:
        """A piece without comments, expressions and components."""
        piece = titled_alerts(_COMMENT.sub("", _TOC.sub("", piece)))
        kept: list[str] = []
        start = 0
        for found in _VERBATIM.finditer(piece):
            kept += [self._without_vue(piece[start : found.start()]), found[0]]
            start = found.end()
        return "".join([*kept, self._without_vue(piece[start:])])

    def _without_vue(self, piece: str) -> str:
        without = _INTERPOLATION.sub("", piece)
        self.unresolved += ["expression in Vue"] * len(_INTERPOLATION.findall(piece))
        return "".join(self._without_components(without))

    def _without_components(self, piece: str) -> Iterator[str]:
        start = 0
        for found in _TAG.finditer(piece):
            if found.start() < start:
                continue
            tag = jsx.tag_at(piece, found.start())
            if tag is None:
                continue
            yield piece[start : found.start()]
            start = tag.end
            if not tag.closing and tag.name not in _SILENT and tag.self_closing:
                self.unresolved.append(f"component <{tag.name}>")
        yield piece[start:]

    def _include(self, written: str, file: Path, depth: int) -> str:
        found = _TARGET.match(written)
        path = self._path(found["path"], file) if found else None
        if found is None or path is None or depth >= _DEEPEST:
            self.unresolved.append("include of a file that is not in the folder")
            return ""
        try:
            _, text = front_matter.split(front_matter.read(path))
        except PageError:
            self.unresolved.append("include that cannot be read")
            return ""
        return self.included(_part(text, found), path, depth + 1)

    def _snippet(self, written: str, file: Path, indent: str) -> str:
        """A file as a block of code."""
        found = _TARGET.match(written)
        path = self._path(found["path"], file) if found else None
        if found is None or path is None:
            self.unresolved.append("include of a file that is not in the folder")
            return ""
        try:
            source = front_matter.read(path)
        except PageError:
            self.unresolved.append("include that cannot be read")
            return ""
        words = [word for word in (found["braces"] or "").split() if not re.fullmatch(r"[\d,-]+", word)]
        language = words[-1].split(":")[0] if words else path.suffix.lstrip(".")
        title = f" [{found['title']}]" if found["title"] else ""
        lines = [f"````{language}{title}", *_region(source, found["region"]).rstrip("\n").split("\n"), "````"]
        return "\n".join(indent + line for line in lines)

    def _path(self, written: str, file: Path) -> Path | None:
        place = self.root / written[1:].lstrip("/") if written.startswith("@") else file.parent / written
        path = place.resolve()
        inside = path.is_relative_to(self.root.resolve().parent)
        return path if inside and path.is_file() else None


def _part(text: str, target: re.Match[str]) -> str:
    """The requested lines or region of an included file."""
    lines = _region(text, target["region"]).split("\n")
    found = _RANGE.match(target["braces"] or "")
    if found is None:
        return "\n".join(lines)
    first = int(found[1]) - 1 if found[1] else 0
    return "\n".join(lines[max(first, 0) : int(found[2]) if found[2] else len(lines)])


def _region(source: str, region: str | None) -> str:
    """The text between `#region name` and `#endregion name`; the whole text where there is no such region."""
    if not region:
        return source
    name = re.escape(region[1:])
    opening = re.compile(_REGION.format(mark="region", name=name), re.MULTILINE).search(source)
    closing = re.compile(_REGION.format(mark="endregion", name=f"(?:{name})?"), re.MULTILINE)
    if opening is None:
        return source
    end = closing.search(source, opening.end())
    return source[opening.end() : end.start() if end else len(source)].strip("\n")
