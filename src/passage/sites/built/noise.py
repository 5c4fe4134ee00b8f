"""Selectors of elements in the main content that are not part of its text, for all themes, in one table."""

from passage.sites import html
from passage.sites.built.blocks import UNSEEN

MACHINERY = ", ".join(
    (
        *sorted(UNSEEN - {"head", "script"}),
        "script:not([type^='math/tex'])",
        "hr",
        "rt",  # a reading beside its word
        "rp",
        "dialog",
        "[role=dialog]",  # cookie banners
        "[role=alertdialog]",
        "footer:not(blockquote footer)",
        ".theme-doc-card-container",
        ".VPHero .image",
    )
)
NOISE = {
    "navigation": ", ".join(
        (
            "nav",
            "[role=navigation]",
            ".section-index",
            ".toctree-wrapper:not(:has(h1, h2))",  # on Sphinx' single page, it holds the chapters
        )
    ),
    "mark, label or tool": ", ".join(
        (
            ".rss-subscribe",
            "div[class*=language-] > span.lang",
            ".line-numbers-wrapper",
            "pre .boring",
            ":is(.nbinput, .nboutput) > .prompt",
            ".jp-InputPrompt",
            ".jp-OutputPrompt",
            ".footnote-reference",
            "[role=doc-noteref]",
            "a.fn-backref:not(.citation a)",
            "aside.footnote > span.backrefs",
            "aside.footnote > span.label",
        )
    ),
    "around the text": ", ".join(
        (
            ".md-content__button",
            ".article-meta",
            ".post-meta",
            ".reading-time",
            "[class*=feedback--]",
            ".nextra-breadcrumb",
            ".md-tags",
            f"#feedback:not({html.HEADING}, section, .section)",  # a heading's id is made of its words
            ".quarto-title-meta",
            "section.comments",
            "div.comments",
        )
    ),
    "hidden": ", ".join(
        (
            f":is(.sr-only, [class*=visually], [class*=screen-reader]):not({html.HEADING})",
            "[class^=MathJax]:has(~ script[type^='math/tex'])",
        )
    ),
}
"""The selectors, by the rule for people; besides `MACHINERY`, which matches on most pages."""
