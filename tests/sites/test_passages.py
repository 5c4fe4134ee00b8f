"""Whatever a section holds: passages fit the model, lose no text, and stand for themselves."""

import re
from collections import Counter
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from conftest import TEXTBOOK
from passage.indexing.blocks import blocks
from passage.indexing.chunks import MAX_CHARACTERS, Chunk, cut
from passage.indexing.oversize import CODE_CHARACTERS, CONTINUED, CONTINUES
from passage.indexing.tokens import PASSAGE_TOKENS, bound, quick_bound
from passage.sites.model import Page, Section
from sites.facts import code_blocks
from unit.strategies import at_most

SMALL_MODEL = "embed-english-v3.0"
"""Reads 512 tokens of a text and cuts the rest silently."""

ASCII_WORDS = ("buoy", "harbour", "lanternfish", "pip", "--port=7411", "uplink.every", "`30s`", "(see)", "x=1;")
OTHER_WORDS = ("où", "Überlauf", "Большой", "浮标通过调制解调器", "データベース", "데이터베이스", "ملف", "डेटाबेस", "🚀")
WORDS = st.sampled_from((*ASCII_WORDS, "[link](https://docs.example.com/a#b)", *OTHER_WORDS))
SENTENCES = st.lists(WORDS, min_size=1, max_size=60).map(lambda words: " ".join(words) + ".")
CODE = st.builds(
    lambda language, lines: "\n".join([f"```{language}", *lines, "```"]),
    st.sampled_from(["", "python", "yaml"]),
    st.lists(st.lists(WORDS, max_size=12).map(lambda words: "    " * (len(words) % 3) + " ".join(words)), max_size=60),
)
TABLES = (
    st.integers(1, 40)
    .flatmap(lambda rows: st.lists(st.lists(WORDS, min_size=3, max_size=3), min_size=rows, max_size=rows))
    .map(lambda rows: "\n".join(["| a | b | c |", "| --- | --- | --- |", *(f"| {' | '.join(row)} |" for row in rows)]))
)
LISTS = st.lists(SENTENCES, min_size=1, max_size=12).map(lambda items: "\n".join(f"- {item}" for item in items))
QUOTES = SENTENCES.map(lambda text: f"> {text}")
CUT_TABLE = st.just("> | a | b |\n> | --- | --- |\n> | 1 | 2 |\n> without cells")
KINDS = {
    "code": CODE,
    "list": LISTS,
    "quote": QUOTES | CUT_TABLE,
    "table": TABLES,
    "text": SENTENCES | st.just("    a = 1"),
}
SECTIONS = st.lists(SENTENCES | CODE | TABLES | LISTS | QUOTES, min_size=1, max_size=8).map("\n\n".join)


FENCED = re.compile(r"^(?P<indent>[ >]*)(?P<marks>```+|~~~+)[^\n]*\n(?:.*\n)*?(?P=indent)(?P=marks) *$", re.MULTILINE)
TITLES = (
    "",
    "**app.py**\n",
    "**app.py**\n\n",
    "Save it as `app.py`:\n\n",
    "Two lines\n**app.py**\n",
    "### A\n\n**app.py**\n\n",
)
LONG_CODE = st.lists(SENTENCES | st.just(""), max_size=90).map(lambda lines: "\n".join(["```py", *lines, "```"]))


def within(mark: str, text: str) -> str:
    """A text as an item of a list or in a quotation."""
    indent = "> " if mark == "> " else " " * len(mark)
    return mark + text.replace("\n", f"\n{indent}")


TITLED_CODE = st.builds(
    lambda mark, title, code: within(mark, title + code),
    st.sampled_from(["", "- ", "10. ", "> "]),
    st.sampled_from(TITLES),
    CODE | LONG_CODE,
)
FILES = st.lists(SENTENCES | TITLED_CODE, min_size=1, max_size=5).map("\n\n".join)


def passages(markdown: str, *, title: str = "Page", model: str = SMALL_MODEL) -> list[Chunk]:
    page = Page("page", "https://example.com/page/", title, (Section(("Part",), markdown, "part"),))
    return list(cut([page], model))


@cache
def tokenizer() -> Tokenizer:
    """A real one, of 32,000 tokens: most scripts other than Latin cost it a token a byte."""
    spec = find_spec("wordllama")
    assert spec
    assert spec.origin
    return Tokenizer.from_file(str(Path(spec.origin).parent / "tokenizers" / "l2_supercat_tokenizer_config.json"))


def real_tokens(text: str) -> int:
    return len(tokenizer().encode(text, add_special_tokens=True).ids)


@settings(deadline=None, max_examples=at_most(25))
@given(SECTIONS)
def test_no_passage_has_more_tokens_than_its_model_reads(markdown: str) -> None:
    for chunk in passages(markdown):
        assert bound(chunk.embedded_text) <= 512
        assert real_tokens(chunk.embedded_text) <= 512
        assert len(FENCED.sub("", chunk.text)) <= MAX_CHARACTERS + 200  # a repeated header


