"""The demo's HTML: the frame around a page, without any script or style of its own."""

import json
from collections.abc import Iterator, Sequence
from html import escape
from importlib import resources
from string import Template

from passage.local.demo.book import Book, Leaf
from passage.sites.markdown.front_matter import PageError

_STATIC = resources.files("passage.local.demo") / "static"
_NO_PAGES = """<div><h1>Ask your documentation</h1>
<p>Passage answers from the index that this server was started with. Ask with the button below, and see on the panel how
each answer came about.</p>
<p>To show the site's pages here, too, name the folder of its Markdown:
<code>passage serve --site my-site</code>.</p></div>"""
_NO_WIDGET = '<p class="missing">The widget is not built: run <code>make widget</code>, then load this page again.</p>'


def static(name: str) -> str | None:
    """A file of the demo; None for an unknown name."""
    known = {file.name for file in _STATIC.iterdir()}
    return (_STATIC / name).read_text(encoding="utf-8") if name in known else None


def page(book: Book | None, path: str, questions: Sequence[str] = (), *, widget: bool) -> str | None:
    """The demo around one page of the book.

    Args:
        book: None to show no page of the site.
        path: of the page.
        questions: what the demo suggests to ask.
        widget: whether the widget's script can be served.

    Returns:
        None for an unknown path.
    """
    article: str | None = _NO_PAGES
    leaf = None
    if book is not None:
        leaf = book.leaves.get(path)
        try:
            article = book.article(path)
        except PageError as error:
            article = f"<p>This page {escape(str(error))}.</p>"
    if article is None:
        return None
    template = Template((_STATIC / "page.template").read_text(encoding="utf-8"))
    return template.substitute(
        title=escape(leaf.title if leaf else "Passage"),
        site=escape(book.address if book else "", quote=True),
        questions=escape(json.dumps(list(questions)), quote=True),
        contents="".join(_contents(book, leaf)) if book else "",
        chapter=escape(leaf.chapter) if leaf else "",
        article=article if widget else _NO_WIDGET + article,
        script='<script src="/demo/passage-chat.js" data-manual defer></script>' if widget else "",
    )


def _contents(book: Book, shown: Leaf | None) -> Iterator[str]:
    """The table of contents: a list for each chapter."""
    for chapter, leaves in sorted(book.chapters().items()):
        if chapter:
            yield f"<h2>{escape(chapter)}</h2>"
        yield "<ul>"
        for leaf in leaves:
            current = ' aria-current="page"' if leaf is shown else ""
            yield f'<li><a href="{escape(leaf.href, quote=True)}"{current}>{escape(leaf.title)}</a></li>'
        yield "</ul>"
