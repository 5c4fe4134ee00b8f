"""Reads a site's pages and URLs from its Markdown sources."""

import os
import re
from pathlib import Path

import pytest

from passage.sites.markdown import find_site
from passage.sites.model import Flaw, Page, SiteError, Skip
from passage.sites.source import SiteOptions, open_site
from sites.reading import written as write


def pages_of(folder: Path, url: str | None = "https://example.com") -> list[Page]:
    return [page for page in find_site(folder, url).read() if isinstance(page, Page)]


def markdown_of(page: Page) -> str:
    return "".join(section.markdown for section in page.sections)


def test_mkdocs_config_gives_page_folder_and_site_url(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "mkdocs.yml": "site_url: https://example.com/docs/\ndocs_dir: pages\nmarkdown_extensions:\n"
            "  - pymdownx.emoji:\n      emoji_index: !!python/name:material.extensions.emoji.twemoji\n",
            "pages/index.md": "# Home\n\nText.",
            "pages/guide/index.md": "Text.",
            "pages/guide/first steps.md": "---\ntitle: First\n---\nText.",
            "pages/.draft.md": "Not a page.",
            "notes.md": "Not a page either.",
        },
    )
    pages = pages_of(tmp_path, None)
    assert {(page.path, page.url, page.title) for page in pages} == {
        ("guide/first steps", "https://example.com/docs/guide/first%20steps/", "First"),
        ("guide/index", "https://example.com/docs/guide/", "Guide"),
        ("index", "https://example.com/docs/", "Home"),
    }
    assert {markdown_of(page) for page in pages} == {"Text."}


def test_markdown_folder_with_a_site_url_is_a_site(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "Text.", "b.markdown": "Text.", "c.mdx": "No.", "d.txt": "No."})
    *pages, skip = sorted(find_site(tmp_path, "https://example.com").read(), key=lambda each: each.path)
    assert [page.url for page in pages if isinstance(page, Page)] == [
        "https://example.com/a/",
        "https://example.com/b/",
    ]
    assert isinstance(skip, Skip)
    assert (skip.path, skip.reason) == ("c", "MDX, which becomes text only in its site's build")


def test_an_alert_of_github_has_a_title(tmp_path: Path) -> None:
    text = "> [!NOTE]\n> Hot.\n\n> [!TIP]\n> Cold.\n\n`> [!NOTE]`\n\n```\n> [!NOTE]\n```\n"
    write(tmp_path, {"a.md": text})
    markdown = markdown_of(pages_of(tmp_path)[0])
    assert markdown.startswith("> **Note**\n>\n> Hot.\n\n> **Tip**\n>\n> Cold.")
    assert markdown.count("[!NOTE]") == 2


