"""The words of a stored text or a question, as a text index of Passage has them.

Qdrant's tokenizer `word` takes each run of letters and digits as a word: it knows no language without spaces, and cuts
`1.16` and `set_lantern_height` into parts that many other passages have.
"""

import re
from functools import cache
from unicodedata import combining, normalize

from handler.core.texts import IGNORABLE

UNSPACED = (
    "\u0e01-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff"
    "\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
"""Han, kana, Thai, Lao, Burmese, Khmer: the scripts of words without spaces. Hangul: its words end in particles."""

JOINTS = {".": "\ua4f8", "_": "\u02cd", "-": "\u1428", "+": "\u1429", "#": "\u2d4c", ":": "\ua4fd"}
"""Letters that stand for the signs inside a name. A word may have letters only; these are in no language's texts."""

# Possessive, from the beginning of a run: in a text of one long run, a plain `+` would take quadratic time.
# Groups are not: in Python 3.11.2, which is Debian 12's, a possessive group keeps what its last, failed turn has read.
_NAME = re.compile(
    r"(?<![^\W_])[^\W_]++(?:(?:[._+\u2010\u200b-]++|::)[^\W_]++)+"
    r"|(?<![^\s`'\"(])\.[A-Za-z]\w++(?:[._-]++[^\W_]++)*"
    r"|\b[A-Za-z](?:\+\+|#)(?!\w)"
    r"|\b\d{1,3}(?:,\d{3})+\b"
)
_VERSION = re.compile(r"[vV](?=\d)")
_AMOUNT = re.compile(r"(?<![\w.,])(\d++(?:[.,]\d++)*)([^\W\d_]{1,3})(?![._-]?\w)")
_MARKS = [code for code in range(0x300, 0x671) if combining(chr(code))]
"""Marks that NFKC leaves apart: accents without a letter of their own, Hebrew points, Arabic vowels."""

_CHANGED = dict.fromkeys([*map(ord, IGNORABLE), *_MARKS, 0x640]) | {0x200B: "\u200b", 0x451: "\u0435"}
"""Arabic's stretching line is dropped like a mark. Russian's letter `yo` is mostly written as `ye`."""

_JOINED = str.maketrans(JOINTS | {"\u2010": JOINTS["-"], ",": "", "\u200b": ""})


def indexed_words(text: str) -> str:
    """A text as it is stored for ranking, or a question as it is asked there.

    - Compatible forms are one: full-width letters and digits, half-width kana, ligatures, spaces (Unicode's NFKC).
      Characters without a shape, such as a soft hyphen, are dropped, and so are Hebrew points and Arabic vowels.
    - A run of a script without spaces becomes its overlapping pairs of characters, as in Lucene's CJKAnalyzer. A
      single character stays.
    - A name with dots, `::`, `-`, `+` or underscores, `.NET`, `C++`, `C#`, a number with commas and a word with
      zero-width spaces are also one word, behind their parts: `1.16` is found before `1.160`.
    - A number and its unit are also two words: `10ms` finds `10 ms`, and the other way round.
    """
    if not text.isascii():
        text = normalize("NFKC", text).translate(_CHANGED)
        text = _unspaced_run().sub(_pairs, text)
    return _NAME.sub(_with_whole, _AMOUNT.sub(r"\g<0> \1 \2", text))


@cache
def _unspaced_run() -> re.Pattern[str]:
    return re.compile(f"[{UNSPACED}]+")  # takes 5 ms, which a text in ASCII does not pay


def _pairs(run: re.Match[str]) -> str:
    text = run.group()
    pairs = (text[at : at + 2] for at in range(max(len(text) - 1, 1)))
    return f" {' '.join(pairs)} "


def _with_whole(name: re.Match[str]) -> str:
    text = name.group()
    return f"{text} {_VERSION.sub('', text, 1).translate(_JOINED)}"
