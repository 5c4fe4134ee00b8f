"""The convention for a folder of plain Markdown, without a generator: each file's URL follows from its path."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from passage.sites.markdown import commonmark
from passage.sites.markdown.convention import Document, Rendered, encodable, quoted
from passage.sites.model import Skip

SUFFIXES = (".md", ".markdown")


@dataclass(frozen=True, slots=True)
class PlainFolder:
    """A `Convention`. Names with a leading `_` or `.` are skipped; `index` and `README` are their folder's page.

    Attributes:
        around: the folder that was given, if the site is its `docs`: Markdown beside it is named.
    """

    folder: Path
    address: str
    multimarkdown: bool = False
    around: Path | None = None

    def documents(self) -> Iterator[Document | Skip]:
        for path, file in _find_published(self.around, "*.m*") if self.around else ():
            if file.suffix in SUFFIXES and self.folder not in file.parents:
                yield Skip(encodable(path.as_posix()), f"beside the folder {self.folder.name}")
        for path, _ in _find_published(self.folder, "*.htm*"):
            yield Skip(encodable(path.as_posix()), "HTML beside the Markdown")
        for path, file in _find_published(self.folder, "*.m*"):
            name = encodable(path.as_posix())
            if file.suffix in SUFFIXES:
                yield Document(file, name, path)
            elif file.suffix == ".mdx":
                yield Skip(name, "MDX, which becomes text only in its site's build")

    def url(self, document: Document) -> str:
        *folders, name = quoted(document.route)
        home = name.lower() in ("index", "readme")
        return "/".join([self.address, *folders, "" if home else f"{name}/"])

    def links_from(self, document: Document) -> str:
        return self.url(document)

    def render(self, text: str) -> Rendered:
        """Nothing in plain Markdown needs a build."""
        return Rendered(commonmark.to_html(text))


def _find_published(folder: Path, pattern: str) -> Iterator[tuple[PurePosixPath, Path]]:
    """The files of a kind in a folder, each with its path without the suffix."""
    for file in sorted(folder.rglob(pattern)):
        path = PurePosixPath(file.relative_to(folder).with_suffix("").as_posix())
        hidden = any(part.startswith((".", "_")) or part == "node_modules" for part in path.parts)
        if not hidden and file.is_file():
            yield path, file