def test_a_byte_order_mark_is_not_part_of_the_page(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes("﻿---\ntitle: Marked\n---\n# A\n\nText.\n".encode())
    (page,) = pages_of(tmp_path)
    assert page.title == "Marked"


@pytest.mark.parametrize(
    ("text", "title", "markdown"),
    [
        ("---\ntitle: A\ndate: 2024-13-45\n---\nText.", "A", "Text."),
        ("---\ntitle: 1.10\n---\nText.", "1.10", "Text."),
        ("---\ntitle: >\n  Two\n  lines\n---\nText.", "Two lines", "Text."),
        ('---\ntitle: "\\ud800"\n---\nText.', "?", "Text."),
        ("---\ntitle: !!python/name:os.system\n---\nText.", "File name", "Text."),
        ("---\ntitle: [a]\n---\nText.", "File name", "Text."),
        ("---\ntitle:\n---\nText.", "File name", "Text."),
        ("---\n---\nText.", "File name", "Text."),
        ("---\r\ntitle: A\r\n---\r\nText.", "A", "Text."),
        ("---\ntitle: A\n...\nText.", "A", "Text."),
    ],
)
def test_front_matter_is_yaml_with_every_value_as_it_is_written(
    tmp_path: Path, text: str, title: str, markdown: str
) -> None:
    (tmp_path / "file-name.md").write_bytes(text.encode())
    (page,) = pages_of(tmp_path)
    assert (page.title, markdown_of(page)) == (title, markdown)


def test_front_matter_in_toml_is_read(tmp_path: Path) -> None:
    front = '+++\r\ntitle = "Flour: a guide"\nweight = 1.10\ndate = 2031-03-02\n[extra]\nlist = [1, true]\n+++\n'
    write(
        tmp_path, {"a.md": f"{front}\n# A\n\nText.", "b.md": "+++\ndraft = true\n+++\nNo.", "c.md": "+++\n=\n+++\nNo."}
    )
    found = {each.path: each for each in find_site(tmp_path, "https://example.com").read()}
    page, draft, broken = found["a"], found["b"], found["c"]
    assert isinstance(page, Page)
    assert (page.title, markdown_of(page)) == ("Flour: a guide", "Text.")
    assert isinstance(draft, Skip)
    assert draft.reason == "draft"
    assert isinstance(broken, Skip)
    assert broken.reason.startswith("has front matter that is not TOML")


@pytest.mark.parametrize(
    "text",
    [
        "---\nA sentence between two rules.\n---\nText.",
        "---\n- a\n- list\n---\nText.",
        "---\ntitle: never closed\n\nText.",
        '{"title": "JSON"}\n\nText.',
        '+++\ntitle = "never closed"\n\nText.',
        "    code at the very beginning\n",
    ],
)
def test_text_without_front_matter_is_kept_whole(tmp_path: Path, text: str) -> None:
    (tmp_path / "file-name.md").write_text(text, encoding="utf-8")
    (page,) = pages_of(tmp_path)
    shown = " ".join(" ".join([*section.headings, section.markdown]) for section in page.sections)
    assert page.title == "File name"
    assert re.findall(r"\w+", shown) == re.findall(r"\w+", text)


def test_drafts_and_unlisted_pages_are_left_out(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "draft.md": "---\ndraft: true\n---\nText.",
            "unlisted.md": "---\nunlisted: True\n---\nText.",
            "published.md": "---\ndraft: false\n---\nText.",
        },
    )
    assert [page.path for page in pages_of(tmp_path)] == ["published"]
    skipped = [found for found in find_site(tmp_path, "https://example.com").read() if isinstance(found, Skip)]
    assert [(skip.path, skip.reason, skip.failed) for skip in skipped] == [
        ("draft", "draft", False),
        ("unlisted", "unlisted", False),
    ]


def test_folders_and_broken_links_are_not_pages(tmp_path: Path) -> None:
    write(tmp_path, {"folder.md/a.md": "Text."})
    (tmp_path / "broken.md").symlink_to(tmp_path / "nowhere.md")
    (tmp_path / "loop.md").symlink_to(tmp_path / "loop.md")
    (tmp_path / "linked.md").symlink_to(tmp_path / "folder.md" / "a.md")
    assert [page.path for page in pages_of(tmp_path)] == ["folder.md/a", "linked"]


def test_a_file_s_name_may_be_any_bytes(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("Text.", encoding="utf-8")
    (page,) = pages_of(tmp_path)
    assert page.url == "https://example.com/caf%E9/"
    assert page.path.encode().startswith(b"caf")


@pytest.mark.parametrize("names", [("a.md", "a.markdown"), ("index.md", "README.md"), ("guide.md", "guide/index.md")])
def test_of_two_files_with_one_url_one_is_a_page(tmp_path: Path, names: tuple[str, str]) -> None:
    write(tmp_path, dict.fromkeys(names, "Text."))
    found = list(find_site(tmp_path, "https://example.com").read())
    assert len([page for page in found if isinstance(page, Page)]) == 1
    assert [each.reason for each in found if isinstance(each, Skip)] == ["another file has its URL"]


def test_index_is_the_page_beside_readme(tmp_path: Path) -> None:
    write(tmp_path, {"index.md": "The page.", "README.md": "For editors."})
    (page,) = pages_of(tmp_path)
    assert markdown_of(page) == "The page."


def test_bad_page_is_reported_and_others_are_read(tmp_path: Path) -> None:
    write(tmp_path, {"good.md": "Text.", "bad.md": "---\ntitle: [\n---\nText."})
    found = list(find_site(tmp_path, "https://example.com").read())
    assert [page.path for page in found if isinstance(page, Page)] == ["good"]
    (skip,) = [each for each in found if isinstance(each, Skip)]
    assert skip.failed
    assert (skip.path, skip.reason.startswith("has front matter that is not YAML")) == ("bad", True)


@pytest.mark.parametrize(
    ("content", "text", "flaws"),
    [
        (
            b"See `<meta charset=latin-1>`, caf\xe9.",
            "See `<meta charset=latin-1>`, caf\ufffd.",
            ["is not utf-8 at byte 33"],
        ),
        ("Caf\u00e9.".encode("utf-16"), "Caf\u00e9.", []),
    ],
)
def test_a_byte_that_is_not_utf_8_is_replaced(tmp_path: Path, content: bytes, text: str, flaws: list[str]) -> None:
    (tmp_path / "page.md").write_bytes(content)
    found = list(find_site(tmp_path, "https://example.com").read())
    assert [markdown_of(page) for page in found if isinstance(page, Page)] == [text]
    assert [each.what.partition(":")[0] for each in found if isinstance(each, Flaw)] == flaws


def test_a_page_without_text_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, {"empty.md": "---\ntitle: A\n---", "heading.md": "# Only a heading\n"})
    found = list(find_site(tmp_path, "https://example.com").read())
    assert {each.reason for each in found if isinstance(each, Skip)} == {"no text"}
    assert not [each for each in found if isinstance(each, Page)]


