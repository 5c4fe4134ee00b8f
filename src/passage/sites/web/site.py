"""Reads a published site: the pages of its sitemap, or the linked pages, with the reader for built sites."""

import hashlib
import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from email.message import Message
from pathlib import Path
from urllib.parse import urldefrag, urljoin, urlsplit, urlunsplit

from passage.sites import encoding, html
from passage.sites.built import addresses
from passage.sites.built.site import SUFFIXES, BuiltSite
from passage.sites.model import Note, Page, SiteError, Skip
from passage.sites.web import sitemap
from passage.sites.web.fetch import Fetcher, FetchError, HttpAnswer, LeftOut, origin
from passage.sites.web.limits import FetchLimits
from passage.sites.web.mirror import Mirror
from passage.sites.web.sitemap import SitemapError
from passage.sites.workers import IN_THIS_PROCESS, Workers

MAX_SITEMAPS = 500
_FILE = re.compile(r"\.[a-z]\w+\Z", re.IGNORECASE)
"""The suffix of a file. The end of `releases/1.10` and `from-1.x` is none."""

_HTML = ("text/html", "application/xhtml+xml")
_EDITIONS = "link[rel=alternate][hreflang]"
"""Finds a page's other languages, because Docusaurus does not list their sitemaps."""
_ANY = f"a[href], {_EDITIONS}"
_SITEMAPS = ("sitemap.xml", "sitemap-index.xml", "sitemap_index.xml")
"""The usual paths of sitemaps, for a robots.txt that names none."""


@dataclass(frozen=True, slots=True)
class WebSite:
    """A site at a URL: a `passage.sites.model.Site`.

    Attributes:
        url: of the site or of its sitemap.
        cache: the folder that keeps fetched pages for the next run.
        selector, language, version, workers: as of a built site.
    """

    url: str
    cache: Path
    limits: FetchLimits = field(default_factory=FetchLimits)
    selector: str | None = None
    language: str | None = None
    version: str | None = None
    workers: Workers = IN_THIS_PROCESS

    @property
    def nothing_found(self) -> str:
        return (
            f"{self.url} has no text to index: either every page was left out, or its pages are put together in the "
            "browser."
        )

    def read(self) -> Iterator[Page | Note]:
        """Every call asks the server again for what changed."""
        base = base_of(self.url)
        mirror = Mirror.opened(self.cache / hashlib.sha256(base.encode()).hexdigest()[:16], base)
        with Fetcher(self.url, self.limits) as fetcher:
            yield from _Crawl(fetcher, mirror, self.url).run()
        mirror.close()
        if not mirror.held:
            raise SiteError(f"{self.url} gave no page. {self.nothing_found}")
        yield from BuiltSite(mirror.pages, base, self.selector, self.language, self.version, self.workers).read()


def base_of(url: str) -> str:
    """The part of the origin that belongs to a site: its URL's folder, with a slash at the end."""
    parts = urlsplit(url)
    path = parts.path or "/"
    last = path.rpartition("/")[2]
    if _FILE.search(last):
        path = path.removesuffix(last)
    return urlunsplit((parts.scheme, parts.netloc, path if path.endswith("/") else f"{path}/", "", ""))


