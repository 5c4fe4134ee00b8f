"""Determines the kind of SOURCE and gives its reader."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from passage.sites import unbuilt
from passage.sites.built.site import MARKDOWN, SUFFIXES, BuiltSite, files_in
from passage.sites.corpus import Corpus, corpus_file
from passage.sites.markdown import find_site
from passage.sites.markdown.convention import CONFIGURATIONS
from passage.sites.model import Flaw, Note, Page, Site, SiteError, Skip
from passage.sites.web.limits import FetchLimits
from passage.sites.workers import IN_THIS_PROCESS, Workers

_HTML_TO_MARKDOWN = 10
"""With this many times the bytes of the Markdown beside it, fewer files of HTML are the site, too."""


@dataclass(frozen=True, slots=True)
class SiteOptions:
    """The owner's options for a source.

    Attributes:
        url: of the published site.
        selector: a CSS selector of the main content (built sites).
        language: only pages in this language (built sites).
        version: only pages of this version (built sites).
        language_of_site: of the pages that state none.
        strict: a page that cannot be read fails the run.
    """

    url: str | None = None
    selector: str | None = None
    language: str | None = None
    version: str | None = None
    strict: bool = False
    language_of_site: str | None = None


def open_source(
    source: str, options: SiteOptions, cache: Path, limits: FetchLimits, workers: Workers = IN_THIS_PROCESS
) -> Site:
    """The reader for a folder, or for the URL of a site or sitemap.

    Args:
        cache: the folder for fetched pages (URLs).
        limits: of fetching (URLs).
        workers: read the pages of a built site.

    Raises:
        SiteError: it is neither, or an option does not fit it.
    """
    if not source.startswith(("http://", "https://")):
        return open_site(Path(source), options, workers)
    from passage.sites.web.fetch import origin  # noqa: PLC0415 - loads an HTTP client
    from passage.sites.web.site import WebSite  # noqa: PLC0415 - as above

    if not origin(source)[1]:
        raise SiteError(f"{source} is not a URL.")
    if options.url is not None:
        raise SiteError("--site-url is for folders: a site that is read over HTTP is published where it is read.")
    site = WebSite(source, cache, limits, options.selector, options.language, options.version, workers)
    return _WithOptions(site, options)


def open_site(folder: Path, options: SiteOptions, workers: Workers = IN_THIS_PROCESS) -> Site:
    """The reader for a folder: of a built site, of Markdown sources or of a corpus. A corpus may be a file.

    Raises:
        SiteError: the folder is none of these, or an option does not fit it.
    """
    corpus = corpus_file(folder)
    if corpus is None and not folder.is_dir():
        wrong = "is not a folder, nor the file of a corpus (*.jsonl)" if folder.exists() else "does not exist"
        raise SiteError(f"{folder} {wrong}.")
    if corpus is not None:
        site = _corpus(corpus, options)
    else:
        site = _built(folder, options, workers) if is_built(folder) else _markdown(folder, options)
    return _WithOptions(site, options)


def is_built(folder: Path) -> bool:
    """Whether a folder is a generator's output rather than its sources: it has a home page, or more HTML."""
    if any((folder / name).exists() for name in CONFIGURATIONS) or unbuilt.generator_of(folder):
        return False
    home = folder / "index.html"
    if home.is_file():
        with home.open("rb") as file:
            return not file.read(4).startswith(b"---")  # Jekyll's sources have pages in HTML, with front matter
    pages, sources = ([(folder / file).stat().st_size for file in files_in(folder, of)] for of in (SUFFIXES, MARKDOWN))
    return len(pages) > len(sources) or sum(pages) > sum(sources) * _HTML_TO_MARKDOWN


def _built(folder: Path, options: SiteOptions, workers: Workers) -> Site:
    outputs = {PurePosixPath(generator.output).name for generator in unbuilt.GENERATORS}
    for inside in filter(_is_root, (folder / output for output in outputs)):
        if {page.partition("/")[0] for page in files_in(folder, SUFFIXES)} == {inside.name}:
            raise SiteError(f"{folder} is one level too high: {inside} is the built site. Index that.")
    return BuiltSite(folder, options.url, options.selector, options.language, options.version, workers)


def _is_root(folder: Path) -> bool:
    """Whether a generator wrote its site to this folder."""
    return any((folder / name).exists() for name in ("index.html", "404.html", "sitemap.xml", "objects.inv"))


def _markdown(folder: Path, options: SiteOptions) -> Site:
    has_markdown = next(files_in(folder, MARKDOWN), None) is not None
    if not has_markdown and not any(map(unbuilt.generator_of, unbuilt.places(folder))):
        raise SiteError(f"{folder} holds neither HTML nor Markdown.")
    _refuse_options_of_built_sites(options, f"{folder} holds Markdown sources")
    return find_site(folder, options.url)


def _corpus(file: Path, options: SiteOptions) -> Site:
    _refuse_options_of_built_sites(options, f"{file} is a corpus")
    if options.url is not None:
        raise SiteError(f"--site-url is for sites, and {file} is a corpus: its documents' ids make their URLs.")
    return Corpus(file)


def _refuse_options_of_built_sites(options: SiteOptions, what: str) -> None:
    given = {"--content-selector": options.selector, "--language": options.language, "--version": options.version}
    for name, value in given.items():
        if value is not None:
            raise SiteError(f"{name} is for built sites, and {what}.")


@dataclass(frozen=True, slots=True)
class _WithOptions:
    """A site with the options that apply to each page of any source."""

    site: Site
    options: SiteOptions

    @property
    def nothing_found(self) -> str:
        return self.site.nothing_found

    def read(self) -> Iterator[Page | Note]:
        language = self.options.language_of_site
        for read in self.site.read():
            if self.options.strict and isinstance(read, Skip) and read.failed:
                raise SiteError(f"{read.path} {read.reason}. Without --strict it is left out.")
            if self.options.strict and isinstance(read, Flaw):
                raise SiteError(f"{read.path} {read.what}. Without --strict it is read.")
            if language and isinstance(read, Page) and not read.language:
                yield replace(read, language=language)
            else:
                yield read
