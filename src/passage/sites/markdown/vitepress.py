"""VitePress' convention: the routes that its configuration states, includes, containers and the home page."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urljoin

from pathspec import GitIgnoreSpec

from passage.sites.markdown import commonmark, javascript, vue
from passage.sites.markdown.convention import Document, Meta, Rendered, encodable, quoted
from passage.sites.markdown.javascript import Unknown
from passage.sites.model import SiteError, Skip, Unresolved

_NAMES = ("config", "config/index")
CONFIGURATIONS = tuple(
    f"{place}.vitepress/{name}.{suffix}"
    for place in ("docs/", "")
    for name in _NAMES
    for suffix in ("ts", "mts", "js", "mjs")
)

_OWN_SYNTAX = re.compile(r"\A---\n(?:.*\n)*?layout: *home\s*\n|^<!--\s*@include:|^<<< ", re.MULTILINE)
_DYNAMIC = re.compile(r"\[[^\]/]+\]")
_PARAMETER = re.compile(r":(\w+)(\(.*?\))?([*+?]?)|(\(.*?\))")


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A rule that publishes sources under another path."""

    pattern: re.Pattern[str]
    target: str

    def apply(self, path: str) -> str | None:
        """The rule's path for a source; None where the rule does not apply."""
        found = self.pattern.fullmatch(path)
        if found is None:
            return None
        values = found.groupdict()
        return re.sub(r":(\w+)[*+?]?", lambda name: values.get(f"p_{name[1]}") or "", self.target)


@dataclass(frozen=True, slots=True)
class VitePress:
    """A folder with a `.vitepress`.

    Attributes:
        folder: `srcDir`.
        languages: each language's folder and code; "" is the default one's.
    """

    folder: Path
    address: str
    clean_urls: bool
    excluded: GitIgnoreSpec
    rewrites: tuple[Rewrite, ...]
    languages: Mapping[str, str]
    math: bool = False
    settings: tuple[Unresolved, ...] = ()
    multimarkdown: bool = False

    def documents(self) -> Iterator[Document | Skip | Unresolved]:
        """See `Convention`."""
        yield from self.settings
        for file in sorted(self.folder.rglob("*.md")):
            source = file.relative_to(self.folder)
            if not file.is_file() or any(part.startswith(".") or part == "node_modules" for part in source.parts):
                continue
            name = encodable(source.with_suffix("").as_posix())
            if self.excluded.match_file(source.as_posix()):
                yield Skip(name, "excluded by srcExclude")
            elif _DYNAMIC.search(source.as_posix()):
                yield Skip(name, "route that is made for each of its entries")
            else:
                route = PurePosixPath(self._rewritten(source.as_posix())).with_suffix("")
                language = self.languages.get(route.parts[0], "") or self.languages.get("", "")
                yield Document(file, name, route, self.address, language)

    def _rewritten(self, source: str) -> str:
        return next((path for rule in self.rewrites if (path := rule.apply(source)) is not None), source)

    def url(self, document: Document, _: Meta) -> str:
        """See `Convention`."""
        *folders, name = quoted(document.route)
        last = "" if name == "index" else name if self.clean_urls else f"{name}.html"
        return "/".join([document.base, *folders, last])

    def links_from(self, _: Document, url: str) -> str:
        """See `Convention`."""
        return url

    def render(self, document: Document, text: str, meta: Meta) -> Rendered:
        """See `Convention`."""
        flat = vue.flatten(text, document.file, self.folder)
        home = _home(meta) if meta.get("layout") == "home" else ""
        return Rendered(home + commonmark.to_html(flat.markdown, math=self.math), flat.unresolved)