@dataclass(slots=True)
class _Crawl:
    """One run over a site.

    Attributes:
        seen: URLs that were fetched or left out.
        asked_for: the sitemap's pages, or the site's first page. A missing page is a failure only among these.
        elsewhere: another origin that a sitemap names, of its pages or of further sitemaps.
    """

    fetcher: Fetcher
    mirror: Mirror
    url: str
    seen: set[str] = field(default_factory=set)
    asked_for: set[str] = field(default_factory=set)
    elsewhere: str = ""

    def run(self) -> Iterator[Skip]:
        """Fetch every page; yields the skipped ones."""
        listed = self._list_pages()
        if self.elsewhere and not listed:
            yield Skip("sitemap.xml", f"names pages of {self.elsewhere} only: links are followed instead")
        waiting = deque(listed or [self.mirror.base])
        self.asked_for = {_plain(url) for url in waiting}
        unlisted: dict[str, None] = {}
        while waiting:
            url = _plain(waiting.popleft())
            if url in self.seen:
                continue
            self.seen.add(url)
            reason, failed, content = self._page(url)
            if reason:
                yield Skip(_path(url), reason, failed)
            waiting.extend(self._links(url, content, _EDITIONS if listed else _ANY))
            if listed:
                unlisted.update(dict.fromkeys(self._links(url, content, _ANY)))
            if listed and not waiting and self._is_poor(unlisted):
                listed = []
                waiting.extend(unlisted)
        if listed:
            yield from (Skip(_path(url), "linked, but not in the sitemap") for url in unlisted if url not in self.seen)

    def _is_poor(self, unlisted: Iterable[str]) -> bool:
        """Whether a sitemap that was found, not given, lists fewer pages of the site than its pages link to."""
        listed = sum(url.startswith(self.mirror.base) for url in self.asked_for)
        return not _is_sitemap(self.url) and len(set(unlisted) - self.seen) > listed

    def _page(self, url: str) -> tuple[str, bool, bytes]:
        """Fetch one page: why it is left out (empty when it is kept), whether it failed, and its content."""
        if origin(url) != origin(self.mirror.base):
            return "on another origin", False, b""
        if self.mirror.file_of(url) is None:
            return "outside the site", False, b""
        self.fetcher.count_page()
        try:
            answer = self.fetcher.get(url, self.mirror.conditions(url))
        except LeftOut as error:
            return str(error), False, b""
        except FetchError as error:
            if error.gone or not self.mirror.has_copy(url):
                broken_link = error.gone and url not in self.asked_for
                return str(error), not broken_link, b""
            return f"{error}: the last run's copy is used", True, self._copy(url)
        return ("", False, self._copy(url)) if answer.unchanged else self._keep(url, answer)

    def _copy(self, url: str) -> bytes:
        """Keep a page unchanged from the last run."""
        final = self.mirror.keep_unchanged(url)
        self.seen.add(final)
        return (self.mirror.pages / str(self.mirror.file_of(final))).read_bytes()

    def _keep(self, url: str, answer: HttpAnswer) -> tuple[str, bool, bytes]:
        final = _plain(answer.url)
        stated = Message()
        stated["content-type"] = answer.headers.get("content-type") or "text/html"
        kind, charset = stated.get_content_type(), stated.get_content_charset()
        if kind not in _HTML:
            return "no HTML", False, b""
        if "noindex" in answer.headers.get("x-robots-tag", "").lower():
            return "noindex", False, b""
        if self.mirror.file_of(final) is None:
            return "outside the site", False, b""
        if final != url and final in self.seen:
            return "redirect", False, b""
        self.seen.add(final)
        content = encoding.marked(answer.content, charset) if charset else answer.content
        try:
            self.mirror.keep(url, final, answer.headers, content)
        except (FileExistsError, IsADirectoryError, NotADirectoryError):
            return "another page has its file as a folder", False, b""
        return "", False, content

    def _list_pages(self) -> list[str]:
        """The pages of the sitemap that was given or found; empty where there is none, or it is empty."""
        given = _is_sitemap(self.url)
        if given:
            places = [self.url]
        else:
            named = [each for each in self.fetcher.sitemaps if origin(each) == origin(self.url)]
            places = named or [urljoin(self.mirror.base, name) for name in _SITEMAPS]
        pages = list(dict.fromkeys(self._sitemaps(places, required=given)))
        if given and not pages:
            raise SiteError(f"{self.url} lists no pages.")
        pages = [page for page in pages if origin(page)[0] in ("http", "https")]
        if not pages or any(origin(page) == origin(self.url) for page in pages):
            return pages
        self._note_origin(pages[0])
        if given:
            raise SiteError(f"{self.url} names pages of {self.elsewhere} only: give the URL of the site.")
        return []

    def _note_origin(self, url: str) -> None:
        parts = urlsplit(url)
        self.elsewhere = f"{parts.scheme}://{parts.netloc}"

    def _sitemaps(self, places: Iterable[str], *, required: bool) -> Iterator[str]:
        """The pages of sitemaps and of those that they name."""
        waiting, read = deque(places), 0
        while waiting and read < MAX_SITEMAPS:
            place = waiting.popleft()
            read += 1
            try:
                listed = sitemap.parse(self.fetcher.get(place).content)
            except (FetchError, LeftOut, SitemapError) as error:
                if required:
                    raise SiteError(f"{place} {error}.") from error
                if origin(place) != origin(self.url):
                    self._note_origin(place)
                continue
            required = False
            waiting.extend(listed.sitemaps)
            yield from listed.pages

    def _links(self, url: str, content: bytes, css: str) -> Iterator[str]:
        """The pages of the site that a page links to."""
        try:
            root = html.parse(content)
        except ValueError:
            return  # reported when the page is read
        base = addresses.links_base(root, url)
        for link in html.select(root, css):
            try:
                target = _plain(urljoin(base, html.attribute(link, "href").strip()))
            except ValueError:
                continue
            name = urlsplit(target).path.rpartition("/")[2]
            if target.startswith(self.mirror.base) and (not _FILE.search(name) or name.lower().endswith(SUFFIXES)):
                yield target


def _is_sitemap(url: str) -> bool:
    return urlsplit(url).path.endswith((".xml", ".xml.gz"))


def _path(url: str) -> str:
    return urlsplit(url).path.lstrip("/") or "/"


def _plain(url: str) -> str:
    """A URL without its anchor and query: documentation pages have none that change them."""
    parts = urlsplit(urldefrag(url).url)
    return urlunsplit((parts.scheme, parts.netloc, parts.path or "/", "", ""))
