"""Every text that a page shows is in a passage, or left out by a rule that the report names."""

import io
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from passage.indexing.left_out import TextCount
from passage.sites import html
from passage.sites.built.document import Document
from passage.sites.built.generators import GENERATORS
from passage.sites.built.noise import NOISE
from passage.sites.built.rules import RULES
from passage.sites.model import LOST, Account, Page, Skip
from passage.sites.source import SiteOptions, open_site
from sites.reading import CASES, written

PAGES = Path(__file__).parent / "pages"
SITES = sorted(folder for folder in PAGES.iterdir() if folder.is_dir())
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
UNSEEN = {"head", "script", "style", "template", "noscript", "svg", "select", "textarea", "iframe", "title"}


class Texts(HTMLParser):
    """The texts that a page shows, as Python's own parser reads it."""

    def __init__(self) -> None:
        super().__init__()
        self.unseen = ""
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if not self.unseen and tag in UNSEEN - VOID:
            self.unseen = tag

    def handle_endtag(self, tag: str) -> None:
        if tag == self.unseen:
            self.unseen = ""

    def handle_data(self, data: str) -> None:
        if not self.unseen and letters(data):
            self.found.append(letters(data))


def letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text)


def told(page: Page) -> Iterator[str]:
    yield page.title
    for section in page.sections:
        yield from section.headings
        yield section.markdown


@pytest.mark.parametrize(
    "text", ["a1_ -", "\u00e9\u00df_1", "\u0661\u00b2 \u4e2d\u00a0\u200b", "\U0001f600 x\u0301", ""]
)
def test_letters_are_counted_as_unicode_has_them(text: str) -> None:
    assert html.letters_of(text) == letters(text)
    assert html.letters(html.parse(f"<p>{text}".encode())) == len(letters(text))


@pytest.mark.parametrize("folder", [*SITES, CASES / "fence" / "docs"], ids=lambda folder: folder.name)
def test_kept_and_left_out_are_all_that_is_seen(folder: Path) -> None:
    for read in open_site(folder, SiteOptions("https://mill.example")).read():
        if not isinstance(read, Page):
            continue
        account = read.account
        assert account is not None
        assert account.lost == 0
        assert account.seen == account.kept + sum(account.left_out.values())
        known = letters("\n".join([*told(read), *(words for _, words in account.named)]))
        for file in (folder / f"{read.path}.html", folder / read.path / "index.html"):
            if file.is_file():
                texts = Texts()
                texts.feed(file.read_text("utf-8"))
                assert [text for text in texts.found if text not in known] == []


def test_the_report_names_what_is_left_out(tmp_path: Path) -> None:
    body = (
        "<nav><a href=/>Home</a></nav><main><h1>A</h1><p>Turn it.<button>Copy</button></p><p hidden>Never.</p>"
        "<table><tr><th>Call<th>Code<tr><td>Two<td><pre>a = b(1)\nwrite('&lt;br>')</pre></table></main>"
    )
    written(tmp_path, {"a.html": f"<body>{body}", "404.html": "<p>Gone.<p>Sorry.", "x.md": "Text."})
    count = TextCount(io.StringIO())
    for read in open_site(tmp_path, SiteOptions("https://mill.example")).read():
        count.add(read)
    assert count.file is not None
    count.file.seek(0)
    assert sorted(count.file.read().splitlines()) == [
        "404.html\terror page\t2 blocks",
        "a\thidden\tNever.",
        "a\tmark, label or tool\tCopy",
        "a\toutside of the main content\tHome",
        "x.md\tMarkdown beside the HTML\t",
    ]
    rules = "error page 2, outside of the main content 1, hidden 1"
    assert list(count.lines()) == [f"Text: 10 blocks seen, 6 kept, 4 left out ({rules})"]


@pytest.mark.parametrize(("lost", "warned"), [(0, False), (3, False), (4, True)])
def test_more_than_three_percent_of_lost_text_is_a_warning(lost: int, warned: bool) -> None:
    count = TextCount()
    count.add(Page("a", "", "A", (), account=Account(100 - lost, {}, lost, ((LOST, "Text."),))))
    count.add(Skip("b", "no text"))
    assert any("Warning" in line for line in count.lines()) == warned


@pytest.mark.parametrize("folder", SITES, ids=lambda folder: folder.name)
def test_selectors_together_match_as_each_alone(folder: Path) -> None:
    selectors = [*NOISE.values(), *(generator.noise for generator in GENERATORS), *(css for css, _ in RULES)]
    for file in folder.rglob("*.html"):
        page = Document(html.parse(file.read_bytes()))
        for css, found in page.select_each(page.root, filter(None, selectors)).items():
            alone = [*map(html.key, html.select(page.root, css))]
            assert [*map(html.key, found)] == [*map(html.key, page.select(css))] == alone
