"""Languages and versions: finds those that a page states, and the current version of a site."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from passage.sites import html
from passage.sites.built.document import Document
from passage.sites.built.generators import GENERATORS, Generator

_VERSION = re.compile(r"v\d+(\.\d+|\.x)*|\d+(\.\d+|\.x)+")
_NAMES = {"stable": 2, "latest": 1, "main": -1, "master": -1, "dev": -1}
"""Names of folders with a version, as Read the Docs gives them, and their place before (above 0) or behind numbers."""
_NAMELESS = ("current", "latest")
"""The names of a version without a number."""


@dataclass(frozen=True, slots=True)
class Edition:
    """The language and version that one page states.

    Attributes:
        outdated: the page says that it documents a version other than the current one.
        untranslated: it stands in for a page that does not exist in its language.
    """

    language: str = ""
    version: str = ""
    outdated: bool = False
    untranslated: bool = False


@dataclass(frozen=True, slots=True)
class VersionFolders:
    """The folders of a site that are versions of it, as a `versions.json` names them (mike), or by their names.

    Attributes:
        names: the version of each folder, including the folders of aliases.
        aliases: the folders that are copies of a version's.
        current: the folders of the version that is shown first, one for each language's folder.
    """

    names: dict[str, str]
    aliases: frozenset[str]
    current: frozenset[str]

    def folder_of(self, file: str) -> str:
        """The version's folder that a file lies in; empty if it lies in none."""
        parts = file.split("/")
        folders = ("/".join(parts[:depth]) for depth in range(1, min(len(parts), 3)))
        return next((folder for folder in folders if folder in self.names), "")


def edition(document: Document, file: str, generator: Generator) -> Edition:
    """Read a page's language and version from its HTML."""
    language = html.attribute(document.root, "lang") or _meta(document, "docsearch:language")
    main = document.first("main[lang]")
    own = html.attribute(main, "lang") if main is not None else ""
    badge = document.first(generator.version) if generator.version else None
    shown = html.words(badge).rpartition(": ")[2] if badge is not None else ""
    label = _meta(document, "docsearch:version")
    label = "" if "," in label or label in _NAMELESS else label
    banner = document.first(generator.outdated) if generator.outdated else None
    outdated = banner is not None or (label != "" and label in file.split("/"))
    return Edition(
        language=own or language,
        version=label or shown,
        outdated=outdated,
        untranslated=bool(own and language and own.lower() != language.lower()),
    )


def natural(version: str) -> list[tuple[int, int, str]]:
    """A sort key that places 10.0 after 9.1."""
    return [(int(part), 1, "") if part.isdigit() else (0, 0, part) for part in re.findall(r"\d+|[a-z]+", version)]


def sibling_versions(files: Sequence[str]) -> VersionFolders | None:
    """The folders that are versions of one site: named like versions, with the same files; also in a language's."""
    inside: dict[str, dict[str, set[str]]] = {}
    for file in files:
        parts = file.split("/")
        at = next((at for at, part in enumerate(parts[:2]) if _VERSION.fullmatch(part) or part in _NAMES), None)
        if at is not None and len(parts) > at + 1:
            siblings = inside.setdefault("/".join(parts[:at]), {})
            siblings.setdefault("/".join(parts[: at + 1]), set()).add("/".join(parts[at + 1 :]))
    names: dict[str, str] = {}
    current: set[str] = set()
    for siblings in inside.values():
        newest = max(siblings, key=_newest_last)
        alike = [each for each in siblings if 2 * len(siblings[each] & siblings[newest]) >= len(siblings[each])]
        if len(alike) > 1:
            names |= {each: each.rpartition("/")[2] for each in alike}
            current.add(newest)
    return VersionFolders(names, frozenset(), frozenset(current)) if names else None


def _newest_last(folder: str) -> tuple[int, list[tuple[int, int, str]]]:
    name = folder.rpartition("/")[2]
    return _NAMES.get(name, 0), natural(name)


def version_folders(folder: Path) -> VersionFolders | None:
    """The version folders that a `versions.json` names; None for a site without one."""
    try:
        listed = json.loads((folder / "versions.json").read_text(encoding="utf-8"))
        versions = [(str(each["version"]), [str(alias) for alias in each.get("aliases", [])]) for each in listed]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    names = {name: version for version, aliases in versions for name in (*aliases, version)}
    if not versions or not any((folder / name).is_dir() for name in names):
        return None
    latest = next((version for version, aliases in versions if {"latest", "stable"} & set(aliases)), versions[0][0])
    aliases = frozenset(name for name, version in names.items() if name != version and (folder / version).is_dir())
    return VersionFolders(names, aliases, frozenset({latest}))


def stated_version(folder: Path) -> str:
    """The version that a generator's inventory states, empty without one."""
    for name in filter(None, (generator.inventory for generator in GENERATORS)):
        try:
            with (folder / name).open("rb") as file:
                head = [file.readline(200) for _ in range(3)]
        except OSError:
            continue
        if stated := re.fullmatch(rb"# Version:[ \t]*(.*?)\s*", head[2]):
            return stated[1].decode("utf-8", "replace")
    return ""


def speaks(stated: str, wanted: str) -> bool:
    """Whether a language tag is the wanted one or a variety of it (`pt-BR` of `pt`)."""
    stated, wanted = (tag.lower().replace("_", "-") for tag in (stated, wanted))
    return stated == wanted or stated.startswith(f"{wanted}-")


def named(values: Iterable[str]) -> str:
    """A list of languages or versions for a message."""
    return ", ".join(sorted({value for value in values if value})) or "none"


def _meta(document: Document, name: str) -> str:
    meta = next((each for each in document.metas if html.attribute(each, "name") == name), None)
    return html.attribute(meta, "content").strip() if meta is not None else ""