def convention(folder: Path, file: Path, address: str | None) -> VitePress:
    """Read the configuration at `file`; `address` comes before its `sitemap.hostname`.

    Raises:
        SiteError: the site's URL is not given.
    """
    config = javascript.default_export(file.read_bytes())
    project = next(parent for parent in file.parents if parent.name == ".vitepress").parent
    base = address or _address(config)
    if base is None:
        raise SiteError(f"Where is {folder} published? Give --site-url https://…, or set sitemap.hostname in {file}.")
    source = config.get("srcDir")
    pages = project / source if isinstance(source, str) else project
    if not pages.is_dir():
        raise SiteError(f"{file} says srcDir: {source}, and {pages} is not a folder.")
    rewrites = config.get("rewrites")
    markdown = config.get("markdown")
    return VitePress(
        folder=pages,
        address=base,
        clean_urls=config.get("cleanUrls") is True,
        excluded=_excluded(config.get("srcExclude")),
        rewrites=tuple(_rewrites(rewrites)),
        languages=dict(_languages(config)),
        math=isinstance(markdown, dict) and bool(markdown.get("math")),
        settings=tuple(
            Unresolved(file.name, f"setting {key} that is computed")
            for key in ("rewrites", "cleanUrls", "srcDir", "srcExclude", "base")
            if isinstance(config.get(key), Unknown)
        ),
    )


def defaults(folder: Path, address: str) -> VitePress:
    """The convention for a folder without a configuration, which VitePress allows."""
    return VitePress(folder, address, False, _excluded(None), (), {})


def is_written_for(folder: Path) -> bool:
    """Whether pages in a folder use syntax that only VitePress reads."""
    for file in folder.rglob("*.md"):
        try:
            text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
        except OSError:
            continue
        if _OWN_SYNTAX.search(text):
            return True
    return False


def _address(config: Mapping[str, Any]) -> str | None:
    sitemap = config.get("sitemap")
    hostname = sitemap.get("hostname") if isinstance(sitemap, dict) else None
    if not isinstance(hostname, str) or not hostname.startswith(("http://", "https://")):
        return None
    base = config.get("base")
    return urljoin(hostname, base if isinstance(base, str) else "").rstrip("/")


def _excluded(patterns: Any) -> GitIgnoreSpec:
    lines = [f"/{each}" for each in patterns if isinstance(each, str)] if isinstance(patterns, list) else []
    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError:
        return GitIgnoreSpec.from_lines([])


def _rewrites(rules: Any) -> Iterator[Rewrite]:
    """Rules like `{"en/:rest*": ":rest*"}`."""
    for source, target in rules.items() if isinstance(rules, dict) else ():
        if isinstance(target, str):
            try:
                yield Rewrite(re.compile(_pattern(source)), target)
            except re.error:
                continue


def _pattern(source: str) -> str:
    """A rule's pattern as a regular expression: `:name` is a part of the path, `:name*` any number of them."""
    written, start = "", 0
    for number, found in enumerate(_PARAMETER.finditer(source)):
        written += re.escape(source[start : found.start()])
        name = found[1] or str(number)
        several = found[3] in ("*", "+")
        inner = (found[2] or found[4] or "")[1:-1] or (".+" if several else "[^/]+")
        written += f"(?P<p_{name}>{inner})" + ("?" if found[3] in ("*", "?") else "")
        start = found.end()
    return written + re.escape(source[start:])


def _languages(config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    lang = config.get("lang")
    yield "", lang if isinstance(lang, str) else ""
    locales = config.get("locales")
    for folder, locale in locales.items() if isinstance(locales, dict) else ():
        code = locale.get("lang") if isinstance(locale, dict) else None
        if isinstance(code, str):
            yield "" if folder == "root" else folder, code


def _home(meta: Meta) -> str:
    """A home page's hero and features, which are front matter, in the markup of VitePress' theme."""
    hero, features = meta.get("hero"), meta.get("features")
    parts = []
    if isinstance(hero, dict):
        name, text, tagline = (_words(hero.get(key)) for key in ("name", "text", "tagline"))
        title = f'<span class="name">{name}</span><span class="text">{text}</span>' if name else text
        parts.append(f'<div class="VPHero"><h1>{title}</h1><p class="tagline">{tagline}</p></div>')
    for feature in features if isinstance(features, list) else ():
        if isinstance(feature, dict):
            title, details = _words(feature.get("title")), _words(feature.get("details"))
            parts.append(f'<div class="VPFeature"><h2 class="title">{title}</h2><p class="details">{details}</p></div>')
    return "\n".join(parts) + "\n"


def _words(value: Any) -> str:
    """Front matter's text; it may hold HTML."""
    return (value if "<" in value else escape(value)) if isinstance(value, str) else ""
