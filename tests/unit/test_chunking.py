"""A page is cut along its own structure, and the same content always gives the same ids."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest

from conftest import TEXTBOOK
from handler.config import profiles
from passage.indexing.catalogue import Catalogue
from passage.indexing.chunks import MAX_CHARACTERS, Chunk, cut
from passage.indexing.cutting import cut_by
from passage.indexing.run import WITHOUT_VECTORS
from passage.sites.built.titles import title_of
from passage.sites.markdown import find_site
from passage.sites.markdown.commonmark import to_html
from passage.sites.markdown.page import page_sections
from passage.sites.model import Page, Section, SiteError
from passage.sites.workers import IN_THIS_PROCESS
from sites.facts import code_blocks

MARKDOWN = """Before any heading.

# The page

Intro with `code`.

## First *part*

Text of the first part.

```bash
# not a heading
echo done
```

### Deeper

Deep text.

Setext part
-----------

> # quoted, not a heading

Last.
"""


def chunks(markdown: str, *, title: str = "", path: str = "page") -> list[Chunk]:
    url = f"https://example.com/{path}/"
    parts, headings, _ = page_sections(to_html(markdown), url=url, links_from=url, file=f"{path}.md", urls={})
    return list(cut([Page(path, url, title_of(path, headings, stated=title), parts)]))


def texts(markdown: str) -> list[str]:
    """The passages of a page's only section, whose Markdown is taken as it is."""
    return [chunk.text for chunk in cut([Page("page", "https://example.com/", "Page", (Section((), markdown),))])]


def textbook() -> list[Page]:
    return [page for page in find_site(TEXTBOOK, None).read() if isinstance(page, Page)]


def test_each_section_is_a_chunk_under_the_path_of_its_headings() -> None:
    found = [(chunk.headings, chunk.text.split("\n")[0]) for chunk in chunks(MARKDOWN)]
    assert found == [
        (("The page",), "Before any heading."),
        (("The page",), "Intro with `code`."),
        (("The page", "First part"), "Text of the first part."),
        (("The page", "First part", "Deeper"), "Deep text."),
        (("The page", "Setext part"), "> # quoted, not a heading"),
    ]


def test_a_hash_inside_a_fence_is_no_heading() -> None:
    (fence,) = [chunk for chunk in chunks(MARKDOWN) if "echo done" in chunk.text]
    assert "# not a heading" in fence.text


def test_title_is_front_matter_first_and_file_name_last() -> None:
    assert chunks(MARKDOWN, title="Given")[2].headings == ("Given", "The page", "First part")
    assert chunks("No heading at all.", path="folder/some-page")[0].title == "Some page"


def test_indexes_count_the_page_s_chunks_from_zero() -> None:
    assert [chunk.index for chunk in chunks(MARKDOWN)] == [0, 1, 2, 3, 4]


def test_a_long_section_is_cut_between_its_paragraphs() -> None:
    paragraphs = [f"Paragraph {number} " + "word " * 60 for number in range(20)]
    found = chunks("# Long\n\n" + "\n\n".join(paragraphs))
    assert len(found) > 3
    assert all(len(chunk.text) <= MAX_CHARACTERS for chunk in found)
    assert all(chunk.text.startswith("Paragraph") for chunk in found)
    assert re.findall(r"Paragraph \d+", "".join(chunk.text for chunk in found)) == [
        text[:12].strip() for text in paragraphs
    ]


def test_repeated_text_gets_a_different_id_each_time() -> None:
    twice = chunks("## A\n\nSame.\n\n## A\n\nSame.\n")
    elsewhere = chunks("## A\n\nSame.\n", path="other")
    assert len({chunk.id for chunk in [*twice, *elsewhere]}) == 3


def test_two_chunks_with_one_id_are_refused() -> None:
    profile = profiles.load("query-response")
    page = Page("a", "https://docs.example/a", "A", (Section(("A",), "Same."),))
    ((_, rows),) = cut_by(IN_THIS_PROCESS, [page], profile, WITHOUT_VECTORS)
    with Catalogue(profile) as catalogue:
        catalogue.add(page, rows)
        with pytest.raises(SiteError, match=r"on \S+/a and \S+/a: change a word"):
            catalogue.add(replace(page, path="b"), rows)


def test_edit_changes_only_the_ids_of_edited_chunks() -> None:
    before, after = chunks(MARKDOWN), chunks(MARKDOWN.replace("Deep text.", "Deeper text."))
    assert [a.id == b.id for a, b in zip(before, after, strict=True)] == [True, True, True, False, True]


@pytest.mark.parametrize("markdown", ["", "\n\n", "# Only a heading\n", "\r\n", "[<-](https://docs.example)"])
def test_a_page_without_text_has_no_chunks(markdown: str) -> None:
    assert chunks(markdown) == []


@pytest.mark.parametrize("odd", ["\v", "\x1c", "\x85", "\u2028", "\u2029"])
def test_only_line_breaks_end_a_line(odd: str) -> None:
    """str.splitlines() knows more of them than Markdown does, and every one would shift what follows."""
    (first, second) = chunks(f"# A\n\nOne{odd}two{odd}three.\n\n## B\n\nText of B.\n")
    assert (first.text, first.headings) == (f"One{odd}two{odd}three.", ("A",))
    assert (second.text, second.headings) == ("Text of B.", ("A", "B"))