def test_links_between_sources_lead_to_pages(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "guide/a.md": "See [b](../b.md#part), [c](./c.md), [site](https://other.example/x.md) and [no](gone.md).",
            "b.md": "Text.",
            "guide/c.md": "Text.",
        },
    )
    page = next(page for page in pages_of(tmp_path) if page.path == "guide/a")
    assert markdown_of(page) == (
        "See [b](https://example.com/b/#part), [c](https://example.com/guide/c/), "
        "[site](https://other.example/x.md) and [no](https://example.com/guide/a/gone.md)."
    )


def test_an_mkdocs_site_without_directory_urls_has_a_file_a_page(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "mkdocs.yml": "site_url: https://example.com/\nuse_directory_urls: false\n",
            "docs/index.md": "Text.",
            "docs/guide.md": "Text.",
            "docs/guide/index.md": "Text.",
        },
    )
    pages = pages_of(tmp_path, None)
    assert {page.url.removeprefix("https://example.com/") for page in pages} == {
        "guide/index.html",
        "guide.html",
        "index.html",
    }


def test_without_an_address_the_error_says_how_to_give_one(tmp_path: Path) -> None:
    with pytest.raises(SiteError, match=r"--site-url .* site_url"):
        find_site(tmp_path, None)


@pytest.mark.parametrize("address", ["example.com", "ftp://example.com", ""])
def test_invalid_url_is_refused(tmp_path: Path, address: str) -> None:
    with pytest.raises(SiteError, match="--site-url"):
        find_site(tmp_path, address)


def test_a_folder_or_configuration_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(SiteError, match="nowhere"):
        find_site(tmp_path / "nowhere", "https://example.com")
    (tmp_path / "mkdocs.yml").write_text("site_url: [\n", encoding="utf-8")
    with pytest.raises(SiteError, match=r"mkdocs\.yml"):
        find_site(tmp_path, None)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (("docusaurus.config.ts",), "Docusaurus builds: build it there (npm run build), then index {folder}/build."),
        (("website/docusaurus.config.js",), "{folder}/website holds the sources"),
        (("docs/.vitepress/config.mts",), "then index {folder}/docs/.vitepress/dist."),
        (("astro.config.mjs",), "Astro (Starlight) builds"),
        (("next.config.mjs", "mdx-components.tsx"), "then index {folder}/out."),
        (("conf.py",), "Sphinx builds"),
        (("conf.py", "posts/a.md"), "Nikola builds"),
        (("_config.yml", "_toc.yml"), "Jupyter Book builds"),
        (("_config.yml", "index.html"), "Jekyll builds"),
        (("config.toml", "archetypes/default.md"), "Hugo builds"),
    ],
)
def test_sources_of_another_generator_must_be_built(tmp_path: Path, files: tuple[str, ...], said: str) -> None:
    write(tmp_path, {"page.md": "# A\n\nText.", **dict.fromkeys(files, "")})
    with pytest.raises(SiteError, match=re.escape(said.format(folder=tmp_path))):
        open_site(tmp_path, SiteOptions("https://example.com"))


@pytest.mark.parametrize(
    "files", [("package.json",), ("next.config.js",), ("config.toml",), ("apps/web/next.config.js",)]
)
def test_markdown_beside_a_program_is_plain(tmp_path: Path, files: tuple[str, ...]) -> None:
    write(tmp_path, {"page.md": "Text.", **dict.fromkeys(files, "")})
    assert [each.path for each in open_site(tmp_path, SiteOptions("https://example.com")).read()] == ["page"]