@settings(deadline=None, max_examples=at_most(25))
@given(SECTIONS)
def test_passages_hold_every_word_of_the_section_in_order(markdown: str) -> None:
    def words_of(text: str) -> list[str]:
        text = re.sub(r"(?m)^\s*```\w*$|^\| a \| b \| c \|$|^\| --- .*$|^> ?", "", text)
        return list("".join(re.sub(r"(?m)^(- |[abc]: )", "", text).replace("|", " ").split()))

    together = "\n".join(chunk.text for chunk in passages(markdown))
    assert words_of(together) == words_of(markdown)


@settings(deadline=None, max_examples=at_most(25))
@given(SECTIONS)
def test_no_passage_is_only_a_fence_or_a_table_rule(markdown: str) -> None:
    for chunk in passages(markdown):
        lines = [line for line in chunk.text.split("\n") if line.strip()]
        assert [line for line in lines if not re.fullmatch(r"```\w*|[|\s:-]+", line.strip())]
        assert chunk.text.count("```") % 2 == 0


CODE_IN_ITEMS = "\n\n".join(["{}```" + "\n            buoy buoy buoy" * 12 + "\n    ```"] * 2)


@settings(deadline=None, max_examples=at_most(50))
@given(FILES)
@example(CODE_IN_ITEMS.format("10. ", "11. "))
@example(CODE_IN_ITEMS.format("- - ", "- - "))
def test_code_is_whole_in_one_passage_with_its_title(markdown: str) -> None:
    found = passages(markdown)
    shown = "\n\n".join(chunk.text for chunk in found)
    blocks = Counter(code_blocks(shown))
    for block, times in Counter(code_blocks(markdown)).items():
        if block[1].strip() and len(block[1]) <= CODE_CHARACTERS:
            assert blocks[block] == times
    for chunk in found:
        assert bound(chunk.embedded_text) <= 512
        assert chunk.ranked_text.startswith(chunk.embedded_text)
        assert not re.search(r"\*\*app\.py\*\*\s*$", chunk.text)
    kept, given = (re.sub(r"(?m)^[-> \d.]*```.*$|\*\(continue[sd]\)\*|\W", "", text) for text in (shown, markdown))
    assert kept == given


@settings(deadline=None, max_examples=at_most(50))
@given(
    st.lists(st.one_of([st.tuples(st.just(kind), texts) for kind, texts in KINDS.items()])),
    st.sampled_from(["", "\r", "\0", "\ud800", "\u2028", "[a]: /b\nc"]),
    st.booleans(),
)
def test_blocks_are_the_written_ones_of_any_characters(written: list[tuple[str, str]], odd: str, close: bool) -> None:
    above = f"First{odd}."
    markdown = "\n\n".join(above + ("\n" if close and kind != "text" else "\n\n") + text for kind, text in written)
    found = [(block.kind, block.text) for block in blocks(markdown, len)]
    assert found == [part for block in written for part in (("text", above), block)]


@settings(deadline=None, max_examples=at_most(25))
@given(TABLES)
def test_each_piece_of_a_table_begins_with_its_header(table: str) -> None:
    for chunk in passages(table):
        assert chunk.text.startswith("| a | b | c |\n| --- | --- | --- |\n|")


@settings(deadline=None, max_examples=at_most(25))
@given(SENTENCES | CODE | TABLES)
def test_the_bound_is_at_least_the_tokens_of_a_real_tokenizer(text: str) -> None:
    assert bound(text) >= len(tokenizer().encode(text, add_special_tokens=False).ids) - 2


@given(SECTIONS | st.text() | st.text("bcdfghAae9/+ \n\u2014\xa0"))
def test_the_quick_bound_is_at_least_the_bound(text: str) -> None:
    assert quick_bound(text) >= bound(text)


def test_the_bound_is_at_least_the_tokens_of_the_textbook() -> None:
    for file in sorted((TEXTBOOK / "docs").rglob("*.md")):
        text = file.read_text(encoding="utf-8")
        for start in range(0, len(text), 1_000):
            piece = text[start : start + 1_000]
            assert bound(piece) >= len(tokenizer().encode(piece, add_special_tokens=False).ids)


@pytest.mark.parametrize("mark", ["", "- ", "> "])
@pytest.mark.parametrize("every", [1_000, 7])
def test_code_over_8_kb_is_cut_at_blank_lines_and_says_so(every: int, mark: str) -> None:
    lines = ["" if number % every == 6 else f"value_{number} = compute({number=})" for number in range(900)]
    found = passages(within(mark, "\n".join(["**app.py**", "```python", *lines, "```"])))
    parts = [block for chunk in found for block in code_blocks(chunk.text)]
    assert len(parts) == len(found) > 3
    assert {language for language, _ in parts} == {"python"}
    assert all(len(source) <= CODE_CHARACTERS for _, source in parts)
    assert "\n".join(source for _, source in parts).split() == "\n".join(lines).split()
    if every == 7:
        assert all(int(re.findall(r"\d+", source)[0]) % 7 == 0 for _, source in parts), "each begins after a blank line"
    assert [CONTINUED in chunk.text for chunk in found] == [False] + [True] * (len(found) - 1)
    assert [CONTINUES in chunk.text for chunk in found] == [True] * (len(found) - 1) + [False]
    assert "**app.py**" in found[0].text


