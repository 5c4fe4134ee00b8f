"""Writes the handbook's pages as Markdown, MDX or reStructuredText, each with a generator's own boxes and tabs."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from textwrap import indent

from handbook import PAGES, title


def html_box(kind: str, name: str, text: str) -> str:
    return f'<aside class="callout {kind}">\n<p>{name}</p>\n<p>{text}</p>\n</aside>'


def colon_box(kind: str, name: str, text: str) -> str:
    return f"::: {kind} {name}\n{text}\n:::"


def quote_box(_: str, name: str, text: str) -> str:
    return f"> **{name}**\n>\n> {text}"


def python_box(kind: str, name: str, text: str) -> str:
    return f'!!! {kind} "{name}"\n\n    {text}'


def mdx_box(_: str, name: str, text: str) -> str:
    return f'<Callout type="warn" title="{name}">{text}</Callout>'


def no_tabs(tabs: list[tuple[str, str]]) -> str:
    return "\n\n".join(f"**{label}**\n\n{text}" for label, text in tabs)


def colon_tabs(tabs: list[tuple[str, str]]) -> str:
    return "::: tabs\n" + "".join(f"@tab {label}\n{text}\n" for label, text in tabs) + ":::"


def rspress_tabs(tabs: list[tuple[str, str]]) -> str:
    return "<Tabs>\n" + "".join(f'<Tab label="{label}">\n{text}\n</Tab>\n' for label, text in tabs) + "</Tabs>"


def fumadocs_tabs(tabs: list[tuple[str, str]]) -> str:
    names = ", ".join(f"'{label}'" for label, _ in tabs)
    return f"<Tabs items={{[{names}]}}>\n" + "".join(f"<Tab>\n{text}\n</Tab>\n" for _, text in tabs) + "</Tabs>"


def fence(info: str = "") -> Callable[[str, str, str], str]:
    """A fence; `info` follows the language, with the title in place of %s."""
    return lambda language, name, text: f"```{language}{info % name if name and '%s' in info else ''}\n{text}\n```"


Links = Callable[[str], str]
"""The target of a link to a page."""


@dataclass(frozen=True, slots=True)
class Words:
    """How a generator writes boxes, tabs and code."""

    box: Callable[[str, str, str], str]
    tabs: Callable[[list[tuple[str, str]]], str]
    code: Callable[[str, str, str], str]


def markdown(page: str, words: Words, links: Links) -> str:
    """A page below its title, in Markdown."""
    written = []
    for kind, *parts in PAGES[page][1]:
        if kind == "pages":
            written.append("\n".join(f"- [{title(each)}]({links(each)})" for each in parts[0]))
        elif kind == "p":
            written.append(re.sub(r"\]\(([^)]+)\)", lambda found: f"]({links(found[1])})", parts[0]))
        else:
            write = MARKDOWN[kind] if kind in MARKDOWN else getattr(words, kind)
            written.append(write(*parts))
    return "\n\n".join(written) + "\n"


def _markdown_table(rows: list[list[str]]) -> str:
    first, *others = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([first, "|---" * len(rows[0]) + "|", *others])


MARKDOWN: dict[str, Callable[..., str]] = {
    "h2": "## {}".format,
    "h3": "### {}".format,
    "list": lambda items: "\n".join(f"    - {item[2:]}" if item[0] == ">" else f"1. {item}" for item in items),
    "note": "[^1]: {}".format,
    "math": "$$ {} $$".format,
    "table": _markdown_table,
    "image": "![{}](/{})".format,
}


def rest(page: str) -> str:
    """A page below its title, in reStructuredText."""
    return "\n\n".join(REST[kind](*parts) for kind, *parts in PAGES[page][1]) + "\n"


def _rest_words(text: str) -> str:
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text).replace("[^1]", " [1]_")
    return re.sub(r"`([^`]+)`", r"``\1``", text)


def _rest_table(rows: list[list[str]]) -> str:
    return ".. list-table::\n   :header-rows: 1\n\n" + "\n".join("   * - " + "\n     - ".join(row) for row in rows)


REST: dict[str, Callable[..., str]] = {
    "h2": lambda words: f"{words}\n{'=' * len(words)}",
    "h3": lambda words: f"{words}\n{'-' * len(words)}",
    "p": _rest_words,
    "list": lambda items: "\n".join(f"\n   * {item[2:]}\n" if item[0] == ">" else f"#. {item}" for item in items),
    "pages": lambda pages: "\n".join(f"* `{title(each)} </{each.replace('/', '-')}/>`_" for each in pages),
    "tabs": no_tabs,
    "box": ".. admonition:: {1}\n   :class: {0}\n\n   {2}".format,
    "code": lambda language, _, text: f".. code-block:: {language}\n   :number-lines:\n\n{indent(text, '   ')}",
    "note": ".. [1] {}".format,
    "math": ".. math::\n\n   {}".format,
    "table": _rest_table,
    "image": ".. image:: /{1}\n   :alt: {0}".format,
}
