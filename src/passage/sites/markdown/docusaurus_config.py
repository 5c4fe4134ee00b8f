"""Reads a docusaurus.config: where the site is published, and the folders of its pages with their routes."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from pathspec import GitIgnoreSpec

from passage.sites.markdown.javascript import Unknown
from passage.sites.model import Unresolved

DOCS, DOCS_AS_NAMED, BLOG, PAGES = "docs", "docs as named", "blog", "pages"


@dataclass(frozen=True, slots=True)
class Root:
    """A folder of sources and where its pages are published.

    Attributes:
        base: URL without a slash at the end.
        kind: `DOCS`, `DOCS_AS_NAMED` (the number in a file's name stays in its URL), `BLOG` or `PAGES`.
        excluded: the plugin's exclusions, besides files and folders with a leading `_`.
    """

    folder: Path
    base: str
    kind: str
    language: str = ""
    excluded: GitIgnoreSpec = field(default_factory=lambda: GitIgnoreSpec.from_lines([]))


def address(config: Mapping[str, Any]) -> str | None:
    """The site's URL without a slash at the end; None where the configuration does not state it."""
    url, base = config.get("url"), config.get("baseUrl", "/")
    if not isinstance(url, str) or not isinstance(base, str) or not url.startswith(("http://", "https://")):
        return None
    return urljoin(url, f"/{base.strip('/')}").rstrip("/")


def computed(config: Mapping[str, Any], name: str) -> Iterator[Unresolved]:
    """Settings that affect URLs and are not plain values."""
    for key in ("presets", "plugins", "trailingSlash", "i18n"):
        value = config.get(key)
        if isinstance(value, Unknown) or (isinstance(value, list) and any(isinstance(each, Unknown) for each in value)):
            yield Unresolved(name, f"setting {key} that is computed")


@dataclass(frozen=True, slots=True)
class Configuration:
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
        kind = DOCS_AS_NAMED if options.get("numberPrefixParser") is False else DOCS
        version_path = _dig(options, "versions", current, "path")
        beyond = f"/{version_path}" if isinstance(version_path, str) and version_path else ""
        main = self.folder / str(options.get("path") or "docs")
        folder = main if current == "current" else self._version_folder(options, current)
        base = self._route(self.address, options, "docs") + beyond
        yield Root(folder, base, kind, default, _patterns(options))
        plugin = "docusaurus-plugin-content-docs" + (f"-{options['id']}" if options.get("id") else "")
        for language in others:
            translated = self.folder / "i18n" / language / plugin
            place = translated / ("current" if current == "current" else f"version-{current}")
            localized = self._route(f"{self.address}/{language}", options, "docs") + beyond
            yield Root(place, localized, kind, language, _patterns(options))

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
