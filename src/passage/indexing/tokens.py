"""How many tokens of an embedding model a text has at most.

No tokenizer of the hosted models is available offline, so tokens are bounded from above, by script. The bound is meant
for subword vocabularies of 30,000 tokens and more. Tests compare it with a real tokenizer at that lower end, which
breaks most scripts other than Latin into bytes: with it, prose has 0.6 to 0.8 of the bound.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from handler.config.models import tokens_per_text

Count = Callable[[str], int]
"""Tokens of a text: a model's own count, or a bound that is never below it."""

PASSAGE_TOKENS = 700
"""The most tokens of a passage by the bound, whatever the model reads: about 1,500 characters of English. A longer
passage answers many questions, and none well."""

RESERVED_TOKENS = 4
"""For the marks that a model puts around a text."""

LETTERS_PER_TOKEN = 3
"""Of Latin words that can be spoken; vocabularies hold longer pieces of common words."""

_BLANKS_PER_TOKEN = 4
_RUN = re.compile(r"[A-Za-z0-9+/=]{16,}")
_DIGIT = re.compile(r"[0-9]")
_WORD = re.compile(r"[A-Z]?[a-z]{1,63}")
_UNSPEAKABLE = re.compile(r"[b-df-hj-np-tv-xz]{5,}")
_BLANKS = re.compile(r"(?<![!-~]) (?=\S)|\s{2,}|[^\S ]")
"""Blanks other than the one before a word, which belongs to it."""
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_LONGEST_WORD = 64
_WORD_COSTS = [-(-length // LETTERS_PER_TOKEN) for length in range(_LONGEST_WORD + 1)]


@dataclass(frozen=True, slots=True)
class Limits:
    """How large a passage may be for a model.

    Attributes:
        tokens: what the model reads of a text, and no more than a passage should have.
        count: the tokens of a text.
    """

    tokens: int
    count: Count


def limits_for(model: str) -> Limits:
    """The limits of a passage that `model` embeds."""
    return Limits(min(PASSAGE_TOKENS, tokens_per_text(model)) - RESERVED_TOKENS, bound)


def bound(text: str) -> int:
    """An upper bound of the tokens of `text`."""
    # Long runs with digits are random characters (keys, hashes), which are in no vocabulary.
    keys = [run for run in _RUN.findall(text) if _DIGIT.search(run)]
    if keys:
        text = _RUN.sub(lambda found: "" if _DIGIT.search(found[0]) else found[0], text)
    words = _WORD.findall(text)
    signs = "".join(_WORD.sub("", text).split())  # digits, punctuation and capitals stand alone
    total = (
        sum(map(len, keys))
        + sum(map(_WORD_COSTS.__getitem__, map(len, words)))
        + sum(map(_blank, _BLANKS.findall(text)))
    )
    total += sum(map(len, _UNSPEAKABLE.findall(text)))
    if signs.isascii():
        return total + len(signs)
    others = _NOT_ASCII.findall(signs)
    return total + len(signs) - len(others) - (-sum(map(_COSTS.__getitem__, others)) // 3)


def _blank(blanks: str) -> int:
    lines = blanks.count("\n")
    return lines + -(-(len(blanks) - lines) // _BLANKS_PER_TOKEN)


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
