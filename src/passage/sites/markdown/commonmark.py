"""Renders CommonMark with GitHub's tables and alerts, footnotes, definition lists and heading ids as HTML."""

import re
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

from passage.sites.markdown.code_spans import outside

_HEADING_ATTRIBUTES = re.compile(r"\s*\{:?\s*([#.:][^{}]*)\}\s*\Z")
"""`{#id .class}` behind a heading, as Pandoc and kramdown read it."""
_ID = re.compile(r"#([^\s.#}]+)")
_ALERT = re.compile(r"^([ \t]*>[ \t]*)\[!(\w+)\][ \t]*(.*)$", re.MULTILINE)


def to_html(markdown: str) -> str:
    """The HTML of a page without front matter."""
    return str(_parser().render(outside(_titled_alerts, markdown)))


def _titled_alerts(piece: str) -> str:
    """`> [!NOTE]`, as GitHub reads it, with its name as a title."""
    return _ALERT.sub(lambda alert: f"{alert[1]}**{alert[3] or alert[2].capitalize()}**\n{alert[1].rstrip()}", piece)


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    deflist_plugin(parser)
    footnote_plugin(parser)
    parser.core.ruler.push("heading_ids", _heading_ids)
    return parser


def _heading_ids(state: object) -> None:
    """Give headings the ids that their authors wrote; ids are never computed."""
    tokens: list[Token] = state.tokens  # type: ignore[attr-defined]  # StateCore, which is not exported
    for position, token in enumerate(tokens):
        if token.type != "heading_open":
            continue
        children = tokens[position + 1].children or []
        last = next((child for child in reversed(children) if child.content.strip()), None)
        if last is None or last.type != "text":
            continue
        if attributes := _HEADING_ATTRIBUTES.search(last.content):
            last.content = last.content[: attributes.start()]
            if identity := _ID.search(attributes[1]):
                token.attrSet("id", identity[1])
