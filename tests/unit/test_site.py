"""A site's pages and addresses, as its owner keeps them."""

from pathlib import Path

import pytest

from devkit.indexing.site import SiteError, find_site, read_pages


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def test_an_mkdocs_site_says_where_its_pages_lie_and_are_published(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "mkdocs.yml": "site_url: https://example.com/docs/\ndocs_dir: pages\nmarkdown_extensions:\n"
            "  - pymdownx.emoji:\n      emoji_index: !!python/name:material.extensions.emoji.twemoji\n",
            "pages/index.md": "# Home\n\nText.",
            "pages/guide/index.md": "Text.",
            "pages/guide/first steps.md": "---\ntitle: First\n---\nText.",
            "pages/_partial.md": "Not a page.",
            "notes.md": "Not a page either.",
        },
    )
    pages = list(read_pages(find_site(tmp_path, None)))
    assert [(page.path, page.url, page.title) for page in pages] == [
        ("guide/first steps", "https://example.com/docs/guide/first%20steps/", "First"),
        ("guide/index", "https://example.com/docs/guide/", None),
        ("index", "https://example.com/docs/", None),
    ]
    assert pages[0].markdown == "Text."


def test_any_folder_of_markdown_is_a_site_once_its_address_is_given(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "Text.", "b.mdx": "Text.", "c.txt": "No."})
    pages = list(read_pages(find_site(tmp_path, "https://example.com")))
    assert [page.url for page in pages] == ["https://example.com/a/", "https://example.com/b/"]


def test_a_byte_order_mark_is_not_part_of_the_page(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes("﻿---\ntitle: Marked\n---\n# A\n".encode())
    (page,) = read_pages(find_site(tmp_path, "https://example.com"))
    assert page.title == "Marked"


def test_without_an_address_the_error_says_how_to_give_one(tmp_path: Path) -> None:
    with pytest.raises(SiteError, match=r"--site-url .* site_url"):
        find_site(tmp_path, None)


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(SiteError, match="nowhere"):
        find_site(tmp_path / "nowhere", "https://example.com")
    (tmp_path / "bad.md").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SiteError, match=r"bad\.md"):
        list(read_pages(find_site(tmp_path, "https://example.com")))
    (tmp_path / "bad.md").write_text("---\ntitle: [\n---\n", encoding="utf-8")
    with pytest.raises(SiteError, match=r"bad\.md"):
        list(read_pages(find_site(tmp_path, "https://example.com")))
