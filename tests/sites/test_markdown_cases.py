"""Small sources, each for a kind of mistake: what is published, where, and what is never answered."""

from pathlib import Path

import pytest

from sites.facts import code_blocks
from sites.reading import CASES, case, read, written

NAMES = sorted(folder.name for folder in CASES.iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_each_passage_has_words_beside_its_marks(name: str) -> None:
    reading = case(name)
    assert reading.pages
    for path in reading.pages:
        for chunk in reading.chunks(path):
            lines = [line.strip() for line in chunk.text.split("\n")]
            assert [line for line in lines if line and not line.startswith(("```", "~~~", ":::", "<!--", "---", "!["))]


def test_long_code_is_whole_in_its_language() -> None:
    ((language, source),) = [block for chunk in case("fence").chunks("bells") for block in code_blocks(chunk.text)]
    assert language == "python"
    assert source.count("def ring_") == 30


@pytest.mark.parametrize("path", ["four", "odd"])
def test_a_hash_in_any_kind_of_fence_is_no_heading(path: str) -> None:
    headings = {heading for outline in case("fences").outline(path) for heading in outline}
    assert not [heading for heading in headings if "fake" in heading or "heading" in heading]


def test_each_piece_of_a_long_table_has_its_header() -> None:
    chunks = case("table").chunks("prices")
    assert len(chunks) > 1
    assert all(chunk.text.startswith("| Number | Metal | Weight | Price |\n| --- |") for chunk in chunks)


@pytest.mark.parametrize(
    "hidden", ["margin", "mule", "BELL-12", "ringAll", "import", "#b5a642", "scoped", "BellPicker"]
)
def test_comments_scripts_and_styles_are_never_answered(hidden: str) -> None:
    reading = case("hidden")
    for path, page in reading.pages.items():
        assert hidden not in reading.told(path)
        assert hidden not in str(page)


def test_text_around_what_is_hidden_is_answered() -> None:
    reading = case("hidden")
    assert reading.outline("comments") == [("Bell prices",), ("Bell prices", "Delivery")]
    assert "40 crowns" in reading.told("comments")
    assert "Delivery takes a week." in reading.told("comments")
    assert reading.pages["script"].title == "Bell finder"


def test_files_beside_the_pages_are_named(tmp_path: Path) -> None:
    names = ("docs/a.md", "docs/b.html", "README.md", "blog/a.md", "_x/c.md")
    reading = read(written(tmp_path, dict.fromkeys(names, "# A\n\nText.")), "https://example.com")
    assert set(reading.pages) == {"a"}
    beside = dict.fromkeys(("README", "blog/a"), "beside the folder docs")
    assert reading.reasons == {**beside, "b": "HTML beside the Markdown"}


def test_mkdocs_publishes_what_mkdocs_builds() -> None:
    reading = case("mk1")
    assert reading.reasons == {
        "internal/salaries": "excluded by exclude_docs",
        "templates/form": "excluded by exclude_docs",
        "soon": "draft",
    }
    assert reading.urls["_hidden"] == "https://bells.example/docs/_hidden/"
    assert reading.urls["long"] == "https://bells.example/docs/long/"
    assert "CAPS" not in reading.pages


@pytest.mark.parametrize(
    ("path", "title", "outline"),
    [
        ("dots", "Cooling", [("Cooling",)]),
        ("multi", "Polishing", [("Polishing", "Polish")]),
        ("intro-before", "Intro before", [("Intro before",), ("Intro before", "Tools")]),
        ("second", "Second", [("Second", "First steps"), ("Second", "Next steps")]),
        ("nospace", "Casting bells", [("Casting bells", "Melting"), ("Casting bells", "Pouring")]),
        (
            "setext",
            "Bell ropes",
            [("Bell ropes",), ("Bell ropes", "Hemp"), ("Bell ropes", "Q&A"), ("Bell ropes", "ring() new")],
        ),
    ],
)
def test_mkdocs_titles_and_headings(path: str, title: str, outline: list[tuple[str, ...]]) -> None:
    reading = case("mk1")
    assert reading.pages[path].title == title
    assert reading.outline(path) == outline


def test_mkdocs_front_matter_is_never_answered() -> None:
    reading = case("mk1")
    assert reading.told("multi") == "Use a soft cloth."
    assert reading.told("dots") == "Let it cool for a day."


def test_mkdocs_anchors_are_the_sites_own() -> None:
    urls = [chunk.url for chunk in case("mk1").chunks("setext")]
    assert [url.partition("#")[2] for url in urls] == ["bell-ropes", "hemp", "qa", "ring"]


def test_code_in_a_note_is_code() -> None:
    reading = case("mk1")
    assert ("sh", "# a comment") in code_blocks(reading.told("adm"))
    assert reading.told("adm").startswith("**Hot metal**\n\nWear gloves.")


def test_readme_beside_index_is_left_out() -> None:
    reading = case("mk2")
    assert reading.told("index") == "Welcome."
    assert reading.reasons == {"README": "excluded by exclude_docs"}


def test_mkdocs_yaml_is_read() -> None:
    assert case("mk3").urls == {"index": "https://b.example/"}


def test_index_in_a_folder_wins_over_a_file_of_its_name() -> None:
    reading = case("mk4")
    assert reading.reasons["bells"] == "another file has its URL"
    assert "--8<--" not in str(reading.pages)
