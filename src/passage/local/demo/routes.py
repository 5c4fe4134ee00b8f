"""The demo's routes, beside the API's, and its HTML. Only `passage serve` has them; the function does not."""

import json
from collections.abc import Iterator, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from string import Template
from urllib.parse import quote

from aiohttp import web

from handler.entrypoints.http.routes import methods
from passage.local.demo.book import Book, Leaf
from passage.sites.markdown.front_matter import PageError

WIDGET = Path(__file__).parents[4] / "web" / "passage-chat.js"
"""The widget's bundle in a checkout."""

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
KINDS = {".css": "text/css", ".js": "text/javascript"}

_STATIC = resources.files("passage.local.demo") / "static"
_NO_PAGES = """<div><h1>Ask your documentation</h1>
<p>Passage answers from the index that this server was started with. Ask with the button below, and see on the panel how
each answer came about.</p>
<p>To show the site's pages here, too, name the folder of its Markdown:
<code>passage serve --site my-site</code>.</p></div>"""
_NO_WIDGET = '<p class="missing">The widget is not built: run <code>make widget</code>, then load this page again.</p>'


def add_demo(app: web.Application, book: Book | None, questions: Sequence[str] = ()) -> None:
    """Add `/`, `/demo/…` and the pages of a book. A page at a path of the API is left out.

    Args:
        questions: what the demo suggests to ask.
    """

    def respond(path: str) -> web.Response:
        html = render_page(book, path, questions, widget=WIDGET.is_file())
        if html is None:
            return web.Response(status=404, text="There is no such page in this book.", headers=HEADERS)
        return web.Response(text=html, content_type="text/html", charset="utf-8", headers=HEADERS)

    async def home(_: web.Request) -> web.Response:
        return respond(book.first if book else "")

    async def page(request: web.Request) -> web.Response:
        return respond(request.path)

    async def file(request: web.Request) -> web.Response:
        name = request.match_info["name"]
        kind = KINDS.get(Path(name).suffix)
        text = WIDGET.read_text("utf-8") if name == WIDGET.name and WIDGET.is_file() else read_static(name)
        if kind is None or text is None:
            return web.Response(status=404, text="There is no such file.", headers=HEADERS)
        return web.Response(text=text, content_type=kind, charset="utf-8", headers=HEADERS)

    app.router.add_get("/", home)
    app.router.add_get("/demo/{name}", file)
    for path in book.leaves if book else ():
        if path != "/" and not methods(path):
            app.router.add_get(quote(path), page)


def read_static(name: str) -> str | None:
    """A file of the demo; None for an unknown name."""
    known = {file.name for file in _STATIC.iterdir()}
    return (_STATIC / name).read_text(encoding="utf-8") if name in known else None


def render_page(book: Book | None, path: str, questions: Sequence[str] = (), *, widget: bool) -> str | None:
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
