"""Runs MkDocs' parser with the site's extensions, so that headings, anchors and blocks equal the site's."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import markdown
from pymdownx import emoji
from pymdownx.superfences import fence_code_format

from passage.sites.markdown.code_spans import outside
from passage.sites.markdown.mkdocs_config import Unknown
from passage.sites.model import Unresolved

_ALWAYS = ("toc", "tables")
"""MkDocs' default extensions, except `fenced_code`: `_FENCES` replaces it and reads more."""

_FENCES = "pymdownx.superfences"
"""Reads fences in lists and notes, too. A site without it shows them as text, with their marks."""

_BUILT_IN = frozenset(
    [
        "abbr",
        "admonition",
        "attr_list",
        "codehilite",
        "def_list",
        "extra",
        "fenced_code",
        "footnotes",
        "legacy_attrs",
        "legacy_em",
        "md_in_html",
        "nl2br",
        "sane_lists",
        "smarty",
        "tables",
        "toc",
        "wikilinks",
    ]
)
_WITHOUT_TEXT = frozenset({"meta", "pymdownx.b64", "pymdownx.pathconverter", "pymdownx.striphtml"})
"""Extensions that change nothing that is indexed. Front matter is parted from the text before."""

_OVERRIDES: Mapping[str, Mapping[str, Any]] = {
    "toc": {"permalink": False, "anchorlink": False},
    "codehilite": {"use_pygments": False},
    "pymdownx.highlight": {"pygments_lang_class": True, "linenums": False, "anchor_linenums": False},
    "pymdownx.arithmatex": {"generic": True},
    "pymdownx.tabbed": {"alternate_style": True},
    "pymdownx.emoji": {"emoji_index": emoji.twemoji, "emoji_generator": emoji.to_alt},
    "pymdownx.snippets": {"url_download": False, "check_paths": False, "restrict_base_path": True},
}
"""Options that override the site's: the reader for built sites needs this form of HTML."""

_SNIPPET = re.compile(r"^[ \t]*-{2,}8<-{2,}[ \t]+[\"']?([^\"'\n]+?)[\"']?[ \t]*$", re.MULTILINE)
_SNIPPET_BLOCK = re.compile(r"^[ \t]*-{2,}8<-{2,}[ \t]*\n(.*?)^[ \t]*-{2,}8<-{2,}[ \t]*$", re.MULTILINE | re.DOTALL)
_AUTODOC = re.compile(r"^ {0,3}::: *[\w.:]+[ \t]*(?:\n(?: {4}|\t)[^\n]*|\n[ \t]*:\w+:[^\n]*)*$", re.MULTILINE)
_ICON = re.compile(r":(?:material|fontawesome|octicons|simple)-[a-z0-9-]+:(?:\{[^}\n]*\})?")


