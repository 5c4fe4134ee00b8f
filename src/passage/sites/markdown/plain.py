"""The convention for a folder without a generator's configuration: each file's URL follows from its path."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from passage.sites.markdown import commonmark, mdx, templates
from passage.sites.markdown.code_spans import outside
from passage.sites.markdown.convention import Document, Meta, Rendered, encodable, quoted
from passage.sites.model import Unresolved

SUFFIXES = (".md", ".mdx")


@dataclass(frozen=True, slots=True)
class PlainFolder:
    """Files and folders with a leading `_` or `.` are skipped; `index`, `_index` and `README` are their folder's.

    Attributes:
        root: the sources; partials are read from it only.
        ending: of the URLs of pages that are not their folder's.
        settings: a generator's configuration, which is not read.
    """

    folder: Path
    root: Path
    address: str
    ending: str = "/"
    settings: tuple[Unresolved, ...] = ()
    multimarkdown: bool = False

    def documents(self) -> Iterator[Document | Unresolved]:
        """See `Convention`."""
        yield from self.settings
        for file, path in files(self.folder, SUFFIXES):
            yield Document(file, encodable(path.as_posix()), path, self.address)

    def url(self, document: Document, _: Meta) -> str:
        """See `Convention`."""
        *folders, name = quoted(document.route)
        home = name.lower() in ("index", "_index", "readme")
        return "/".join([document.base, *folders, "" if home else name + self.ending])

    def links_from(self, _: Document, url: str) -> str:
        """See `Convention`."""
        return url

    def render(self, document: Document, text: str, _: Meta) -> Rendered:
        """See `Convention`."""
        if document.file.suffix == ".mdx":
            flat = mdx.flatten(text, document.file, self.root)
            return Rendered(commonmark.to_html(flat.markdown, mdx=True), flat.unresolved)
        flat = templates.without_tags(mdx.without_comments(text))
        return Rendered(commonmark.to_html(outside(commonmark.titled_alerts, flat.markdown)), flat.unresolved)


def files(folder: Path, suffixes: tuple[str, ...]) -> Iterator[tuple[Path, PurePosixPath]]:
    """Each source with its path without the suffix, in the order of the paths."""
    found = sorted(file for file in folder.rglob("*") if file.name.endswith(suffixes))
    for file in found:
        path = file.relative_to(folder).with_suffix("")
        if any(part.startswith((".", "_")) or part == "node_modules" for part in path.parts if part != "_index"):
            continue  # generators exclude these as well; `_index` is Hugo's page of a folder
        if file.is_file():  # no folder named like a page, no link to nowhere
            yield file, PurePosixPath(path.as_posix())
