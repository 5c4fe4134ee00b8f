"""The output of `passage index` for Markdown sources and for a site at a URL."""

from pathlib import Path

import pytest

from command.passage_command import Passage
from sites.reading import written
from sites.web_server import running


def planned(passage: Passage, tmp_path: Path, source: str, *arguments: str) -> tuple[int, str]:
    """Exit code and messages of a dry run."""
    places = ("--out", str(tmp_path / "index"), "--cache", str(tmp_path / "cache"))
    done = passage("index", source, "--dry-run", *places, *arguments)
    return done.returncode, done.stderr


def test_a_site_at_a_url_is_planned(passage: Passage, tmp_path: Path) -> None:
    with running() as server:
        server.page("/", "home")
        server.page("/guide/", "guide")
        server.sitemap("/", "/guide/", "/missing/")
        code, said = planned(passage, tmp_path, f"{server.url}/", "--rate", "100")
    assert code == 0, said
    assert "2 pages (2 added)" in said
    assert "Warning: missing/ answers 404" in said
    assert "1 of 3 pages could not be read." in said


def test_parts_that_only_a_build_resolves_are_listed(passage: Passage, tmp_path: Path) -> None:
    config = "site_url: https://example.com/\nplugins: [macros]\nmarkdown_extensions: [mkautodoc]\n"
    source = written(tmp_path / "site", {"mkdocs.yml": config, "docs/index.md": "Text."})
    code, said = planned(passage, tmp_path, str(source))
    assert code == 0, said
    assert "Not resolved: 1 plugin macros, 1 extension mkautodoc" in said
    assert "Build the site and index its output folder" in said


@pytest.mark.parametrize("arguments", [(), ("--strict",)])
def test_a_bad_page_is_a_warning_and_with_strict_an_error(
    passage: Passage, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    source = written(tmp_path / "site", {"good.md": "Text.", "bad.md": "---\ntitle: [\n---\nText."})
    code, said = planned(passage, tmp_path, str(source), "--site-url", "https://example.com", *arguments)
    assert code == (1 if arguments else 0), said
    assert "bad has front matter that is not YAML" in said


def test_site_url_with_a_url_is_refused(passage: Passage, tmp_path: Path) -> None:
    code, said = planned(passage, tmp_path, "https://docs.example.com/", "--site-url", "https://example.com")
    assert code == 1
    assert "--site-url is for folders" in said
