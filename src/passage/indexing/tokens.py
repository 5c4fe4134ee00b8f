"""Bounds the number of tokens that a text has for an embedding model.

No tokenizer of the hosted models is available offline, so tokens are bounded from above, by script. The bound is meant
for subword vocabularies of 30,000 tokens and more. Tests compare it with a real tokenizer of that size, which breaks
most scripts other than Latin into bytes. Prose then has 0.6 to 0.8 of the bound.
"""

import re
from collections.abc import Sequence

from handler.config.models import limits

PASSAGE_TOKENS = 700
"""The most tokens of a passage by the bound, for every model: about 1,500 characters of English. A longer passage
mixes several topics and matches each one poorly."""

RESERVED_TOKENS = 4
"""Tokens for the marks that a model puts around a text."""

CHARACTERS_PER_TOKEN = 4
"""The most, by `bound`: the letters of a token, with a blank before them."""

LETTERS_PER_TOKEN = 3
"""Characters in a token of a pronounceable Latin word; vocabularies hold longer pieces of common words."""

_BLANKS_PER_TOKEN = 4
_SHORTEST_KEY = 16
_RUN = re.compile(rf"[A-Za-z0-9+/=]{{{_SHORTEST_KEY},}}")
_DIGIT = re.compile(r"[0-9]")
_WORD = re.compile(r"([A-Z]?[a-z]{1,63})")
_CONSONANTS = b"bcdfghjklmnpqrstvwxz"
_UNSPEAKABLE = re.compile(rf"[{_CONSONANTS.decode()}]{{5,}}")
_CONSONANTS_TO_B = bytes(ord("b") if code in _CONSONANTS else 0 for code in range(256))
_BLANKS = re.compile(r"\s(?:\s+|(?<! )|(?<![!-~] )(?=\S))")
"""Blanks, except the single one before a word: that one belongs to the word."""
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_KEY = 1 << 40
"""More than the thirds of a token of any text."""
_MOST_PIECES = 100_000
"""The most texts whose tokens are kept."""


def most_tokens(model: str) -> int:
    """The most tokens of a passage, by `bound`: the model's input limit, or `PASSAGE_TOKENS` if that is lower."""
    return min(PASSAGE_TOKENS, limits(model).tokens_per_text) - RESERVED_TOKENS


def input_tokens(model: str) -> int:
    """The most tokens of a text, by `bound`, that the model reads."""
    return limits(model).tokens_per_text - RESERVED_TOKENS


def bound(text: str) -> int:
    """An upper bound of the tokens of `text`."""
    if len(_PIECES) > _MOST_PIECES:
        _PIECES.clear()
    pieces = text.split()
    keys, thirds = divmod(sum(map(_PIECES.__getitem__, pieces)), _KEY)
    if keys:
        text = _without_keys(text)
        pieces = text.split()
    return -(-thirds // 3) + _blanks(text, pieces)


def quick_bound(text: str) -> int:
    """An upper bound of `bound`, in a tenth of its time: the bytes, and what unspeakable words can cost beyond them.

    Of n letters, n tokens are for the run that cannot be spoken and a third of n for the word. With n at most 9, one
    group of 5 letters is found in them, and each 5 more letters are another group.
    """
    written = text.encode("utf-8", "surrogatepass")
    return len(written) + 3 * written.translate(_CONSONANTS_TO_B).count(b"bbbbb")


def _blanks(text: str, pieces: Sequence[str]) -> int:
    lines = text.count("\n")
    if text.isascii() and text.replace("\n\n", " ").replace("\n", " ") == " ".join(pieces):
        return lines  # each space stands before a word
    found: list[str] = _BLANKS.findall(text)
    return lines + sum(-(-(len(blanks) - blanks.count("\n")) // _BLANKS_PER_TOKEN) for blanks in found)


def _without_keys(text: str) -> str:
    """A text without long runs with digits: random characters (keys, hashes), which no vocabulary contains."""
    return _RUN.sub(lambda run: "" if _DIGIT.search(run[0]) else run[0], text)


class _Pieces(dict[str, int]):
    """Thirds of a token for each text without blanks, and `_KEY` for one with a key. Most occur often."""

    def __missing__(self, piece: str) -> int:
        text = _without_keys(piece) if len(piece) >= _SHORTEST_KEY else piece
        parts = _WORD.split(text)
        signs = "".join(parts[::2])  # digits, punctuation and capitals are single tokens
        others = () if signs.isascii() else _NOT_ASCII.findall(signs)
        tokens = len(piece) - len(text) + len(signs) - len(others)
        tokens += sum(-(-len(word) // LETTERS_PER_TOKEN) for word in parts[1::2])
        tokens += sum(map(len, _UNSPEAKABLE.findall(text)))
        self[piece] = thirds = 3 * tokens + sum(map(_COSTS.__getitem__, others)) + (_KEY if text != piece else 0)
        return thirds


class _Costs(dict[str, int]):
    """Thirds of a token for each character beyond ASCII."""

    def __missing__(self, character: str) -> int:
        code = ord(character)
        if code < 0x250 or 0x400 <= code < 0x500:  # Latin with marks, Cyrillic
            cost = 3
        elif code < 0x800:  # Greek, Hebrew, Arabic
            cost = 4
        elif any(first <= code <= last for first, last in _SYLLABLES):
            cost = 6
        else:  # a byte fallback: a token for each byte
            cost = 3 * len(character.encode("utf-8", "replace"))
        self[character] = cost
        return cost


_SYLLABLES = ((0x900, 0xEFF), (0x3000, 0x30FF), (0x3400, 0x9FFF), (0xAC00, 0xD7A3), (0xFF00, 0xFFEF))
"""Indic scripts, Thai, Lao, kana, Chinese characters, Hangul, full-width forms."""
_COSTS = _Costs()
_PIECES = _Pieces()
