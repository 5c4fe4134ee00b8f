"""Decodes pages as browsers do: by their mark or declaration, with U+FFFD for bytes that are not in the encoding."""

import codecs
import re

_CHARSET = re.compile(rb"""<meta[^>]+charset\s*=\s*["']?([\w-]+)""", re.IGNORECASE)
_XML = re.compile(rb"""\s*<\?xml[^>]+encoding\s*=\s*["']([\w-]+)""")
_HEAD_BYTES = 1_024
"""HTML requires the declaration of the encoding within these first bytes."""

_MARKED = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
"""Byte order marks; they come before any declaration."""

_DECODERS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "utf-16": "utf-8",
    "utf-16-le": "utf-8",
    "utf-16-be": "utf-8",
}
"""Browsers decode these encodings with a larger one. A declaration that can be read as ASCII is not in UTF-16."""


def decoded(content: bytes, encoding: str) -> str:
    """The text of a page."""
    return content.decode(encoding, "replace")


def flaw(content: bytes, encoding: str) -> str:
    """The first place that `decoded` had to replace, in a few words; empty where the page is whole."""
    try:
        content.decode(encoding)
    except UnicodeDecodeError as error:
        return f"is not {encoding} at byte {error.start:,}: \ufffd stands for what cannot be read"
    return ""


def marked(content: bytes, encoding: str) -> bytes:
    """The page in UTF-8 with its mark, so that `decoded` reads it as the server declares; unchanged if it cannot."""
    if any(content.startswith(mark) for mark, _ in _MARKED):
        return content
    try:
        return codecs.BOM_UTF8 + content.decode(_decoder(encoding)).encode()
    except (LookupError, ValueError):
        return content


def of_text(content: bytes) -> str:
    """The encoding of a page that declares none: the one of its mark, else UTF-8."""
    return next((encoding for mark, encoding in _MARKED if content.startswith(mark)), "utf-8")


def of_html(content: bytes) -> str:
    """The encoding of a page in HTML: the one of its mark, else the declared one, else UTF-8."""
    declared = _CHARSET.search(content[:_HEAD_BYTES]) or _XML.match(content[:_HEAD_BYTES])
    if declared is None or any(content.startswith(mark) for mark, _ in _MARKED):
        return of_text(content)
    try:
        return _decoder(declared[1].decode())
    except LookupError:  # a misspelling, or a placeholder that a template left
        return "utf-8"


def _decoder(declared: str) -> str:
    """The name of an encoding's decoder.

    Raises:
        LookupError: there is no such encoding of text.
    """
    encoding = codecs.lookup(declared).name
    "".encode(encoding)  # Python also has codecs that are not for text
    return _DECODERS.get(encoding, encoding)
