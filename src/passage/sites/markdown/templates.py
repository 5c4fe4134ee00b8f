"""Takes template tags out of Markdown (Hugo's shortcodes; Jekyll's, GitBook's and Markdoc's tags), and attributes."""

import re
from dataclasses import dataclass, field

from passage.sites.markdown.code_spans import outside
from passage.sites.markdown.convention import Flat

_OPEN, _CLOSE = r"\{(?:\{[<%](?!/\*)|%-?)\s*", r"\s*/?(?:[%>]\}\}|-?%\})"
_TAG = re.compile(
    rf"(?P<before>^[ \t]*)?{_OPEN}(?P<slash>/?)\s*(?P<name>[\w.-]+)(?P<arguments>(?:(?!\{{[{{%]).)*?){_CLOSE}"
    r"(?P<after>[ \t]*$)?",
    re.MULTILINE | re.DOTALL,
)
_HIGHLIGHT = re.compile(
    rf"{_OPEN}highlight\s+\"?([\w+#-]*)[^}}]*?{_CLOSE}\n?(.*?)\n?[ \t]*{_OPEN}(?:/\s*|end)highlight{_CLOSE}", re.DOTALL
)
_COMMENT = re.compile(rf"{_OPEN}comment{_CLOSE}.*?{_OPEN}(?:/\s*|end)comment{_CLOSE}", re.DOTALL)
_SHOWN_TAG = re.compile(r"\{\{([<%])/\*(.*?)\*/([>%])\}\}", re.DOTALL)
"""Hugo writes `{{</* figure */>}}` to show the tag."""

_ADDRESS = re.compile(r"\{\{-?\s*[\"']([^\"'{}]*)[\"']\s*\|\s*(?:relative|absolute)_url\s*-?\}\}")
_VALUE = re.compile(r"\{\{-?\s*(?:site|page|include|layout|theme)\.[^{}]*\}\}")

# Attribute lists of kramdown, Jekyll's Markdown: `{: .note}`.
_HEADING_ATTRIBUTES = re.compile(r"^(#{1,6} .*)\n(\{:[^{}\n]*\})[ \t]*$", re.MULTILINE)
_NO_HEADING = re.compile(r"^(?!#).*\{:.*$", re.MULTILINE)
_ATTRIBUTES = re.compile(r"\{:\s*(?:toc|[.#][\w-]+|[\w-]+=)[^{}]*\}")
_CONTENTS = re.compile(r"^(?:[*+-]|1\.) .*\n\{:\s*toc[^{}\n]*\}", re.MULTILINE | re.IGNORECASE)

_ARGUMENT = re.compile(r"""([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"']+))|"([^"]*)\"""")
_TITLES = ("title", "header", "summary", "label", "name")
_KINDS = frozenset({"note", "tip", "info", "important", "warning", "caution", "danger"})
_PICTURES = frozenset({"figure", "img", "image"})
_SILENT = frozenset({"ref", "relref", "link", "post_url", "raw", "toc", *_PICTURES})
_LOGIC = frozenset({"if", "unless", "case", "for", "capture", "tablerow"})


def without_tags(text: str) -> Flat:
    """The text between a tag and its end stays; titles, captions and descriptions of tags become text."""
    text = _HIGHLIGHT.sub(r"````\1\n\2\n````", text)
    reader = _Reader({found["name"].removeprefix("end") for found in _TAG.finditer(text) if _ends(found)})
    text = outside(reader.read, text)
    return Flat(_SHOWN_TAG.sub(r"{{\1\2\3}}", text), tuple(reader.unresolved))


def _ends(tag: re.Match[str]) -> bool:
    return bool(tag["slash"]) or tag["name"].startswith("end")


def _without_attributes(piece: str) -> str:
    """A piece without attributes and lists of contents; a heading's attributes stand on its own line."""
    piece = _HEADING_ATTRIBUTES.sub(r"\1 \2", _CONTENTS.sub("", piece))
    return _NO_HEADING.sub(lambda line: _ATTRIBUTES.sub("", line[0]), piece)


@dataclass(slots=True)
class _Reader:
    """Reads the pieces of a page outside code.

    Attributes:
        paired: the names of tags that have an end.
        unresolved: the tags found so far that only the build resolves.
    """

    paired: set[str]
    unresolved: list[str] = field(default_factory=list)

    def read(self, piece: str) -> str:
        piece = _VALUE.sub("", _ADDRESS.sub(r"\1", _COMMENT.sub("", piece)))
        return _without_attributes(_TAG.sub(self._tag, piece))

    def _tag(self, tag: re.Match[str]) -> str:
        before, after = tag["before"], tag["after"]
        written = "" if _ends(tag) else self._words(tag["name"], tag["arguments"])
        if before is None or after is None:  # words around it
            return f"{before or ''}{written}{after or ''}"
        return f"\n{before}{written.strip()}\n" if written else "\n"

    def _words(self, name: str, arguments: str) -> str:
        found = list(_ARGUMENT.finditer(arguments))
        named = {each[1]: each[2] or each[3] or each[4] or "" for each in found if each[1]}
        if name in _PICTURES:
            return _picture(named)
        if name == "link":
            return f"/{arguments.strip()}"
        paired = name in self.paired
        if name in _LOGIC or not (paired or name in _SILENT):
            self.unresolved.append(f"tag {name}")
        title = next((named[each] for each in _TITLES if named.get(each)), "")
        if paired and not title:
            title = next((each[5] for each in reversed(found) if each[5]), name.capitalize() if name in _KINDS else "")
        return f"**{title}** " if paired and title else ""


def _picture(named: dict[str, str]) -> str:
    title, caption = named.get("title", ""), named.get("caption", "")
    picture = f"![{named.get('alt', '')}]({named['src']})" if named.get("src") else ""
    return " ".join(part for part in (picture, title and f"**{title}**", caption) if part)
