"""Renders CommonMark with documentation extensions as HTML: containers, admonitions, footnotes, heading ids."""

import re
from collections.abc import Sequence
from functools import cache
from html import escape

from markdown_it import MarkdownIt
from markdown_it.common.utils import unescapeAll
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from mdit_py_plugins.admon import admon_plugin
from mdit_py_plugins.container import container_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin

# `{#id .class}` as Docusaurus, VitePress and attr_list write it, and newer Docusaurus' comment `{/* #id */}`.
_HEADING_ATTRIBUTES = re.compile(r"\s*(?:\{:?\s*([#.:][^{}]*)\}|\{/\*\s*(.*?)\s*\*/\})\s*\Z")
_ID = re.compile(r"#([^\s.#}]+)")
_CONTAINER = re.compile(r"([\w-]+)[ \t]*(?:\[(.*)\]|(.*))\Z", re.DOTALL)
_ATTRIBUTES = re.compile(r"\{[^{}]*\}")
_INFO = re.compile(r"([^\s{\[]*)")
_TITLE = re.compile(r"""\btitle=(?:"([^"]*)"|'([^']*)'|(\S+))|\[([^\[\]]+)\]""")

_MARKER = re.compile(
    r"^[ \t]*(?://|#|--|/\*|<!--|\{/\*)[ \t]*highlight-(?:next-line|start|end)\b.*\n?"
    r"|[ \t]*(?://|#|--|/\*|<!--)[ \t]*\[!code\b[^\]\n]*\].*$",
    re.MULTILINE,
)
"""A comment that only marks lines of code, in Docusaurus and in VitePress; the build takes it out."""

_ALERT = re.compile(r"^([ \t]*>[ \t]*)\[!(\w+)\][ \t]*(.*)$", re.MULTILINE)

_UNTITLED = frozenset({"code-group", "raw", "v-pre", "tabs", "tab", "div", "cards", "steps"})
"""Containers that only group their contents."""


def to_html(markdown: str, *, mdx: bool = False, math: bool = False) -> str:
    """The HTML of a page without front matter.

    Args:
        mdx: indentation makes no code, as in MDX.
        math: `$…$` and `$$…$$` are formulas.
    """
    return str(_parser(mdx, math).render(markdown))


def titled_alerts(piece: str) -> str:
    """`> [!NOTE]`, as GitHub, Hugo and VitePress read it, with its name as a title."""
    return _ALERT.sub(lambda found: f"{found[1]}**{found[3] or found[2].capitalize()}**\n{found[1].rstrip()}", piece)


@cache
def _parser(mdx: bool, math: bool) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    container_plugin(parser, "any", validate=_is_container, render=_container)
    admon_plugin(parser)
    deflist_plugin(parser)
    footnote_plugin(parser)
    if math:
        dollarmath_plugin(parser, renderer=_formula, allow_digits=False)
    if mdx:
        parser.disable("code")
    parser.core.ruler.push("heading_ids", _heading_ids)
    parser.add_render_rule("fence", _fence)
    return parser


def _is_container(parameters: str, _: str = ":") -> bool:
    return _CONTAINER.match(parameters.strip()) is not None


def _container(_: RendererHTML, tokens: Sequence[Token], index: int, __: OptionsDict, ___: EnvType) -> str:
    if tokens[index].nesting < 0:
        return "</div>\n"
    found = _CONTAINER.match(tokens[index].info.strip())
    kind, title = (found[1], found[2] or found[3] or "") if found else ("", "")
    if kind in _UNTITLED:
        return "<div>\n"
    title = _ATTRIBUTES.sub("", title).strip() or kind
    return f'<div class="admonition"><p class="admonition-title">{escape(_plain(title))}</p>\n'


def _plain(title: str) -> str:
    return re.sub(r"(\*\*|__|`)(.+?)\1", r"\2", title)


def _formula(tex: str, options: dict[str, bool]) -> str:
    return f"\\[{escape(tex)}\\]" if options.get("display_mode") else f"\\({escape(tex)}\\)"


def _fence(_: RendererHTML, tokens: Sequence[Token], index: int, __: OptionsDict, ___: EnvType) -> str:
    """A block of code with its language and, where it has one, its title before it."""
    info = unescapeAll(tokens[index].info).strip()
    language = (_INFO.match(info) or [""])[0].removesuffix(":line-numbers").removesuffix(":no-line-numbers")
    rest = info[len(language) :]
    found = _TITLE.search(rest)
    title = next((part for part in found.groups() if part), "") if found else ""
    named = f' class="language-{escape(language)}"' if language else ""
    source = _MARKER.sub("", tokens[index].content)
    shown = f'<p class="admonition-title">{escape(title)}</p>\n' if title else ""
    return f"{shown}<pre><code{named}>{escape(source, quote=False)}</code></pre>\n"


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
        if found := _HEADING_ATTRIBUTES.search(last.content):
            last.content = last.content[: found.start()]
            if identity := _ID.search(found[1] or found[2] or ""):
                token.attrSet("id", identity[1])
