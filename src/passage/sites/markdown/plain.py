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
    """Files and folders with a leading `_` or `.` are skipped; `index` and `README` are their folder's page."""

    folder: Path
    address: str
    multimarkdown: bool = False

    def documents(self) -> Iterator[Document | Skip]:
        """See `Convention`."""
        for file in sorted(self.folder.rglob("*.m*")):
            path = PurePosixPath(file.relative_to(self.folder).with_suffix("").as_posix())
            if any(part.startswith((".", "_")) or part == "node_modules" for part in path.parts) or not file.is_file():
                continue
            name = encodable(path.as_posix())
            if file.suffix in SUFFIXES:
                yield Document(file, name, path)
            elif file.suffix == ".mdx":
                yield Skip(name, "MDX, which becomes text only in its site's build")

    def url(self, document: Document) -> str:
        """See `Convention`."""
        *folders, name = quoted(document.route)
        home = name.lower() in ("index", "readme")
        return "/".join([self.address, *folders, "" if home else f"{name}/"])

    def links_from(self, document: Document) -> str:
        """See `Convention`."""
        return self.url(document)

    def render(self, text: str) -> Rendered:
        """See `Convention`. Nothing in plain Markdown needs a build."""
        return Rendered(commonmark.to_html(text))
