"""Lists the recognised generators, each with its signs and the place of a page's text."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import takewhile

from passage.sites import html
from passage.sites.built.document import Document
from passage.sites.html import Node


@dataclass(frozen=True, slots=True)
class Generator:
    """A generator's signs and selectors.

    Attributes:
        meta: how the content of its `meta[name=generator]` begins, in lower case.
        comment: words of a comment that it puts into `<head>` or before it.
        sign: a selector that matches on each of its pages.
        contents: selectors of the main content, best first. All outermost matches of one together are the content.
        title: selects a level-1 heading outside the content.
        noise: selects elements of the content that are not part of its text, besides those of every theme.
        skipped: selectors that match only on pages to leave out, with the reason.
        files: patterns of the paths of files to leave out, with the reason.
        lists_all: its sitemap lists every page that was not excluded by hand.
        taxonomies: it writes pages that list the pages of a tag, a category or an author.
        search_index: the file of its search index, which lacks the pages that the owner excluded from search.
        inventory: the file of its inventory (intersphinx), which states the site's version.
        version: selects the page's version, after a colon.
        outdated: a selector that matches on pages of a version other than the current one.
        slogan: selects a part of a heading that is text, not a title.
        top: the id of each page's first heading, which is no anchor.
        entries: selects API entries and terms of a glossary: each has an id and begins a section, as a heading does.
        signatures: selects the signatures of API entries.
        entry_name: selects the name in a signature.
    """

    name: str
    contents: tuple[str, ...]
    meta: tuple[str, ...] = ()
    comment: str = ""
    sign: str = ""
    title: str = ""
    noise: str = ""
    skipped: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    lists_all: bool = False
    taxonomies: bool = False
    search_index: str = ""
    inventory: str = ""
    version: str = ""
    outdated: str = ""
    slogan: str = ""
    top: str = ""
    entries: str = ""
    signatures: str = ""
    entry_name: str = ""

    def reason_to_skip(self, file: str, document: Document) -> str | None:
        """The reason to leave out a page by `files` or `skipped`; None where it must be read."""
        matched = (why for css, why in self.skipped.items() if document.first(css) is not None)
        return self.reason_by_path(file) or next(matched, None)

    def reason_by_path(self, file: str) -> str | None:
        """The reason to leave out a page by `files`."""
        return next((reason for pattern, reason in self.files.items() if re.fullmatch(pattern, file)), None)


_MATERIAL_LISTS = {"h2[id^='tag:'], .md-post--excerpt": "list of pages"}
"""The theme of MkDocs and Zensical: pages of tags, and of a blog's posts."""

_MARKED = "main, [role=main], article, [itemprop=articleBody]"
"""Elements that mark a page's main content in any theme."""


