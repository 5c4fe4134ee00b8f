"""Docusaurus' convention: the routes that its configuration states, and MDX."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import urljoin

from passage.sites.markdown import commonmark, docusaurus_config, javascript, mdx
from passage.sites.markdown.convention import Document, Meta, Rendered, encodable, quoted
from passage.sites.markdown.docusaurus_config import BLOG, DOCS, PAGES, Configuration, Root, computed
from passage.sites.model import SiteError, Skip, Unresolved

CONFIGURATIONS = tuple(f"docusaurus.config.{suffix}" for suffix in ("js", "ts", "mjs", "mts", "cjs", "cts"))

SUFFIXES = (".md", ".mdx")

_PREFIX = re.compile(r"\d+\s*[-_.]+\s*(?=[^-_.\s])")
_DATE_OR_VERSION = re.compile(r"(?:\d{2}|\d{4})[-_.]\d{2}(?:[-_.](?:\d{2}|\d{4}))?|\d+[-_.]\d+")
"""Beginnings of names that are not number prefixes for Docusaurus."""

_POST = re.compile(r"(?P<folder>.*/)?(?P<date>\d{4}[-/]\d{1,2}[-/]\d{1,2})[-/]?(?P<name>.*?)(?:/index)?\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Docusaurus:
    """A folder with a docusaurus.config.

    Attributes:
        trailing_slash: as configured; None where it is not set.
        other_versions: folders of the versions other than the current one.
        math: formulas are read (remark-math).
        plain_markdown: `.md` is CommonMark rather than MDX.
    """

    folder: Path
    roots: tuple[Root, ...]
    trailing_slash: bool | None
    other_versions: tuple[Path, ...] = ()
    math: bool = False
    plain_markdown: bool = False
    settings: tuple[Unresolved, ...] = ()
    multimarkdown: bool = False

    def documents(self) -> Iterator[Document | Skip | Unresolved]:
        """See `Convention`."""
        yield from self.settings
        for root in self.roots:
            yield from self._of(root)
        for version in self.other_versions:
            for file in _sources(version):
                yield Skip(_name(self.folder, file), "other version")

    def _of(self, root: Root) -> Iterator[Document | Skip]:
        for file in _sources(root.folder):
            path = file.relative_to(root.folder)
            if any(part.startswith(("_", ".")) or part == "__tests__" for part in path.parts):
                continue  # partials
            name = _name(self.folder, file)
            if root.excluded.match_file(path.as_posix()):
                yield Skip(name, "excluded by the configuration")
            else:
                route = PurePosixPath(path.with_suffix("").as_posix())
                yield Document(file, name, route, root.base, root.language, root.kind)

    def url(self, document: Document, meta: Meta) -> str:
        """See `Convention`."""
        if document.kind == BLOG:
            path = _post_path(document.route, meta)
        elif document.kind == PAGES:
            *folders, name = quoted(document.route)
            path = "/".join(["", *folders, "" if name == "index" else name])
        else:
            path = _doc_path(document.route, meta, numbered=document.kind == DOCS)
        return self._with_slash(f"{document.base}{path}")

    def links_from(self, _: Document, url: str) -> str:
        """See `Convention`."""
        return url

    def render(self, document: Document, text: str, _: Meta) -> Rendered:
        """See `Convention`."""
        if self.plain_markdown and document.file.suffix == ".md":
            return Rendered(commonmark.to_html(mdx.without_comments(text), math=self.math))
        flat = mdx.flatten(text, document.file, self.folder)
        return Rendered(commonmark.to_html(flat.markdown, mdx=True, math=self.math), flat.unresolved)

    def _with_slash(self, url: str) -> str:
        if self.trailing_slash is None:
            return url
        bare = url.rstrip("/")
        return f"{bare}/" if self.trailing_slash else bare


def convention(folder: Path, file: Path, address: str | None) -> Docusaurus:
    """Read the configuration at `file`; `address` comes before its `url` and `baseUrl`.

    Raises:
        SiteError: the site's URL is not given.
    """
    source = file.read_bytes()
    config = javascript.default_export(source)
    base = address or docusaurus_config.address(config)
    if base is None:
        raise SiteError(f"Where is {folder} published? Give --site-url https://…, or set url and baseUrl in {file}.")
    reader = Configuration(folder, config, base)
    slash = config.get("trailingSlash")
    markdown = config.get("markdown")
    return Docusaurus(
        folder=folder,
        roots=tuple(reader.roots()),
        trailing_slash=slash if isinstance(slash, bool) else None,
        other_versions=tuple(reader.other_versions()),
        math=b"remark-math" in source or b"remarkMath" in source,
        plain_markdown=isinstance(markdown, dict) and markdown.get("format") in ("md", "detect"),
        settings=tuple(computed(config, file.name)),
    )


def _sources(folder: Path) -> Iterator[Path]:
    for file in sorted(folder.rglob("*")):
        inside = file.relative_to(folder).parts
        if file.name.endswith(SUFFIXES) and file.is_file() and "node_modules" not in inside:
            yield file


def _name(folder: Path, file: Path) -> str:
    return encodable(Path(os.path.relpath(file, folder)).with_suffix("").as_posix())


def unnumbered(name: str) -> str:
    """A file's or folder's name without its number prefix. Dates and versions are not prefixes."""
    found = _PREFIX.match(name)
    return name if found is None or _DATE_OR_VERSION.match(name) else name[found.end() :]


def _doc_path(route: PurePosixPath, meta: Meta, *, numbered: bool) -> str:
    """The path of a document under its route, with a slash at the beginning."""
    *folders, name = route.parts
    own = [unnumbered(part) if numbered else part for part in folders]
    folder = "/".join(["", *quoted(PurePosixPath(*own)), ""]) if own else "/"
    slug = str(meta.get("slug") or "")
    if slug.startswith("/"):
        return slug
    if slug:
        return urljoin(folder, slug)
    above = folders[-1].lower() if folders else ""
    if name.lower() in ("index", "readme", above):
        return folder
    identity = str(meta.get("id") or "")
    bare = unnumbered(name) if numbered else name
    return folder + (identity or quoted(PurePosixPath(bare))[0])


def _post_path(route: PurePosixPath, meta: Meta) -> str:
    slug = str(meta.get("slug") or "")
    if slug:
        return f"/{slug.lstrip('/')}"
    found = _POST.match(route.as_posix())
    if found is None:
        return "/" + "/".join(quoted(route)).removesuffix("/index")
    date = re.split(r"[-/]", found["date"])
    parts = [*date, found["name"]] if found["name"] else date
    return "/" + "/".join([*quoted(PurePosixPath(found["folder"] or "")), *quoted(PurePosixPath(*parts))])