@dataclass(frozen=True, slots=True)
class PythonMarkdown:
    """A parser as a site configures it.

    Attributes:
        snippets: the folders that are searched for includes; empty where the site includes no files.
        unresolved: unknown extensions.
    """

    parser: markdown.Markdown
    snippets: tuple[Path, ...]
    unresolved: tuple[Unresolved, ...]

    @classmethod
    def configured(cls, folder: Path, listed: Any, name: str) -> "PythonMarkdown":
        """The parser for a site.

        Args:
            folder: of mkdocs.yml.
            listed: its `markdown_extensions`.
            name: its file name, for the report of unknown extensions.
        """
        wanted: dict[str, dict[str, Any]] = {extension: {} for extension in _ALWAYS}
        unresolved = []
        for extension, options in _extensions(listed):
            if extension in _BUILT_IN or extension.startswith("pymdownx."):
                wanted[extension] = {**wanted.get(extension, {}), **options}
            elif extension not in _WITHOUT_TEXT:
                unresolved.append(Unresolved(name, f"extension {extension}"))
        for extension in _WITHOUT_TEXT & wanted.keys():
            del wanted[extension]
        wanted.pop("fenced_code", None)
        wanted[_FENCES] = wanted.pop(_FENCES, {})  # last: it takes the place of `fenced_code` in `extra`
        wanted.setdefault("pymdownx.highlight", {})
        for extension, overrides in _OVERRIDES.items():
            if extension in wanted:
                wanted[extension].update(overrides)
        wanted[_FENCES]["custom_fences"] = _fences(wanted[_FENCES])
        snippets = _snippet_folders(folder, wanted)
        return cls(_parser(wanted, unresolved, name), snippets, tuple(unresolved))

    def to_html(self, text: str) -> tuple[str, tuple[str, ...]]:
        """The HTML of a page without front matter, and the parts that only the build resolves."""
        self.parser.reset()
        unresolved = tuple(self._find_unresolved(text))
        if not self.snippets:
            text = outside(lambda piece: _SNIPPET.sub("", piece), text)
        html = self.parser.convert(outside(lambda piece: _ICON.sub("", _AUTODOC.sub("", piece)), text))
        return html, unresolved

    def _find_unresolved(self, text: str) -> Iterator[str]:
        for path in _includes(text):
            if not any((folder / path).is_file() for folder in self.snippets):
                yield "include of a file that is not in the folder"
        yield from ("text from docstrings" for _ in _AUTODOC.finditer(text))


def _parser(wanted: dict[str, dict[str, Any]], unresolved: list[Unresolved], name: str) -> markdown.Markdown:
    """The parser, without the extensions that refuse their options."""
    for extension, options in list(wanted.items()):
        try:
            markdown.Markdown(extensions=[extension], extension_configs={extension: options})
        except Exception:  # noqa: BLE001 - an extension may refuse its options in any way
            unresolved.append(Unresolved(name, f"options of the extension {extension}"))
            wanted[extension] = dict(_OVERRIDES.get(extension, {}))
            try:
                markdown.Markdown(extensions=[extension], extension_configs={extension: wanted[extension]})
            except Exception:  # noqa: BLE001 - it is not installed in this version
                del wanted[extension]
    return markdown.Markdown(extensions=list(wanted), extension_configs=wanted)


def _extensions(listed: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each extension and its options. MkDocs takes a list of names and mappings, or one mapping."""
    for each in listed if isinstance(listed, list) else [listed]:
        pairs = each.items() if isinstance(each, dict) else [(each, None)] if isinstance(each, str) else []
        for name, options in pairs:
            given = options if isinstance(options, dict) else {}
            known = {str(key): value for key, value in given.items() if not isinstance(value, Unknown)}
            yield str(name).removeprefix("markdown.extensions."), known


def _fences(options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The site's own kinds of fences, each written as code: mermaid and the like."""
    listed = options.get("custom_fences")
    fences = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    return [
        {"name": str(each["name"]), "class": str(each.get("class", each["name"])), "format": _as_code}
        for each in fences
        if "name" in each
    ]


_as_code: Callable[..., Any] = fence_code_format


def _snippet_folders(folder: Path, wanted: dict[str, dict[str, Any]]) -> tuple[Path, ...]:
    """The folders that are searched for includes, inside the site's folder only."""
    options = wanted.get("pymdownx.snippets")
    if options is None:
        return ()
    given = options.get("base_path", ["."])
    root = folder.resolve()
    places = [(folder / str(each)).resolve() for each in (given if isinstance(given, list) else [given])]
    inside = tuple(place for place in places if place.is_relative_to(root))
    options["base_path"] = [str(place) for place in inside]
    return inside


def _includes(text: str) -> Iterator[str]:
    """The files that a page includes; `;` comments one out, and `:3:7` or `:name` chooses a part."""
    named = [snippet[1] for snippet in _SNIPPET.finditer(text)]
    for block in _SNIPPET_BLOCK.finditer(text):
        named += [line.strip() for line in block[1].split("\n")]
    for each in named:
        path = re.sub(r"(?::[\w-]*)+\Z", "", each.strip())
        if path and not path.startswith(";"):
            yield path