GENERATORS = (
    Generator(
        "Docusaurus",
        (".theme-doc-markdown", "#__blog-post-container"),
        meta=("docusaurus",),
        sign="html.docs-wrapper, html.blog-wrapper, html.mdx-wrapper",
        title="article header h1",
        skipped={
            "html.docs-tags-list-page, html.docs-tags-doc-list-page": "list of pages",
            "html.plugin-blog:not(.blog-post-page)": "list of pages",
            "html.search-page-wrapper": "search page",
            "html.docs-doc-page:not(:has(.theme-doc-markdown))": "generated index",
        },
        version=".theme-doc-version-badge",
        outdated=".theme-doc-version-banner",
    ),
    Generator(
        "Zensical",
        ("article.md-content__inner",),
        meta=("zensical",),
        skipped=_MATERIAL_LISTS,
        search_index="search.json",
    ),
    Generator(
        "MkDocs",
        ("article.md-content__inner",),
        meta=("mkdocs",),
        sign=".md-content",
        skipped=_MATERIAL_LISTS,
        files={r"(.*/)?print_page/.*": "no page"},
        search_index="search/search_index.json",
        signatures=".autodoc-signature",
    ),
    Generator(
        "VitePress",
        (".VPHero, .VPFeatures, .vp-doc",),
        meta=("vitepress",),
        sign="#VPContent",
        slogan=".VPHero .name ~ .text",
    ),
    Generator(
        "Starlight",
        ("main .hero .copy, .sl-markdown-content",),
        meta=("starlight",),
        sign=".sl-markdown-content",
        title="h1#_top, h1[data-page-title]",
        top="_top",
    ),
    Generator(
        "Sphinx",
        ("div.body", f"body:not(:has({_MARKED})) :has(> :is(section, .section) > h1)"),
        meta=("sphinx", "docutils"),
        comment="generated with sphinx",
        sign="html[data-content_root], script[src*='documentation_options.js']",
        files={
            r"search(\.html|/index\.html)": "search page",
            r"(genindex|genindex-\w+|\w+-modindex)(\.html|/index\.html)": "generated index",
            r"(_modules|_sources)/.*": "source listing",
            r"(.*/)?(_static|_images|_downloads)/.*": "no page",
        },
        inventory="objects.inv",
        entries="dt.sig[id], dl.glossary > dt[id], dl[class~=py] > dt[id], dl.function > dt[id], dl.class > dt[id]",
        signatures="dt.sig",
        # a line break ends the parameters of a C++ template, which have the class of names
        entry_name=":is(.sig-prename, .descclassname, .sig-name, .descname):not(:has(~ br ~ .sig-name))",
    ),
    Generator(
        "mdBook",
        (),
        meta=("mdbook",),
        comment="using mdbook",
        files={r"print\.html": "whole book on one page", r"toc\.html": "navigation"},
    ),
    Generator(
        "Hugo",
        (".td-content",),
        meta=("hugo",),
        title="main h1, article h1",
        files={r"(.*/)?_print/.*": "no page"},
        taxonomies=True,
    ),
    Generator(
        "Jekyll",
        (
            ".post-content",
            ".page__content",
            "main .home",
            f":is(#main-content, #main_content):not({html.HEADING})",  # a heading's id is made of its words
        ),
        meta=("jekyll",),
        title="main h1, h1.post-title, h1.page__title",
        lists_all=True,
        taxonomies=True,
    ),
    Generator(
        "Doxygen",
        ("div.contents",),
        meta=("doxygen",),
        title=".header .title",
        slogan=".mlabels, .ingroups",
        signatures=".compoundTemplParams",
        skipped={
            "div.contents:not(:has(*))": "no text",
            ".contents > .textblock > dl.reflist:only-child": "generated index",  # "Todo List"
        },
        noise=(
            "table.memberdecls:not(:has(tr:not(.inherit) .memItemRight > b:first-child)),"
            " .memberdecls tr:not(:has(.memItemRight > b:first-child)), .obfuscator,"
            " .memberdecls .inherit, .dynheader, .dyncontent, .mlabels-right, .overload, .ttc, .contents > hr ~ ul,"
            " p.definition, p.reference, p.referencedby, a[name=details] + h2, #header-details,"
            " .contents > a[href$='_source.html'], .contents > p > a[href$='_source.html']"
        ),
        files={
            r"(.*/)?(.*_source|.*-members|dir_\w+|graph_legend)\.html": "generated index",
            r"(.*/)?(annotated|classes|hierarchy|inherits|files|pages)\.html": "generated index",
            r"(.*/)?(functions|globals|namespacemembers)(_[\w~]+)?\.html": "generated index",
            r"(.*/)?(namespaces|modules|topics|concepts|examples)\.html": "generated index",
            r"(.*/)?search/\w+\.html": "search page",
        },
    ),
    Generator(
        "Javadoc",
        ("main", ".contentContainer"),
        meta=("javadoc",),
        comment="generated by javadoc",
        sign="link[title=Style][href$='stylesheet.css']",  # JDK 9 to 13 name nothing under `-notimestamp`
        title="main h1, .header h2.title",
        signatures=".blockList > pre, .description > pre",
        noise=(
            ".sub-title, .subTitle, .inheritance, .summary, .summary-table, .typeSummary, .overviewSummary,"
            " .inherited-list, div.caption"
        ),
        files={
            r"(.*/)?(index-all|help-doc|constant-values|serialized-form)\.html": "generated index",
            r"(.*/)?(overview|package|module)-(tree|use|frame)\.html": "generated index",
            r"(.*/)?(all(classes|packages)(-\w+)?|\w+-list|system-properties|search)\.html": "generated index",
            r"(.*/)?(index-files|class-use)/.*": "generated index",
            r"(.*/)?src-html/.*": "source listing",
        },
    ),
    Generator(
        "rustdoc",
        ("#main-content",),
        meta=("rustdoc",),
        noise=(
            ".rustdoc-breadcrumbs, .sub-heading, .out-of-band, .rightside, summary.hideme, rustdoc-toolbar,"
            " .item-table, .non-exhaustive, .test-arrow, .notable-traits,"
            " details:not(#implementations-list details, :has(> .docblock)) > summary > .impl > .item-info,"
            " [id^=blanket-implementations], [id^=synthetic-implementations], [id^=deref-methods],"
            " details:has(> summary > .trait-impl):not(:has(> .docblock > p)), .trait-impl:not(summary > .trait-impl),"
            " details:has(> summary > .trait-impl):has(> .docblock > p:only-child > a:last-child)"
        ),
        files={
            r"(.*/)?all\.html": "generated index",
            r"(help|settings)\.html": "no page",
            r"(.*/)?src/.*\.rs\.html": "source listing",
        },
    ),
    Generator(
        "TypeDoc",
        (".col-content",),
        sign=".tsd-page-title",
        noise=(
            ".tsd-breadcrumb, .tsd-panel:has(> .tsd-hierarchy), .tsd-index-group, .tsd-member-summaries, .tsd-sources,"
            " .tsd-is-inherited"
        ),
        files={r"hierarchy\.html": "generated index"},
    ),
    Generator(
        "pdoc",
        (),
        meta=("pdoc",),
        noise=".view-source-button, .module-info > .pdoc-code, .attr ~ .pdoc-code, .inherited",
        signatures=".attr",
        entry_name=".name:not(code)",
    ),
)

