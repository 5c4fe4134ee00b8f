"""MkDocs' sources: what its configuration says about titles, blocks, includes and anchors."""

from pathlib import Path

from sites.facts import code_blocks
from sites.reading import read, written

MKDOCS = "site_url: https://e.org/\nnav:\n  - Start: index.md\n  - Part:\n      - The Way In: guide/entry.md\n"


def test_nav_names_a_page_without_a_title(tmp_path: Path) -> None:
    written(
        tmp_path, {"mkdocs.yml": MKDOCS, "docs/index.md": "Text.", "docs/guide/entry.md": "Text.", "docs/x.md": "Text."}
    )
    titles = {path: page.title for path, page in read(tmp_path).pages.items()}
    assert titles == {"index": "Start", "guide/entry": "The Way In", "x": "X"}


def mkdocs(folder: Path, extensions: str, text: str) -> str:
    """The content of a MkDocs page."""
    config = f"site_url: https://e.org/\nmarkdown_extensions:\n{extensions}"
    return read(written(folder, {"mkdocs.yml": config, "docs/index.md": text, "part.md": "The part."})).told("index")


def test_mkdocs_blocks_are_read_as_material_shows_them(tmp_path: Path) -> None:
    text = (
        '# A\n\n??? note "Why"\n    Because.\n\n=== "pip"\n\n    ```sh\n    pip install x\n    ```\n\n=== "uv"\n\n'
        '    Text.\n\n```python title="a.py" linenums="1"\nx = 1\n```\n\n'
        "An emoji :smile: and an icon :material-check:{ .big }.\n"
    )
    extensions = (
        "  - pymdownx.details\n  - pymdownx.superfences\n  - pymdownx.tabbed:\n      alternate_style: true\n"
        "  - pymdownx.emoji:\n      emoji_index: !!python/name:material.extensions.emoji.twemoji\n"
        "  - pymdownx.highlight:\n      linenums: true\n  - attr_list\n"
    )
    told = mkdocs(tmp_path, extensions, text)
    for shown in ("**Why**\n\nBecause.", "**pip**", "**uv**\n\nText.", "**a.py**", "\U0001f604"):
        assert shown in told
    assert code_blocks(told) == [("sh", "pip install x"), ("python", "x = 1")]
    assert "material" not in told


def test_mkdocs_includes_stay_inside_the_folder(tmp_path: Path) -> None:
    written(tmp_path, {"secret.md": "The key."})
    text = '--8<-- "part.md"\n\n--8<-- "../secret.md"\n\nEnd.\n'
    extensions = "  - pymdownx.snippets:\n      base_path: ['.', '..']\n      restrict_base_path: false\n"
    assert mkdocs(tmp_path / "site", extensions, text) == "The part.\n\nEnd."


def test_mkdocs_anchors_follow_the_configured_slugs(tmp_path: Path) -> None:
    slugs = (
        "  - toc:\n      slugify: !!python/object/apply:pymdownx.slugs.slugify\n        kwds:\n          case: none\n"
    )
    config = f"site_url: https://e.org/\nmarkdown_extensions:\n{slugs}"
    written(tmp_path, {"mkdocs.yml": config, "docs/index.md": "# A b\n\nText.\n"})
    assert [chunk.url for chunk in read(tmp_path).chunks("index")] == ["https://e.org/#A-b"]


def test_mkdocs_settings_that_need_a_build_are_listed(tmp_path: Path) -> None:
    config = (
        "site_url: https://e.org/\nplugins: [search, macros, material/blog]\n"
        "markdown_extensions: [mkautodoc, admonition]\n"
    )
    text = "# A\n\nText.\n\n::: package.module\n    options:\n      x: 1\n"
    reading = read(written(tmp_path, {"mkdocs.yml": config, "docs/index.md": text}))
    assert {each.what for each in reading.unresolved} == {
        "plugin macros",
        "plugin material/blog",
        "extension mkautodoc",
        "text from docstrings",
    }
    assert reading.told("index") == "Text."


def test_an_inherited_mkdocs_configuration_is_read(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "base.yml": "site_url: !ENV [SITE, https://e.org/]\nuse_directory_urls: true\n",
            "mkdocs.yml": "INHERIT: base.yml\nuse_directory_urls: false\n",
            "docs/a.md": "Text.",
        },
    )
    assert read(tmp_path).urls == {"a": "https://e.org/a.html"}
