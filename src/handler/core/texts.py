"""When a text is blank."""

import string

_IGNORABLE_RANGES = (
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xE0001, 0xE0001),
    (0xE0020, 0xE007F),
    (0xE0100, 0xE01EF),
)
"""Characters that have no shape: zero-width spaces and joiners, marks of direction, variation selectors, tags.

They are those with Unicode's property Default_Ignorable_Code_Point (DerivedCoreProperties.txt), less unassigned ones.
"""

_SPACES = (
    string.whitespace
    + "\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000"
    + "".join(map(chr, range(0x2000, 0x200B)))
)
"""The characters that `str.isspace` is true for."""

IGNORABLE = "".join(chr(code) for first, last in _IGNORABLE_RANGES for code in range(first, last + 1))
"""The characters without a shape."""

INVISIBLE = _SPACES + IGNORABLE
"""Characters that a reader does not see. A text is blank when `text.strip(INVISIBLE)` leaves nothing."""
