"""Selectors of elements in the main content that are not part of its text, for all themes, in one table."""

import re

from passage.sites import html
from passage.sites.html import Node

_NO_SECTION = ":not(h1, h2, h3, h4, h5, h6, section, .section)"
"""Follows an id: a heading's id is made of its words, so a heading or section may have the same one."""

PERMALINKS = (
    "a.hash-link",
    "a.headerlink",
    "a.header-anchor",
    "a.heading-link",
    "a.anchorjs-link",
    "a.anchor-link",
    "a.heading-anchor",
    "a.anchor[aria-hidden=true]",
    "a.subheading-anchor",
    "a.td-heading-self-link",
    ".sl-anchor-link",
)
NAVIGATION = (
    "nav",
    ".theme-doc-breadcrumbs",
    ".theme-doc-toc-mobile",
    "[class*=tableOfContentsInline]",
    "div.toc",
    "ul.toc",
    "ol.toc",
    f"#toc{_NO_SECTION}",
    "div.table-of-contents",
    "ul.table-of-contents",
    "div.contents.topic",
    "div.local.topic",
    f"#TableOfContents{_NO_SECTION}",
    f"#markdown-toc{_NO_SECTION}",
    ".toctree-wrapper",
    ".prev-next-area",
    ".pagination-nav",
    ".rst-footer-buttons",
    ".rst-breadcrumbs-buttons",
    ".VPDocFooter",
    ".section-index",
    "a.skip-link",
    "a[href='#main-content'].visually-hidden",
)
BADGES = (
    ".theme-doc-version-badge",
    ".theme-doc-version-banner",
    ".theme-unlisted-banner",
    ".theme-draft-banner",
    ".VPBadge",
    ".sl-badge",
    ".doc-labels",
    ".rss-subscribe",
    *(f"h{level} .label[class*=label-]" for level in range(1, 7)),
)
EDITING = (
    ".theme-doc-footer",
    ".md-content__button",
    ".md-source-file",
    ".md-source-date",
    ".md-tags",
    ".md-feedback",
    ".viewcode-link",
    ".edit-this-page",
    ".td-page-meta",
    ".td-page-meta__lastmod",
    ".feedback--title",
    ".feedback--question",
    ".feedback--response",
    ".article-meta",
    ".reading-time",
    f"#feedback{_NO_SECTION}",
    ".last-updated",
    ".post-meta",
    ".page__meta",
    ".quarto-title-meta",
    ".breadcrumb",
    ".breadcrumbs",
    ".nextra-breadcrumb",
    ".rustdoc-breadcrumbs",
    ".rustdoc .sub-heading",
    ".rustdoc .rightside",
    ".rustdoc summary.hideme",
    "rustdoc-toolbar",
)
CODE_TOOLS = (
    ".expressive-code .copy",
    "div[class*=language-] > span.lang",
    ".linenos",
    ".linenodiv",
    ".lnt",
    ".lineno",
    ".linenumber",
    ".line-numbers-wrapper",
    ".gutter",
    "[class*=codeLineNumber]",
    "pre .boring",
    "pre a[id^=__codelineno]:empty",
    "o-copy",
    ".nbinput > .prompt",
    ".nboutput > .prompt",
    ".jp-InputPrompt",
    ".jp-OutputPrompt",
)
FOOTNOTE_MARKS = (
    ".footnote-backref",
    "[data-footnote-backref]",
    "[role=doc-backlink]:not(.toc-backref, .citation a)",
    ".footnote-ref",
    "[data-footnote-ref]",
    "a.footnote",
    "sup.footnote",
    ".footnote-reference",
    "[role=doc-noteref]",
    "a.fn-backref:not(.citation a)",
    "aside.footnote > span.backrefs",
    "aside.footnote > span.label",
    "td.label .fn-backref",
)
HIDDEN = (
    ".sr-only:not(h1, h2, h3, h4, h5, h6)",
    ".visually-hidden:not(h1, h2, h3, h4, h5, h6)",
    ".visuallyhidden",
    ".screen-reader-text",
    ".screen-reader-only",
    ".katex-html",
    ".MathJax_Preview",
)
MACHINERY = (
    "hr",
    "script",
    "style",
    "template",
    "noscript",
    "svg",
    "link",
    "meta",
    "input",
    "select",
    "textarea",
    "iframe",
    "canvas",
    "object",
    "video",  # what it holds is for browsers without it
    "audio",
    "dialog",
    "[role=dialog]",  # cookie banners
    "[role=alertdialog]",
    "footer:not(blockquote footer)",
    ".theme-doc-card-container",
    ".VPHero .actions",
    ".VPHero .image",
    ".hero .actions",
)
NOISE = ", ".join((*PERMALINKS, *NAVIGATION, *BADGES, *EDITING, *CODE_TOOLS, *FOOTNOTE_MARKS, *HIDDEN, *MACHINERY))

SIGN = re.compile("[\u21a9\u2191\u2934\u00a7\u00b6\ufe0e\ufe0f\\s]+")
"""The words of a link within its page that only goes back from a footnote, or gives a place its address."""

_FEWEST_CONTENTS = 3

_COPIES = re.compile("copy|copied|clipboard", re.IGNORECASE)
_INLINE = frozenset({"a", "b", "code", "em", "i", "kbd", "label", "mark", "s", "small", "span", "strong", "u"})
_SENTENCES = frozenset({"p", "li", "dd", "blockquote"})
_TITLES = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "dt", "summary"})


def is_tool(button: Node) -> bool:
    """Whether a `<button>` belongs to the theme. It is text in a table's cell, in a sentence, and as a whole title."""
    words = html.text(button)
    named = " ".join(html.attribute(button, name) for name in ("class", "title", "aria-label"))
    if not _letters(button) or _COPIES.search(f"{words} {named}"):
        return True
    around = next((above for above in html.ancestors(button) if html.tag(above) not in _INLINE), button)
    alone = _letters(around) == sum(map(_letters, html.select(around, "button")))
    return html.tag(around) not in ("td", "th", *(_TITLES if alone else _SENTENCES))


def is_contents(links: Node) -> bool:
    """Whether a list is the page's table of contents: nothing but links within the page, and no end of a sentence."""
    targets = html.select(links, "a[href^='#']")
    before = links.prev
    while before is not None and not html.text(before).strip():
        before = before.prev
    if before is not None and html.text(before).rstrip().endswith(":"):
        return False
    return len(targets) >= _FEWEST_CONTENTS and _letters(links) == sum(map(_letters, targets))


def _letters(node: Node) -> int:
    return sum(map(str.isalnum, html.text(node)))


OUTSIDE = "nav, aside, footer, header:not(article header, main header), [role=navigation], [role=search], [role=banner]"
"""Elements around the text on a page of an unknown theme."""
