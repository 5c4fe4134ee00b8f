"""The URL of each page: its canonical link, else the sitemap's, else the file's path in the spelling of the links."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from urllib.parse import quote, unquote, urljoin, urlsplit

from passage.sites import html
from passage.sites.built.document import Document
from passage.sites.html import Node
from passage.sites.model import SiteError

FOLDER_FORMS = ("{path}/", "{path}", "{path}/index.html")
"""The spellings of `path/index.html` in a URL; `path/` is the default."""


def forms(file: str) -> tuple[str, ...]:
    """The URLs, relative to the site's, that a file may have been published under."""
    if _is_folder(file):
        path = file.removesuffix("index.html").removesuffix("/")
        return tuple(form.format(path=path).removeprefix("/") for form in FOLDER_FORMS)
    return (file, file.rpartition(".")[0])


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the site's files are published.

    Attributes:
        base: the site's URL, with a slash at its end.
        published: the site's URL as its canonical links state it most often.
        listed: the sitemap's URLs relative to the site's, by the file they stand for.
        spelling: the position, in `forms`, of the form that the site's links use for folders (True) and files (False).
    """

    base: str
    published: str
    listed: Mapping[str, str]
    spelling: Mapping[bool, int]

    def of(self, file: str, canonical: str) -> str:
        """A file's URL.

        Args:
            canonical: the page's canonical link, absolute; empty where it has none.
        """
        stated = relative(canonical, self.published) if canonical else None
        if stated is not None and stated in forms(file):
            return self.base + _quoted(stated)
        if file in self.listed:
            return self.base + _quoted(self.listed[file])
        return self.base + _quoted(forms(file)[self.spelling[_is_folder(file)]])

    def here(self, canonical: str) -> str:
        """A canonical link below the site's URL, which the owner may have stated otherwise than the pages."""
        path = relative(canonical, self.published) if canonical else None
        return canonical if path is None else self.base + _quoted(path)

    def folder_of(self, file: str) -> str:
        """The base of a page's relative links: its URL as a folder, with a slash."""
        folder = PurePosixPath(file).parent.as_posix()
        return self.base + ("" if folder == "." else quote(folder) + "/")


def find(folder: Path, files: Sequence[str], sample: Mapping[str, Document], url: str | None) -> Addresses:
    """Determine the site's URL and the spelling of its pages' URLs.

    Args:
        sample: some of the pages, by file.
        url: as the owner states it; takes precedence.

    Raises:
        SiteError: the owner, the pages and the sitemaps state no URL of the site.
    """
    locations = list(sitemap(folder))
    stated = _stated_base(sample) or _listed_base(locations, files)
    base = f"{url.rstrip('/')}/" if url else stated
    if not base:
        raise SiteError(
            f"Where is {folder} published? Its pages name no canonical URL and no sitemap lists them: "
            "give --site-url https://…"
        )
    if not base.startswith(("http://", "https://")):
        raise SiteError(f"--site-url must begin with http:// or https://, and {url} does not.")
    published = stated or base
    by_form = {form: file for file in files for form in reversed(forms(file))}
    listed = {
        by_form[path]: path for each in locations if (path := relative(each, published)) is not None and path in by_form
    }
    return Addresses(base, published, listed, _spelling(sample, files, urlsplit(published).path))


def sitemap(folder: Path) -> Iterator[str]:
    """Every URL in the sitemaps of a folder, including its language folders."""
    for file in sorted([*folder.glob("sitemap*.xml"), *folder.glob("*/sitemap*.xml")]):
        try:
            root = html.parse(file.read_bytes())
        except (OSError, ValueError):
            continue  # without it the pages' links decide
        written = (html.text(loc).strip() for loc in html.select(root, "url > loc"))
        yield from (url for url in written if url and _is_readable(url))


def canonical_of(document: Document, page_url: str) -> str:
    """A page's canonical link, absolute; empty where it has none."""
    link = document.first("link[rel=canonical]")
    written = html.attribute(link, "href").strip() if link is not None else ""
    return urljoin(links_base(document.root, page_url), written) if written and _is_readable(written) else ""