_TEXT = "article, :is(h2, h3, h4, p):not(nav *, aside *, header *, footer *)"
"""Headings and paragraphs of the text, not beside it."""

UNKNOWN = Generator(
    "an unknown generator",
    (),
    title="h1",
    noise="header:not(article header, main header), [role=search], [role=banner]",
    taxonomies=True,
)


_SIGNS = ", ".join(generator.sign for generator in GENERATORS if generator.sign)


def recognise(pages: Iterable[Document]) -> Generator:
    """The generator that most of the pages name. Hugo names itself on the home page alone."""
    votes = [name for page in pages if (name := generator_of(page)) is not None]
    return max(votes, key=votes.count, default=UNKNOWN)


def generator_of(document: Document) -> Generator | None:
    """The generator that one page names."""
    metas = (meta for meta in document.metas if html.attribute(meta, "name") == "generator")
    named = [html.attribute(meta, "content").lower() for meta in metas]
    said = " ".join(_comments(document.root)).lower()
    for generator in GENERATORS:
        if any(content.startswith(generator.meta) for content in named if generator.meta):
            return generator
    for generator in GENERATORS:
        if generator.comment and generator.comment in said:
            return generator
    for generator in GENERATORS if document.first(_SIGNS) is not None else ():
        if generator.sign and document.first(generator.sign) is not None:
            return generator
    return None


def _comments(root: Node) -> Iterable[str]:
    yield from html.comments(root)
    head = html.first(root, "head")
    if head is not None:
        yield from html.comments(head)


def contents_of(root: Node, generator: Generator, selector: str | None) -> tuple[list[Node], str]:
    """A page's main content, and a selector of elements to leave out, besides those of every theme.

    Args:
        selector: as the owner states it; takes precedence.
    """
    if selector:
        return _filled(root, selector), ""
    for css in generator.contents:
        if content := _filled(root, css):
            return content, generator.noise
    return _marked(root), ", ".join(filter(None, (generator.noise, UNKNOWN.noise)))


def _marked(root: Node) -> list[Node]:
    """What is marked for the site's search (Pagefind), else the innermost element that is marked as the main content.

    The latter is found in the order of HTML's outline; it is the body where nothing is marked.

    An element with several marked ones holds a list of them. One that has the title alone is not left for a marked one
    inside it, such as a card.
    """
    if searched := [node for node in _filled(root, "[data-pagefind-body]") if html.tag(node) != "body"]:
        return searched
    around = next(iter(_filled(root, "body")), None)
    while around is not None:
        marked = any(html.key(node) != html.key(around) for node in html.select(around, _MARKED))
        below = html.elements(around) if marked else ()
        inside = [node for child in below for node in _filled(child, _MARKED)]
        if len(inside) != 1 or _is_card(inside[0], around):
            return [around]
        around = inside[0]
    return []


def _is_card(marked: Node, around: Node) -> bool:
    """Whether a marked element is only a part of the text around it, which has the title or paragraphs beside it."""
    if _has_title(marked):
        return False
    if html.tag(marked) == "article" and _follows_sections(marked, around):
        return True
    beside = [] if marked.parent is None else [each for each in html.elements(marked.parent) if html.tag(each) == "p"]
    return (html.tag(around) != "body" and _has_title(around)) or (html.tag(marked) == "article" and bool(beside))


def _follows_sections(marked: Node, around: Node) -> bool:
    """Whether headings of sections and a sentence stand before a marked element: it is an entry of one of them."""
    before = list(takewhile(lambda each: html.key(each) != html.key(marked), html.select(around, _TEXT)))
    headings = sum(html.tag(each) not in ("p", "article") for each in before)
    return headings > 1 and any(html.tag(each) == "p" and html.text(each).rstrip().endswith(".") for each in before)


def _has_title(node: Node) -> bool:
    return html.first(node, "h1") is not None


def _filled(root: Node, css: str) -> list[Node]:
    """The outermost matches that have text."""
    return [node for node in html.outermost(root, css) if html.text(node).strip()]
