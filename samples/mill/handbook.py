"""The handbook as data: pages of blocks, which `build.py` writes in each generator's own words.

A block is a tuple; the first word says its kind. `code`, **bold** and [links](page) may stand in texts.
"""

import re
from collections.abc import Iterator

Block = tuple[str, ...] | tuple[str, list[str]] | tuple[str, list[tuple[str, str]]] | tuple[str, list[list[str]]]

PAGES: dict[str, tuple[str, list[Block]]] = {
    "index": (
        "Mill handbook",
        [
            ("p", "This handbook is for whoever runs the mill alone."),
            ("h2", "Before you start"),
            ("p", "Read the [grinding](daily/grinding) chapter once, then keep it open beside the stones."),
        ],
    ),
    "daily/index": (
        "Daily work",
        [
            ("p", "Two things are done every day, in this order, before the wind gets up."),
            ("pages", ["daily/grinding", "daily/greasing"]),
        ],
    ),
    "daily/grinding": (
        "Grinding",
        [
            ("p", "Grain runs from the **hopper** into the eye of the upper stone."),
            ("h2", "Feed the stones"),
            ("list", ["Open the slide.", "Wait for the shoe to rattle.", "> A dry shoe rattles late.", "Close it."]),
            ("box", "warning", "Storm", "Never grind while the cap turns by itself."),
            ("h2", "Count the turns"),
            ("p", "The counter prints one line a turn."),
            ("code", "python", "count.py", "def count(stone):\n    # twice a turn\n    return stone / 2"),
            ("p", "Its memory holds a day[^1]."),
            ("note", "On a Sunday, two days."),
            ("h3", "When it counts wrong"),
            ("p", "Clean the eye with `brush --soft`, never with water."),
            ("h2", "How fast"),
            ("math", "n = 60 v / d"),
            ("table", [["Grain", "Turns"], ["Wheat", "110"], ["Rye", "95"]]),
            ("image", "The stones from above", "stones.png"),
        ],
    ),
    "daily/greasing": (
        "Greasing",
        [
            ("p", "Grease the neck of the shaft every morning."),
            ("tabs", [("Summer", "Take tallow, it stays where it is put."), ("Winter", "Take lard, it stays soft.")]),
            ("h2", "What to keep dry"),
            ("p", "The brake band burns when it is greased."),
            ("box", "tip", "Old millers say", "A quiet mill is a greased mill."),
        ],
    ),
    "sails": (
        "Sails",
        [
            ("p", "Four sails carry cloth, and two of them are enough in a gale."),
            ("h2", "Reef them"),
            ("p", "Reef from the tip inwards, standing on the stage."),
            ("code", "sh", "", "mill reef --sail 2\nmill turn --slow"),
        ],
    ),
    "glossary": (
        "Words of the trade",
        [
            ("h2", "Bell alarm"),
            ("p", "It rings when the hopper is nearly empty."),
            ("h2", "Damsel"),
            ("p", "The spindle that shakes the shoe."),
        ],
    ),
}  # fmt: skip

POSTS = ("daily/grinding", "daily/greasing", "sails")
"""The pages that are posts of a blog, with a date and a tag."""


def title(page: str) -> str:
    return PAGES[page][0]


def texts(page: str) -> Iterator[str]:
    """The texts of a page that a reader must find, in order; of code, its lines."""
    for kind, *parts in PAGES[page][1]:
        if kind in ("p", "note"):
            yield re.sub(r"\[\^1\]|\]\([^)]*\)", "", parts[0])
        elif kind == "list":
            yield from (item.removeprefix("> ") for item in parts[0])
        elif kind == "box":
            yield from parts[1:]
        elif kind == "tabs":
            yield from (text for tab in parts[0] for text in tab)
        elif kind == "code":
            yield from parts[2].split("\n")  # few generators show the title
        elif kind == "table":
            yield from (cell for row in parts[0] for cell in row)
        elif kind in ("math", "image"):
            yield parts[0]


def headings(page: str) -> list[tuple[str, ...]]:
    """The paths of headings below a page's title."""
    found: list[tuple[str, ...]] = [(title(page),)]
    for kind, *parts in PAGES[page][1]:
        if kind in ("h2", "h3"):
            above = found[-1][:2] if kind == "h3" else found[-1][:1]
            found.append((*above, parts[0]))
    return found