def links_base(root: Node, url: str) -> str:
    """The base of a page's relative links: its `<base href>`, else `url`."""
    base = html.first(root, "base[href]")
    written = html.attribute(base, "href").strip() if base is not None else ""
    return urljoin(url, written) if _is_readable(written) else url


def _is_readable(url: str) -> bool:
    """Whether a URL has parts. A placeholder that a template left, `https://[domain]/`, has none."""
    try:
        urlsplit(unquote(url))
    except ValueError:
        return False
    return True


def relative(url: str, base: str) -> str | None:
    """A URL's path below the site's; the scheme and host may differ. None for a URL elsewhere."""
    path, root = unquote(urlsplit(url).path), unquote(urlsplit(base).path)
    if f"{path}/" == root:
        return ""
    return path.removeprefix(root) if path.startswith(root) else None


def is_page(link: Node, url: str) -> bool:
    """Whether a link leads to another page of the site."""
    return _is_page(html.attribute(link, "href").strip(), urlsplit(url).netloc)


@lru_cache(maxsize=10_000)  # the pages of a site have the same links
def _is_page(target: str, host: str) -> bool:
    try:
        parts = urlsplit(target)
    except ValueError:
        return False
    return not target.startswith("#") and parts.netloc in ("", host) and parts.scheme in ("", "http", "https")


def page_of(link: Node, url: str) -> str:
    """The absolute URL of the page that a link on the page at `url` leads to; empty where it cannot be read."""
    try:
        return urljoin(url, html.attribute(link, "href")).partition("#")[0]
    except ValueError:
        return ""


def _stated_base(sample: Mapping[str, Document]) -> str:
    """The most frequent beginning of the canonical links, without each file's path."""
    votes: Counter[str] = Counter()
    for file, document in sample.items():
        canonical = unquote(canonical_of(document, ""))
        if canonical.startswith(("http://", "https://")):
            for form in sorted(forms(file), key=len, reverse=True):
                if canonical.endswith(f"/{form}") if form else True:
                    base = urlsplit(f"{canonical.removesuffix(form).rstrip('/')}/")
                    votes[f"{base.scheme}://{base.netloc}{_quoted(base.path)}"] += 1
                    break
    return votes.most_common(1)[0][0] if votes else ""


def _listed_base(locations: Sequence[str], files: Sequence[str]) -> str:
    """The URL under which most of the sitemap's entries are files of the folder."""
    if not locations:
        return ""
    known = {form for file in files for form in forms(file)}
    first = urlsplit(min(locations, key=len))
    parts = [part for part in first.path.split("/") if part]
    bases = [
        f"{first.scheme}://{first.netloc}/" + "".join(f"{part}/" for part in parts[:end])
        for end in range(len(parts) + 1)
    ]
    hits = {base: sum(relative(each, base) in known for each in locations) for base in bases}
    best = max(bases, key=lambda base: hits[base])
    return best if hits[best] else ""


def _spelling(sample: Mapping[str, Document], files: Sequence[str], root: str) -> dict[bool, int]:
    """For folders and files, the form that the pages' links use most."""
    by_form = {form: (file, number) for file in files for number, form in reversed(list(enumerate(forms(file))))}
    votes: Counter[tuple[bool, int]] = Counter()
    for file, page in sample.items():
        for path in _linked(page, file, root):
            if path in by_form:
                target, number = by_form[path]
                votes[_is_folder(target), number] += 1
    return {kind: max(range(3), key=lambda number: votes[kind, number]) for kind in (True, False)}


def _linked(page: Document, file: str, root: str) -> Iterable[str]:
    """The paths below the site's that a page links to."""
    base = links_base(page.root, f"http://site{root}{quote(file)}")
    for link in page.select("a[href]"):
        target = html.attribute(link, "href").partition("#")[0].partition("?")[0]
        if not target or "://" in target or target.startswith(("mailto:", "javascript:", "//")):
            continue
        try:
            path = relative(urljoin(base, target), f"http://site{root}")
        except ValueError:
            continue
        if path is not None:
            yield path


def _is_folder(file: str) -> bool:
    return file == "index.html" or file.endswith("/index.html")


def _quoted(path: str) -> str:
    return quote(path, safe="/~!$&'()*+,;=:@")
