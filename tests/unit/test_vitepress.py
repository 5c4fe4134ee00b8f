"""Routes, includes and dialect of a VitePress site."""

from pathlib import Path

import pytest

from passage.sites.model import SiteError
from sites.facts import code_blocks
from sites.reading import Reading, read, written

CONFIG = "import { defineConfig } from 'vitepress'\nexport default defineConfig({ %s sitemap: { hostname: %r } })"
START = "https://docs.example.com/manual/"


def site(folder: Path, files: dict[str, str], setting: str = "") -> Reading:
    config = {"docs/.vitepress/config.mts": CONFIG % (setting, START)}
    return read(written(folder, {**config, **{f"docs/{name}": text for name, text in files.items()}}))


def urls(reading: Reading) -> dict[str, str]:
    return {path: url.removeprefix(START) for path, url in reading.urls.items()}


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("", {"index": "", "guide/index": "guide/", "guide/a": "guide/a.html"}),
        ("cleanUrls: true,", {"index": "", "guide/index": "guide/", "guide/a": "guide/a"}),
        ("base: '/manual/',", {"index": "", "guide/index": "guide/", "guide/a": "guide/a.html"}),
    ],
)
def test_urls(tmp_path: Path, setting: str, expected: dict[str, str]) -> None:
    reading = site(tmp_path, {"index.md": "Home.", "guide/index.md": "Guide.", "guide/a.md": "Text."}, setting)
    assert urls(reading) == expected


@pytest.mark.parametrize(
    ("rule", "source", "path"),
    [
        ("'en/:rest*': ':rest*'", "en/guide/a", "guide/a.html"),
        ("'packages/:pkg/docs/:page': ':pkg/:page'", "packages/core/docs/a.md", "core/a.html"),
        ("'old.md': 'new.md'", "old", "new.html"),
        ("'other/:rest*': ':rest*'", "guide/a", "guide/a.html"),
    ],
)
def test_rewrites(tmp_path: Path, rule: str, source: str, path: str) -> None:
    reading = site(tmp_path, {f"{source.removesuffix('.md')}.md": "Text."}, f"rewrites: {{ {rule} }},")
    assert list(urls(reading).values()) == [path]


def test_computed_rewrites_are_listed(tmp_path: Path) -> None:
    reading = site(tmp_path, {"a.md": "Text."}, "rewrites: (id) => id.toLowerCase(),")
    assert [each.what for each in reading.unresolved] == ["setting rewrites that is computed"]


def test_excluded_sources_and_locales(tmp_path: Path) -> None:
    reading = site(
        tmp_path,
        {"a.md": "Text.", "parts/b.md": "Part.", "de/a.md": "Wort."},
        "srcExclude: ['parts/**'], lang: 'en', locales: { root: { lang: 'en-US' }, de: { lang: 'de' } },",
    )
    assert {page.path: page.language for page in reading.pages.values()} == {"a": "en-US", "de/a": "de"}
    assert reading.reasons == {"parts/b": "excluded by srcExclude"}


@pytest.mark.parametrize(
    ("front_matter", "reason"),
    [
        ("search: false", "left out of the site's search"),
        ("head:\n  - - meta\n    - name: robots\n      content: noindex", "noindex"),
        ("draft: true", "draft"),
    ],
)
def test_front_matter_that_hides_a_page_leaves_it_out(tmp_path: Path, front_matter: str, reason: str) -> None:
    reading = site(tmp_path, {"a.md": f"---\n{front_matter}\n---\nText.", "b.md": "Text."})
    assert reading.reasons == {"a": reason}


@pytest.mark.parametrize(
    ("written_as", "lines"),
    [
        ("<<< ./code.py", "import os\n# #region one\nprint(1)\n# #endregion one\nprint(2)"),
        ("<<< @/code.py#one{1 python:line-numbers} [Print it]", "print(1)"),
    ],
)
def test_code_is_included(tmp_path: Path, written_as: str, lines: str) -> None:
    code = "import os\n# #region one\nprint(1)\n# #endregion one\nprint(2)\n"
    reading = site(tmp_path, {"a.md": f"Look:\n\n{written_as}\n", "code.py": code})
    ((language, source),) = code_blocks(reading.told("a"))
    assert language in ("py", "python")
    assert source == lines


def test_lines_of_a_part_are_included(tmp_path: Path) -> None:
    reading = site(tmp_path, {"a.md": "<!--@include: ./part.txt{2,3}-->", "part.txt": "one\ntwo\nthree\nfour\n"})
    assert reading.told("a") == "two three"


@pytest.mark.parametrize("mark", ["<!--@include: ../../secret.md-->", "<<< ../../secret.md", "<<< @/../../secret.md"])
def test_files_outside_the_site_are_not_included(tmp_path: Path, mark: str) -> None:
    written(tmp_path, {"secret.md": "The key."})
    reading = site(tmp_path / "site", {"a.md": f"Text.\n\n{mark}\n"})
    assert reading.told("a") == "Text."
    assert [each.what for each in reading.unresolved] == ["include of a file that is not in the folder"]


def test_directives_in_code_stay_as_they_are(tmp_path: Path) -> None:
    example = "```md\n<!--@include: ./x.md-->\n<<< ./x.js\n{{ value }}\n```"
    reading = site(tmp_path, {"a.md": f"Write:\n\n{example}\n\nand `{{{{ value }}}}`.\n"})
    assert example.split("\n")[1:4] == code_blocks(reading.told("a"))[0][1].split("\n")
    assert "`{{ value }}`" in reading.told("a")


def test_text_that_vue_does_not_read_is_kept(tmp_path: Path) -> None:
    text = "One <span v-pre>{{ two }}</span> {{ gone }}\n\n::: v-pre\n{{ three }}\n:::\n\nFour {{ gone }}.\n"
    reading = site(tmp_path, {"a.md": text})
    assert reading.told("a") == "One {{ two }}\n\n{{ three }}\n\nFour ."
    assert [each.what for each in reading.unresolved] == ["expression in Vue"] * 2


def test_alerts_and_containers_keep_their_titles(tmp_path: Path) -> None:
    reading = site(tmp_path, {"a.md": "> [!WARNING]\n> Hot.\n\n::: tip Cold hands {open}\nWear gloves.\n:::\n"})
    told = reading.told("a")
    assert "**Warning**" in told
    assert "**Cold hands**\n\nWear gloves." in told


def test_without_a_url_the_error_names_the_setting(tmp_path: Path) -> None:
    written(tmp_path, {".vitepress/config.js": "export default {}", "a.md": "Text."})
    with pytest.raises(SiteError, match=r"sitemap\.hostname"):
        read(tmp_path)
