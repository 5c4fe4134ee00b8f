"""When a text is blank."""

import string

_IGNORABLE_RANGES = (
    "ad 34f 61c 115f-1160 17b4-17b5 180b-180f 200b-200f 202a-202e 2060-206f 3164 fe00-fe0f feff ffa0 e0001 e0020-e007f "
    "e0100-e01ef"
)
"""Unicode's property Default_Ignorable_Code_Point (DerivedCoreProperties.txt), less unassigned characters."""

_SPACES = (
    string.whitespace
    + "\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000"
    + "".join(map(chr, range(0x2000, 0x200B)))
)
"""The characters that `str.isspace` is true for."""

IGNORABLE = "".join(
    chr(code)
    for first, _, last in (codes.partition("-") for codes in _IGNORABLE_RANGES.split())
    for code in range(int(first, 16), int(last or first, 16) + 1)
)
"""Characters without a shape: zero-width spaces and joiners, marks of direction, variation selectors, tags."""

INVISIBLE = _SPACES + IGNORABLE
"""Characters that a reader does not see. A text is blank when `text.strip(INVISIBLE)` leaves nothing."""