def test_every_kind_of_line_break_gives_the_same_chunks() -> None:
    expected = chunks(MARKDOWN)
    assert chunks(MARKDOWN.replace("\n", "\r\n")) == expected
    assert chunks(MARKDOWN.replace("\n", "\r")) == expected


def test_code_by_indentation_becomes_a_fence() -> None:
    (chunk,) = chunks("# A\n\n  \n    code\n    more\n \n")
    assert chunk.text == "```\ncode\nmore\n```"


@pytest.mark.parametrize(
    ("heading", "words"),
    [
        ("Over two\nlines\n===", "Over two lines"),
        ("## Install {#install}", "Install"),
        ("## Install { .wide #install }", "Install"),
        ('## <a id="x"></a>Install <br/>', "Install"),
        ("## Sets {a, b} &amp; [links](x) with `code` ##", "Sets {a, b} & links with code"),
        ("## ![Logo](x.png) Home", "Logo Home"),
    ],
)
def test_a_heading_is_its_words_alone(heading: str, words: str) -> None:
    (chunk,) = chunks(f"{heading}\n\nText.\n")
    assert chunk.headings[-1] == words


def test_heading_without_words_is_left_out_of_the_path() -> None:
    assert [chunk.headings for chunk in chunks("# A\n\n##\n\nText.\n")] == [("A",)]


@pytest.mark.parametrize("unit", ["x", "word ", "A sentence. ", "a line\n", "*a _b `c [d](", "# not\u00a0"])
def test_a_huge_paragraph_is_cut_with_every_character_kept(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    found = chunks(f"# Huge\n\nBegin {text}")
    assert all(len(chunk.text) <= MAX_CHARACTERS for chunk in found)
    assert "".join("".join(chunk.text for chunk in found).split()) == "".join(f"Begin {text}".split())


def test_titles_in_a_row_leave_room_for_their_text() -> None:
    for count in range(1, 80):
        titles = [f"**Part {number}**" for number in range(count)]
        text = " ".join(texts("\n\n".join([*titles, "Words. " * 200])))
        assert re.findall(r"Part (\d+)", text) == [str(number) for number in range(count)]
        assert text.count("Words.") == 200


@pytest.mark.parametrize("mark", ["!!!", "???", "???+"])
def test_an_admonition_with_its_text_on_one_line_is_kept(mark: str) -> None:
    """A page's paragraphs may be joined to one line each, so the text can follow the directive."""
    assert texts(f"{mark} note The text of the note.") == [f"{mark} note The text of the note."]


@pytest.mark.parametrize("line", ["!!! note", '??? tip "A title"', '=== "A tab"', "!!! note inline end"])
def test_a_directive_without_any_text_gives_no_passage(line: str) -> None:
    assert texts(line) == []


def test_a_chunk_knows_its_page() -> None:
    found = chunks(MARKDOWN, path="folder/page")
    assert {(chunk.path, chunk.total) for chunk in found} == {("folder/page", 5)}


def test_the_model_reads_no_line_breaks_between_code_in_a_cell() -> None:
    table = "| Run | Use |\n| --- | --- |\n| `a`<br>`b` | `<br>` |"
    (chunk,) = cut([Page("a", "https://example.com/a/", "A", (Section((), table),))])
    assert chunk.text == table
    assert chunk.embedded_text == "A\n| Run | Use |\n| --- | --- |\n| `a` `b` | `<br>` |"


def test_the_textbook_s_chunks_hold_every_word_of_it_in_order() -> None:
    """Chunks leave out only headings, and contain each text once."""
    for page in textbook():
        found = "".join(_without_fences(text) for text in _without_repeated_headers(cut([page])))
        source = (TEXTBOOK / "docs" / f"{page.path}.md").read_text(encoding="utf-8")
        body = re.sub(r"\A---\n(?:.|\n)*?\n---\n", "", source)
        body = re.sub(r"(?m)^(```(?:.|\n)*?^```)|^#{1,6} .*$", lambda match: match.group(1) or "", body)
        assert _letters(found) == _letters(_without_fences(body)), page.path


def _letters(markdown: str) -> list[str]:
    """Words without link targets, which become URLs, and without the markup of tables and emphasis."""
    return re.findall(r"\w+", re.sub(r"\]\([^)]*\)", "]", markdown))


def _without_repeated_headers(found: Iterable[Chunk]) -> Iterator[str]:
    """A table that is cut repeats its header."""
    before = ""
    for chunk in found:
        header = re.match(r"\|.*\|\n\|[ |:-]+\|\n", chunk.text)
        yield chunk.text[header.end() :] if header and header[0] in before else chunk.text
        before = chunk.text


def _without_fences(markdown: str) -> str:
    """A code block that is cut repeats its fence."""
    return re.sub(r"(?m)^ *```.*$", "", markdown)


def test_every_textbook_code_block_is_whole_in_one_passage() -> None:
    sections, found = [section.markdown for page in textbook() for section in page.sections], list(cut(textbook()))
    blocks = Counter(block for markdown in sections for block in code_blocks(markdown))
    assert blocks.total() == 153
    assert Counter(block for chunk in found for block in code_blocks(chunk.text)) == blocks
    assert all(len(re.sub(r"(?ms)^( *)```.*?^\1```$", "", chunk.text)) <= MAX_CHARACTERS for chunk in found)
