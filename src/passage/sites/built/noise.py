"""Selectors of elements in the main content that are not part of its text, for all themes, in one table."""

_NO_SECTION = ":not(h1, h2, h3, h4, h5, h6, section, .section)"
"""Follows an id: a heading's id is made of its words, so a heading or section may have the same one."""

NAVIGATION = (
    "nav",
    ".section-index",
    ".toctree-wrapper:not(:has(h1, h2))",  # on Sphinx' single page, it holds the chapters
)
BADGES = (".rss-subscribe",)
EDITING = (
    ".md-content__button",
    ".article-meta",
    ".post-meta",
    ".reading-time",
    ".feedback--title",
    ".feedback--question",
    ".feedback--response",
    ".nextra-breadcrumb",
    ".md-tags",
    f"#feedback{_NO_SECTION}",
    ".quarto-title-meta",
)
CODE_TOOLS = (
    ".expressive-code .copy",
    "div[class*=language-] > span.lang",
    ".line-numbers-wrapper",
    "pre .boring",
    "pre a[id^=__codelineno]:empty",
    "o-copy",
    ".nbinput > .prompt",
    ".nboutput > .prompt",
    ".jp-InputPrompt",
    ".jp-OutputPrompt",
)
FOOTNOTE_MARKS = (
    "[role=doc-backlink]:not(.toc-backref, .citation a)",
    ".footnote-reference",
    "[role=doc-noteref]",
    "a.fn-backref:not(.citation a)",
    "aside.footnote > span.backrefs",
    "aside.footnote > span.label",
    "td.label .fn-backref",
)
COMMENTS = ("section.comments", "div.comments", "[id*=disqus]", ".giscus", ".utterances")
HIDDEN = (
    ".sr-only:not(h1, h2, h3, h4, h5, h6)",
    ".visually-hidden:not(h1, h2, h3, h4, h5, h6)",
    ".visuallyhidden",
    ".screen-reader-text",
    ".screen-reader-only",
    ".katex-html",
    "[class^=MathJax]:has(~ script[type^='math/tex'])",
)
MACHINERY = ", ".join(
    (
        "hr",
        "rt",  # a reading beside its word
        "rp",
        "script:not([type^='math/tex'])",
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
        ".VPHero .image",
    )
)
NOISE = {
    "navigation": ", ".join(NAVIGATION),
    "mark, label or tool": ", ".join((*BADGES, *CODE_TOOLS, *FOOTNOTE_MARKS)),
    "around the text": ", ".join((*EDITING, *COMMENTS)),
    "hidden": ", ".join(HIDDEN),
}
"""The selectors, by the rule for people; besides `MACHINERY`, which matches on most pages."""
