"""The demo's routes, beside the API's. Only `passage serve` has them; the function does not."""

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from aiohttp import web

from handler.entrypoints.http.routes import methods
from passage.local.demo import shell
from passage.local.demo.book import Book

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


def add_demo(app: web.Application, book: Book | None, questions: Sequence[str] = ()) -> None:
    """Add `/`, `/demo/…` and the pages of a book. A page at a path of the API is left out.

    Args:
        questions: what the demo suggests to ask.
    """

    def shown(path: str) -> web.Response:
        html = shell.page(book, path, questions, widget=WIDGET.is_file())
        if html is None:
            return web.Response(status=404, text="There is no such page in this book.", headers=HEADERS)
        return web.Response(text=html, content_type="text/html", charset="utf-8", headers=HEADERS)

    async def home(_: web.Request) -> web.Response:
        return shown(book.first if book else "")

    async def page(request: web.Request) -> web.Response:
        return shown(request.path)

    async def file(request: web.Request) -> web.Response:
        name = request.match_info["name"]
        kind = KINDS.get(Path(name).suffix)
        text = WIDGET.read_text("utf-8") if name == WIDGET.name and WIDGET.is_file() else shell.static(name)
        if kind is None or text is None:
            return web.Response(status=404, text="There is no such file.", headers=HEADERS)
        return web.Response(text=text, content_type=kind, charset="utf-8", headers=HEADERS)

    app.router.add_get("/", home)
    app.router.add_get("/demo/{name}", file)
    for path in book.leaves if book else ():
        if path != "/" and not methods(path):
            app.router.add_get(quote(path), page)
