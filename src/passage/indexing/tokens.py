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
_PIECES = re.compile(
    r"(?P<key>(?=[A-Za-z+/=]*[0-9])[A-Za-z0-9+/=]{16,})"
    r"|(?P<word>[A-Z]?[a-z]+)"
    r"|(?P<capitals>[A-Z]+)"
    r"|(?<=[!-~])(?P<space> )(?=\S)"
    r"|(?P<blank>\s+)"
    r"|(?P<sign>[!-~])"
    r"|(?P<latin>[\u00c0-\u024f\u0400-\u04ff]+)"
    r"|(?P<letters>[\u0250-\u03ff\u0500-\u07ff]+)"
    r"|(?P<syllable>[\u0900-\u0dff\u0e00-\u0eff\u3000-\u30ff\u3400-\u9fff\uac00-\ud7a3\uff00-\uffef])"
    r"|(?P<other>.)",
    re.DOTALL,
)
_UNSPEAKABLE = re.compile(r"[^aeiouyAEIOUY]{5}")


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
    return sum(_COSTS[match.lastgroup or "other"](match[0]) for match in _PIECES.finditer(text))


def _word(word: str) -> int:
    return len(word) if _UNSPEAKABLE.search(word) else -(-len(word) // LETTERS_PER_TOKEN)


def _blank(blanks: str) -> int:
    lines = blanks.count("\n")
    return lines + -(-(len(blanks) - lines) // _BLANKS_PER_TOKEN)


_COSTS: dict[str, Count] = {
    "key": len,  # random characters are in no vocabulary
    "word": _word,
    "capitals": len,
    "space": lambda _: 0,  # belongs to the word after it
    "blank": _blank,
    "sign": len,  # digits and punctuation stand alone
    "latin": len,
    "letters": lambda letters: -(-len(letters) * 4 // 3),
    "syllable": lambda _: 2,
    "other": lambda character: len(character.encode("utf-8", "replace")),  # a byte fallback: a token for each byte
}