@pytest.mark.parametrize("marks", ["`", "``"])
def test_a_long_signature_is_whole_in_its_passage(marks: str) -> None:
    signature = f"{marks}def light({', '.join(f'oil_{number}: int = 0' for number in range(90))}){marks}"
    assert [chunk.text for chunk in passages(f"{signature}\n\nLights it.")] == [signature, "Lights it."]


def test_a_line_of_code_stays_with_the_sentence_before_it() -> None:
    before, after = "It turns. " * 40 + "Start it as in:\n\n`mill --start`", "It grinds. " * 40
    assert passages(f"{before}\n\n{after}")[0].text == before


def test_pieces_of_a_long_section_are_of_similar_size() -> None:
    paragraphs = "\n\n".join(f"Paragraph {number}. " + "The buoy sends a reading. " * 9 for number in range(30))
    sizes = [len(chunk.text) for chunk in passages(paragraphs)]
    assert min(sizes) > max(sizes) * 0.6


def test_chinese_text_is_counted_by_its_characters() -> None:
    text = "浮标每三十秒发送一次读数。" * 105
    found = passages(text)
    assert len(found) > 3
    assert all(chunk.tokens >= len(chunk.text) for chunk in found)
    assert "".join(chunk.text for chunk in found) == text


def test_a_title_line_stays_with_what_it_names() -> None:
    tabs = "\n\n".join(f"**{name}**\n\n```sh\n{name} install lanternfish {'x' * 60}\n```" for name in "abcdefghij" * 3)
    for chunk in passages(tabs):
        assert chunk.text.startswith("**")
        assert chunk.text.endswith("```")


@pytest.mark.parametrize(
    "named",
    ["A buoy sends. " * 200, "- A buoy sends it.\n" * 60, "> A buoy. " * 90, "|a|b|\n|-|-|\n" + "|buoy|1|\n" * 200],
)
def test_title_before_a_long_block_is_in_its_first_passage(named: str) -> None:
    first, second, *_ = passages(f"Words.\n\n**app.py**\n\n---\n\n{named}")
    assert re.search(r"\*\*app.py\*\*\n\n---\n\n.*buoy", first.text + second.text, re.DOTALL)
    assert not first.text.endswith("---")


@pytest.mark.parametrize(
    "markdown",
    [
        "---",
        "![](https://example.com/a.png)",
        "![Logo](https://example.com/a.png)",
        ":::note\n\n:::",
        "```\n```",
        "| |\n|-|",
    ],
)
def test_a_section_without_words_gives_no_passage(markdown: str) -> None:
    assert passages(markdown) == []


@pytest.mark.parametrize("markdown", [":::note is the mark of a lamp.", "{% lamp %}", "::: two words"])
def test_text_like_a_directive_gives_a_passage(markdown: str) -> None:
    assert [chunk.text for chunk in passages(markdown)] == [markdown]


def test_a_picture_alone_gives_what_it_shows() -> None:
    (chunk,) = passages("![A buoy with its lamp lit](https://example.com/buoy.png)")
    assert chunk.text == "A buoy with its lamp lit"


def test_links_are_answered_with_and_embedded_without_addresses() -> None:
    (chunk,) = passages("See [the manual](https://example.com/manual#start) and ![a buoy](https://example.com/b.png).")
    assert chunk.text == "See [the manual](https://example.com/manual#start) and ![a buoy](https://example.com/b.png)."
    assert chunk.embedded_text == "Page > Part\nSee the manual and a buoy."


@pytest.mark.parametrize(
    "code", ["```md\n[a](https://example.com)\n```", "Write `[a](https://example.com)` for a link."]
)
def test_an_address_in_code_is_embedded(code: str) -> None:
    (chunk,) = passages(code)
    assert "[a](https://example.com)" in chunk.embedded_text


def test_the_words_of_a_linked_name_in_code_are_embedded() -> None:
    (chunk,) = passages("Call [`grind()`](https://example.com/api#grind) twice.")
    assert chunk.embedded_text == "Page > Part\nCall `grind()` twice."


def test_long_headings_leave_room_for_the_text() -> None:
    (chunk,) = passages("Text.", title="word " * 2_000)
    assert bound(chunk.embedded_text) <= 512
    assert chunk.embedded_text.endswith("Text.")


def test_a_model_with_a_large_limit_gets_useful_passages() -> None:
    found = passages("The buoy sends a reading. " * 400, model="embed-v5.0-pro")
    assert all(bound(chunk.embedded_text) <= PASSAGE_TOKENS for chunk in found)
    assert all(len(chunk.text) <= MAX_CHARACTERS for chunk in found)
