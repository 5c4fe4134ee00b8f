"""Routes of a Docusaurus site, as its configuration and its files state them."""

from pathlib import Path

import pytest

from passage.sites.markdown.docusaurus import unnumbered
from passage.sites.model import SiteError
from sites.reading import read, written

CONFIG = """
import type {Config} from '@docusaurus/types';
const base = '/manual/';
const config: Config = {
  url: 'https://docs.example.com', // the host
  baseUrl: base,
  %s
  presets: [['classic', {docs: {%s}, blog: %s} satisfies Preset.Options]],
};
export default config;
"""


def site(folder: Path, files: dict[str, str], *, top: str = "", docs: str = "", blog: str = "{}") -> Path:
    return written(folder, {"docusaurus.config.ts": CONFIG % (top, docs, blog), **files})


def urls(folder: Path) -> dict[str, str]:
    start = "https://docs.example.com/manual"
    return {path: url.removeprefix(start) for path, url in read(folder).urls.items()}


@pytest.mark.parametrize(
    ("name", "bare"),
    [
        ("01-intro", "intro"),
        ("3-ros2", "ros2"),
        ("10. The end", "The end"),
        ("1_a", "a"),
        ("2024-05-01-news", "2024-05-01-news"),
        ("7.0-notes", "7.0-notes"),
        ("intro", "intro"),
        ("01", "01"),
        ("1-", "1-"),
    ],
)
def test_number_prefixes_are_taken_off(name: str, bare: str) -> None:
    assert unnumbered(name) == bare


@pytest.mark.parametrize(
    ("front_matter", "path"),
    [
        ("", "/docs/guides/setup"),
        ("slug: /start", "/docs/start"),
        ("slug: start", "/docs/guides/start"),
        ("slug: ../start", "/docs/start"),
        ("id: begin", "/docs/guides/begin"),
        ("id: begin\nslug: /", "/docs/"),
    ],
)
def test_slug_and_id_decide_the_route(tmp_path: Path, front_matter: str, path: str) -> None:
    site(tmp_path, {"docs/02-guides/01-setup.md": f"---\n{front_matter}\n---\nText."})
    assert urls(tmp_path) == {"docs/02-guides/01-setup": path}


@pytest.mark.parametrize(
    ("setting", "page", "index"),
    [
        ("", "/docs/a", "/docs/folder/"),
        ("trailingSlash: true,", "/docs/a/", "/docs/folder/"),
        ("trailingSlash: false,", "/docs/a", "/docs/folder"),
    ],
)
def test_trailing_slash(tmp_path: Path, setting: str, page: str, index: str) -> None:
    site(tmp_path, {"docs/a.md": "Text.", "docs/folder/index.md": "Other text."}, top=setting)
    assert set(urls(tmp_path).values()) == {page, index}


def test_route_base_path_and_folder_of_documents(tmp_path: Path) -> None:
    site(tmp_path, {"manual/a.md": "Text.", "docs/b.md": "Text."}, docs="path: 'manual', routeBasePath: '/'")
    assert urls(tmp_path) == {"manual/a": "/a"}


def test_second_documents_plugin(tmp_path: Path) -> None:
    plugin = "plugins: [['@docusaurus/plugin-content-docs', {id: 'api', path: 'api', routeBasePath: 'api'}]],"
    site(tmp_path, {"docs/a.md": "Text.", "api/b.md": "More text."}, top=plugin)
    assert urls(tmp_path) == {"docs/a": "/docs/a", "api/b": "/api/b"}


def test_blog_posts_by_date_and_blog_switched_off(tmp_path: Path) -> None:
    files = {"docs/a.md": "Text.", "blog/2031-04-02-first.md": "One.", "blog/2031/05/03/second.md": "Two."}
    site(tmp_path / "on", files)
    assert set(urls(tmp_path / "on").values()) == {"/docs/a", "/blog/2031/04/02/first", "/blog/2031/05/03/second"}
    site(tmp_path / "off", files, blog="false")
    assert set(urls(tmp_path / "off").values()) == {"/docs/a"}


def test_only_the_current_version_is_read(tmp_path: Path) -> None:
    files = {
        "docs/a.md": "Next.",
        "versions.json": '["2.0", "1.0"]',
        "versioned_docs/version-2.0/a.md": "Two.",
        "versioned_docs/version-1.0/a.md": "One.",
    }
    site(tmp_path, files)
    reading = read(tmp_path)
    assert urls(tmp_path) == {"versioned_docs/version-2.0/a": "/docs/a"}
    assert set(reading.reasons.values()) == {"other version"}
    site(tmp_path, files, docs="lastVersion: 'current'")
    assert urls(tmp_path) == {"docs/a": "/docs/a"}


def test_translations_have_their_language(tmp_path: Path) -> None:
    translated = "i18n/de/docusaurus-plugin-content-docs/current/a.md"
    site(
        tmp_path, {"docs/a.md": "Text.", translated: "Wort."}, top="i18n: {defaultLocale: 'en', locales: ['en', 'de']},"
    )
    found = {page.url: page.language for page in read(tmp_path).pages.values()}
    assert found == {
        "https://docs.example.com/manual/docs/a": "en",
        "https://docs.example.com/manual/de/docs/a": "de",
    }


def test_noindex_in_the_page_s_head_is_left_out(tmp_path: Path) -> None:
    site(tmp_path, {"docs/a.mdx": '<head>\n  <meta name="robots" content="noindex" />\n</head>\n\nText.'})
    assert read(tmp_path).reasons == {"docs/a": "noindex"}


def test_a_configuration_in_a_folder_below_is_found(tmp_path: Path) -> None:
    site(tmp_path / "packages" / "website", {"docs/a.md": "Text."})
    assert urls(tmp_path) == {"docs/a": "/docs/a"}


def test_computed_settings_are_listed(tmp_path: Path) -> None:
    site(tmp_path, {"docs/a.md": "Text."}, top="trailingSlash: Boolean(process.env.SLASH),")
    assert [each.what for each in read(tmp_path).unresolved] == ["setting trailingSlash that is computed"]


def test_without_a_url_the_error_names_the_file(tmp_path: Path) -> None:
    written(tmp_path, {"docusaurus.config.js": "module.exports = {title: 'x'}", "docs/a.md": "Text."})
    with pytest.raises(SiteError, match=r"set url and baseUrl in .*docusaurus\.config\.js"):
        read(tmp_path)


def test_partials_outside_the_site_are_not_read(tmp_path: Path) -> None:
    written(tmp_path, {"secret.md": "The key."})
    page = "import A from '../../secret.md';\nimport B from '@site/../secret.md';\n\nText.\n\n<A/>\n<B/>\n"
    site(tmp_path / "site", {"docs/a.mdx": page})
    assert read(tmp_path / "site").told("docs/a") == "Text."


def test_partials_that_import_each_other_end(tmp_path: Path) -> None:
    loop = "import Me from './_me.mdx';\n\nWord.\n\n<Me/>\n"
    site(tmp_path, {"docs/_me.mdx": loop, "docs/a.mdx": loop})
    assert "Word." in read(tmp_path).told("docs/a")
