"""A page is cut along its own structure, and the same content always gives the same ids."""

import re

import pytest

from conftest import TEXTBOOK
from devkit.indexing.chunks import MAX_CHARACTERS, Chunk, cut
from devkit.indexing.site import Page, find_site, read_pages

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


def chunks(markdown: str, *, title: str | None = None, path: str = "page") -> list[Chunk]:
    return list(cut([Page(path=path, url=f"https://example.com/{path}/", title=title, markdown=markdown)]))


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


def test_the_front_matter_s_title_comes_first_and_the_file_s_name_last() -> None:
    assert chunks(MARKDOWN, title="Given")[2].headings == ("Given", "The page", "First part")
    assert chunks("No heading at all.", path="folder/some-page")[0].title == "some-page"


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


def test_the_same_text_twice_on_a_page_gives_two_ids_and_elsewhere_others() -> None:
    twice = chunks("## A\n\nSame.\n\n## A\n\nSame.\n")
    elsewhere = chunks("## A\n\nSame.\n", path="other")
    assert len({chunk.id for chunk in [*twice, *elsewhere]}) == 3


def test_an_edit_changes_the_ids_of_what_it_edits_alone() -> None:
    before, after = chunks(MARKDOWN), chunks(MARKDOWN.replace("Deep text.", "Deeper text."))
    assert [a.id == b.id for a, b in zip(before, after, strict=True)] == [True, True, True, False, True]


@pytest.mark.parametrize("markdown", ["", "\n\n", "# Only a heading\n", "\r\n"])
def test_a_page_without_text_has_no_chunks(markdown: str) -> None:
    assert chunks(markdown) == []


def test_windows_line_endings_change_nothing_about_the_structure() -> None:
    windows = chunks(MARKDOWN.replace("\n", "\r\n"))
    assert [chunk.headings for chunk in windows] == [chunk.headings for chunk in chunks(MARKDOWN)]


def test_the_textbook_s_chunks_hold_every_word_of_it_in_order() -> None:
    """Nothing but headings is left out of the chunks, and nothing is there twice."""
    for page in read_pages(find_site(TEXTBOOK, None)):
        found = "".join(chunk.text for chunk in cut([page]))
        body = re.sub(r"(?m)^(```(?:.|\n)*?^```)|^#{1,6} .*$", lambda match: match.group(1) or "", page.markdown)
        assert "".join(found.split()) == "".join(body.split()), page.path


def test_every_chunk_of_the_textbook_fits_what_an_embedding_model_reads() -> None:
    for chunk in cut(read_pages(find_site(TEXTBOOK, None))):
        assert 0 < len(chunk.text) <= MAX_CHARACTERS
