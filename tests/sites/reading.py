"""Reads a folder of sources as `passage index` does, for tests."""

from dataclasses import dataclass
from pathlib import Path

from passage.indexing.chunks import Chunk, cut
from passage.sites.markdown import find_site
from passage.sites.model import Page, Skip, Unresolved

CASES = Path(__file__).parent / "cases"


@dataclass(frozen=True)
class Reading:
    """What a source gave."""

    pages: dict[str, Page]
    skipped: dict[str, Skip]
    unresolved: list[Unresolved]

    @property
    def urls(self) -> dict[str, str]:
        return {path: page.url for path, page in self.pages.items()}

    @property
    def reasons(self) -> dict[str, str]:
        return {path: skip.reason for path, skip in self.skipped.items()}

    def chunks(self, path: str) -> list[Chunk]:
        return list(cut([self.pages[path]]))

    def told(self, path: str) -> str:
        """Everything that a page answers."""
        return "\n\n".join(chunk.text for chunk in self.chunks(path))

    def outline(self, path: str) -> list[tuple[str, ...]]:
        return [chunk.headings for chunk in self.chunks(path)]


def read(folder: Path, url: str | None = None) -> Reading:
    found = list(find_site(folder, url).read())
    return Reading(
        {each.path: each for each in found if isinstance(each, Page)},
        {each.path: each for each in found if isinstance(each, Skip)},
        [each for each in found if isinstance(each, Unresolved)],
    )


def case(name: str) -> Reading:
    """One of the small sites beside this file."""
    configured = any((CASES / name).glob("*.y*ml"))
    return read(CASES / name, None if configured else "https://example.com")


def written(folder: Path, files: dict[str, str]) -> Path:
    """A folder with these files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder
