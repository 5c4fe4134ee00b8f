"""Docusaurus' convention: the routes that its configuration states, and MDX."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urljoin

from pathspec import GitIgnoreSpec

from passage.sites.markdown import commonmark, javascript, mdx
from passage.sites.markdown.convention import Document, Meta, Rendered, encodable, quoted
from passage.sites.markdown.javascript import Unknown
from passage.sites.markdown.plain import unpublished
from passage.sites.model import SiteError, Skip, Unresolved

CONFIGURATIONS = tuple(f"docusaurus.config.{suffix}" for suffix in ("js", "ts", "mjs", "mts", "cjs", "cts"))

SUFFIXES = (".md", ".mdx")

_PREFIX = re.compile(r"\d+\s*[-_.]+\s*(?=[^-_.\s])")
_DATE_OR_VERSION = re.compile(r"(?:\d{2}|\d{4})[-_.]\d{2}(?:[-_.](?:\d{2}|\d{4}))?|\d+[-_.]\d+")
"""Beginnings of names that are not number prefixes for Docusaurus."""

_POST = re.compile(r"(?P<folder>.*/)?(?P<date>\d{4}[-/]\d{1,2}[-/]\d{1,2})[-/]?(?P<name>.*?)(?:/index)?\Z", re.DOTALL)

DOCS, BLOG, PAGES = "docs", "blog", "pages"


@dataclass(frozen=True, slots=True)
class Root:
    """A folder of sources and where its pages are published.

    Attributes:
        base: URL without a slash at the end.
        excluded: the plugin's exclusions, besides files and folders with a leading `_`.
    """

    folder: Path
    base: str
    kind: str
    language: str = ""
    excluded: GitIgnoreSpec = field(default_factory=lambda: GitIgnoreSpec.from_lines([]))
    numbered: bool = True


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
                kind = root.kind if root.numbered or root.kind != DOCS else "docs as named"
                yield Document(file, name, route, root.base, root.language, kind)

    def left_out(self, meta: Meta) -> str | None:
        """See `Convention`."""
        return unpublished(meta)

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
    base = address or _address(config)
    if base is None:
        raise SiteError(f"Where is {folder} published? Give --site-url https://…, or set url and baseUrl in {file}.")
    reader = _Configuration(folder, config, base)
    slash = config.get("trailingSlash")
    markdown = config.get("markdown")
    return Docusaurus(
        folder=folder,
        roots=tuple(reader.roots()),
        trailing_slash=slash if isinstance(slash, bool) else None,
        other_versions=tuple(reader.other_versions()),
        math=b"remark-math" in source or b"remarkMath" in source,
        plain_markdown=isinstance(markdown, dict) and markdown.get("format") in ("md", "detect"),
        settings=tuple(_computed(config, file.name)),
    )


def _address(config: Mapping[str, Any]) -> str | None:
    url, base = config.get("url"), config.get("baseUrl", "/")
    if not isinstance(url, str) or not isinstance(base, str) or not url.startswith(("http://", "https://")):
        return None
    return urljoin(url, f"/{base.strip('/')}").rstrip("/")


def _computed(config: Mapping[str, Any], name: str) -> Iterator[Unresolved]:
    """Settings that affect URLs and are not plain values."""
    for key in ("presets", "plugins", "trailingSlash", "i18n"):
        value = config.get(key)
        if isinstance(value, Unknown) or (isinstance(value, list) and any(isinstance(each, Unknown) for each in value)):
            yield Unresolved(name, f"setting {key} that is computed")


@dataclass(frozen=True, slots=True)
class _Configuration:
    """The folders and routes in a configuration."""

    folder: Path
    config: Mapping[str, Any]
    address: str

    def roots(self) -> Iterator[Root]:
        """Every folder of pages, in each language."""
        default, others = self._languages()
        for options in self._docs():
            yield from self._docs_roots(options, default, others)
        for options in self._blogs():
            path = str(options.get("path") or "blog")
            base = self._route(self.address, options, "blog")
            yield Root(self.folder / path, base, BLOG, default, _patterns(options))
        yield Root(self.folder / "src" / "pages", self.address, PAGES, default)

    def other_versions(self) -> Iterator[Path]:
        """Folders of versions with another route than the plain one."""
        for options in self._docs():
            current = self._current(options)
            if current != "current":
                yield self.folder / str(options.get("path") or "docs")
            for version in self._versions(options):
                if version != current:
                    yield self._version_folder(options, version)

    def _docs_roots(self, options: Mapping[str, Any], default: str, others: list[str]) -> Iterator[Root]:
        current = self._current(options)
        numbered = options.get("numberPrefixParser") is not False
        version_path = _dig(options, "versions", current, "path")
        beyond = f"/{version_path}" if isinstance(version_path, str) and version_path else ""
        main = self.folder / str(options.get("path") or "docs")
        folder = main if current == "current" else self._version_folder(options, current)
        base = self._route(self.address, options, "docs") + beyond
        yield Root(folder, base, DOCS, default, _patterns(options), numbered)
        plugin = "docusaurus-plugin-content-docs" + (f"-{options['id']}" if options.get("id") else "")
        for language in others:
            translated = self.folder / "i18n" / language / plugin
            place = translated / ("current" if current == "current" else f"version-{current}")
            localized = self._route(f"{self.address}/{language}", options, "docs") + beyond
            yield Root(place, localized, DOCS, language, _patterns(options), numbered)

    def _languages(self) -> tuple[str, list[str]]:
        default = _dig(self.config, "i18n", "defaultLocale")
        locales = _dig(self.config, "i18n", "locales")
        named = [each for each in locales if isinstance(each, str)] if isinstance(locales, list) else []
        default = default if isinstance(default, str) else "en"
        return default, [each for each in named if each != default]

    def _route(self, base: str, options: Mapping[str, Any], usual: str) -> str:
        route = options.get("routeBasePath", usual)
        route = route if isinstance(route, str) else usual
        return f"{base}/{route.strip('/')}".rstrip("/")

    def _docs(self) -> Iterator[Mapping[str, Any]]:
        yield from self._preset_options("docs")
        yield from self._plugin_options("plugin-content-docs")

    def _blogs(self) -> Iterator[Mapping[str, Any]]:
        yield from self._preset_options("blog")
        yield from self._plugin_options("plugin-content-blog")

    def _preset_options(self, key: str) -> Iterator[Mapping[str, Any]]:
        """The options that a preset gives a plugin; empty where it switches the plugin off."""
        presets = self.config.get("presets")
        for preset in presets if isinstance(presets, list) else [UNSTATED]:
            name, options = _pair(preset)
            if "classic" not in name:
                continue
            given = options.get(key, {})
            if given is not False:
                yield given if isinstance(given, dict) else {}

    def _plugin_options(self, name: str) -> Iterator[Mapping[str, Any]]:
        plugins = self.config.get("plugins")
        for plugin in plugins if isinstance(plugins, list) else []:
            called, options = _pair(plugin)
            if name in called or called == name.removeprefix("plugin-"):
                yield options

    def _versions(self, options: Mapping[str, Any]) -> list[str]:
        prefix = f"{options['id']}_" if options.get("id") else ""
        try:
            listed = json.loads((self.folder / f"{prefix}versions.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return []
        return [each for each in listed if isinstance(each, str)] if isinstance(listed, list) else []

    def _current(self, options: Mapping[str, Any]) -> str:
        """The version served at the plain route."""
        stated = options.get("lastVersion")
        versions = self._versions(options)
        return stated if isinstance(stated, str) else versions[0] if versions else "current"

    def _version_folder(self, options: Mapping[str, Any], version: str) -> Path:
        prefix = f"{options['id']}_" if options.get("id") else ""
        return self.folder / f"{prefix}versioned_docs" / f"version-{version}"


UNSTATED = ["classic", {}]
"""The presets assumed for a configuration without presets: those with the usual folders."""


def _pair(value: Any) -> tuple[str, Mapping[str, Any]]:
    """A preset's or plugin's name and options."""
    if isinstance(value, str):
        return value, {}
    if isinstance(value, list) and value and isinstance(value[0], str):
        return value[0], value[1] if len(value) > 1 and isinstance(value[1], dict) else {}
    return "", {}


def _dig(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _patterns(options: Mapping[str, Any]) -> GitIgnoreSpec:
    given = options.get("exclude")
    lines = [f"/{each.lstrip('/')}" for each in given if isinstance(each, str)] if isinstance(given, list) else []
    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError:
        return GitIgnoreSpec.from_lines([])


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
