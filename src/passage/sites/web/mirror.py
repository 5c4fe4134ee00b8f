"""Keeps fetched pages in a folder like a built site, with the headers for a later run's conditional requests."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from xml.sax.saxutils import escape

from passage.sites.built.site import SUFFIXES

_CONDITIONS = {"etag": "if-none-match", "last-modified": "if-modified-since"}
_LONGEST_NAME = 200


@dataclass(slots=True)
class Mirror:
    """A folder with `pages/` and `state.json`.

    Attributes:
        base: the site's URL, with a slash at its end.
        known: from earlier runs: the headers of each URL and the URL that it redirected to.
        held: the same for this run.
    """

    folder: Path
    base: str
    known: dict[str, dict[str, str]] = field(default_factory=dict)
    held: dict[str, dict[str, str]] = field(default_factory=dict)

    @classmethod
    def opened(cls, folder: Path, base: str) -> "Mirror":
        """The mirror in a folder. Without a state that can be read, as at the first run, `known` is empty."""
        try:
            known: Any = json.loads((folder / "state.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            known = {}
        return cls(folder, base, known if isinstance(known, dict) else {})

    @property
    def pages(self) -> Path:
        return self.folder / "pages"

    def file_of(self, url: str) -> str | None:
        """The file of a URL; None where the URL lies outside the site or has no usable path."""
        path, root = urlsplit(url).path or "/", urlsplit(self.base).path
        if not path.startswith(root) and f"{path}/" != root:
            return None
        parts = unquote(path[len(root) :]).split("/")
        name = parts.pop()
        if any(part in ("", ".", "..") for part in parts) or name in (".", ".."):
            return None
        if any("\0" in part or "\\" in part or len(part.encode()) > _LONGEST_NAME for part in (*parts, name)):
            return None
        if not name:
            return "/".join([*parts, "index.html"])
        return "/".join([*parts, name if name.lower().endswith(SUFFIXES) else f"{name}.html"])

    def conditions(self, url: str) -> dict[str, str]:
        """The headers that ask for a page only if it changed."""
        if not self.has_copy(url):
            return {}
        known = self.known[url]
        return {header: known[name] for name, header in _CONDITIONS.items() if known.get(name)}

    def has_copy(self, url: str) -> bool:
        """Whether the last run stored the page that a URL redirected to."""
        known = self.known.get(url)
        file = self.file_of(str(known.get("url", url))) if isinstance(known, dict) else None
        return file is not None and (self.pages / file).is_file()

    def keep(self, asked: str, final: str, headers: Mapping[str, str], content: bytes) -> None:
        """Write a page atomically."""
        file = self.file_of(final)
        if file is None:
            return
        path = self.pages / file
        path.parent.mkdir(parents=True, exist_ok=True)
        written = path.with_name(f"{path.name}.part")
        written.write_bytes(content)
        os.replace(written, path)
        self.held[asked] = {"url": final, **{name: headers[name] for name in _CONDITIONS if name in headers}}

    def keep_unchanged(self, asked: str) -> str:
        """Keep an unchanged page; gives its URL."""
        self.held[asked] = self.known[asked]
        return self.held[asked].get("url", asked)

    def close(self) -> None:
        """Remove pages that the site no longer has, and write the sitemap and the state."""
        urls = sorted({entry.get("url", asked) for asked, entry in self.held.items()})
        files = {self.file_of(url) for url in urls}
        for path in sorted(self.pages.rglob("*")):
            if path.is_file() and path.relative_to(self.pages).as_posix() not in files:
                path.unlink()
        listed = "".join(f"<url><loc>{escape(url)}</loc></url>\n" for url in urls)
        self.pages.mkdir(parents=True, exist_ok=True)
        (self.pages / "sitemap.xml").write_text(f"<urlset>\n{listed}</urlset>\n", encoding="utf-8")
        (self.folder / "state.json").write_text(json.dumps(self.held, indent=1), encoding="utf-8")
