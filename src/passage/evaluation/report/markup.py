"""Builds HTML and SVG with every text escaped: only `element` makes markup."""

from collections.abc import Iterable
from html import escape
from urllib.parse import urlsplit


class Markup(str):
    """Text that is markup already. Any other text is escaped."""

    __slots__ = ()


Content = str | Iterable[str]
VOID = frozenset({"br", "meta", "line", "rect", "circle", "path", "polyline"})


def element(name: str, *content: Content, **attributes: str | float | None) -> Markup:
    """An element. An attribute's name may end with `_`, and its `_` are written as `-`; None leaves it out."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(_number(value), quote=True)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID and not content:
        return Markup(f"<{name}{written}/>")
    return Markup(f"<{name}{written}>{joined(*content)}</{name}>")


def joined(*content: Content) -> Markup:
    """Several contents after each other."""
    return Markup("".join(_escaped(part) for part in content))


def link(url: str, text: str) -> Markup:
    """A link, or the text alone if the URL is not http or https."""
    try:
        safe = urlsplit(url).scheme in ("http", "https")
    except ValueError:
        safe = False
    return element("a", text, href=url, rel="noreferrer noopener") if safe else joined(text)


def _escaped(part: Content) -> str:
    if isinstance(part, Markup):
        return part
    if isinstance(part, str):
        return escape(_printable(part), quote=True)
    return "".join(_escaped(each) for each in part)


def _printable(text: str) -> str:
    """Without control characters, which HTML does not allow even when escaped, and lone surrogates."""
    return "".join("\N{REPLACEMENT CHARACTER}" if _odd(character) else character for character in text)


def _odd(character: str) -> bool:
    code = ord(character)
    return (code < 32 and character not in "\t\n") or 127 <= code < 160 or 0xD800 <= code < 0xE000


def _number(value: str | float) -> str:
    return _printable(value) if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")
