"""Converts MDX to Markdown: removes imports, exports, expressions and comments, and renders known components."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from passage.sites.markdown import front_matter, javascript, jsx
from passage.sites.markdown.code_spans import fence_end, outside, span_end
from passage.sites.markdown.convention import Flat
from passage.sites.markdown.front_matter import PageError

_DEEPEST = 8
"""The most levels of partials that import others."""

_MODULE = re.compile(r"^(?:import|export)\b[ \t]*[\w$*{\"'\[]", re.MULTILINE)
_IMPORT = re.compile(r"""import\s+([\w$]+)\s+from\s+["']([^"']+\.mdx?)["']""")
_COMMENT = re.compile(r"<!--.*?-->|\{\s*/\*.*?\*/\s*\}", re.DOTALL)
_MATH = re.compile(r"\$\$.+?\$\$|\$(?!\s)[^$\n]*?[\\{][^$\n]*?(?<!\s)\$", re.DOTALL)
_LITERAL = re.compile(r"""\{\s*(?:"([^"\n]*)"|'([^'\n]*)'|`([^`$]*)`)\s*\}""")
_PROPERTY = re.compile(r"\{\s*props\.(\w+)\s*\}")
_HEADING_ID = re.compile(r"\{(?:#[^\s{}]+|/\*\s*#[^\s*]+\s*\*/)\}[ \t]*(?=\n|\Z)")
_NEXT = re.compile(r"[\n`{<\\$]")

_BLOCKS = frozenset(["div", "details", "section", "article", "aside", "center", "figure", "header", "main"])
_VOID = frozenset(["area", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"])
_KEPT_ATTRIBUTES = frozenset(["id", "href", "src", "alt", "colspan", "rowspan", "start", "open", "title"])
_SPACERS = frozenset({"Tabs", "Details", "Columns", "Column", "Steps", "Fragment", "React.Fragment"})
_SILENT = frozenset({"DocCardList", "TOCInline", "Head", "BrowserOnly", "Badge"})
"""Components without text, or with another page's text."""


def flatten(text: str, file: Path, root: Path, given: Mapping[str, str] | None = None, depth: int = 0) -> Flat:
    """The Markdown of an MDX page.

    Args:
        file: of the page; imports are relative to it.
        root: the site's folder: `@site` in imports. Only files in it are read.
        given: the texts in a partial's `props`.
        depth: how many pages import it.
    """
    flattener = _Flattener(text, file, root, given or {}, depth)
    flattener.run()
    return Flat("".join(flattener.out), tuple(flattener.unresolved))


def without_comments(text: str) -> str:
    """Markdown without comments, imports and exports. Ids that stand as a comment after a heading are kept."""
    return outside(lambda piece: _without_modules(_COMMENT.sub(_kept_id, piece)), text)


def _without_modules(piece: str) -> str:
    """Text without MDX statements; prose that begins with "import" is kept."""
    kept, position = [], 0
    for found in _MODULE.finditer(piece):
        if found.start() >= position and (statement := javascript.statement(piece[found.start() :])):
            kept.append(piece[position : found.start()])
            position = found.start() + len(statement)
    return "".join([*kept, piece[position:]])


def _kept_id(found: re.Match[str]) -> str:
    return found[0] if _HEADING_ID.match(found[0]) else "\n" if "\n" in found[0] else ""


@dataclass(slots=True)
class _Flattener:
    """Reads a page from left to right; `out` is the output so far."""

    text: str
    file: Path
    root: Path
    given: Mapping[str, str]
    depth: int
    out: list[str] = field(default_factory=list)
    unresolved: list[str] = field(default_factory=list)
    partials: dict[str, Path] = field(default_factory=dict)

    def run(self) -> None:
        position = 0
        while position < len(self.text):
            if position == 0 or self.text[position - 1] == "\n":
                if end := fence_end(self.text, position):
                    self.out.append(self.text[position:end])
                    position = end
                    continue
                if end := self._module(position):
                    position = end
                    continue
            position = self._step(position)

    def _step(self, position: int) -> int:
        """Write the element at `position`; gives the next position."""
        sign = self.text[position]
        if sign == "{":
            return self._expression(position)
        if sign == "<" and (found := _COMMENT.match(self.text, position)):
            return found.end()
        if sign == "<" and (tag := jsx.tag_at(self.text, position)):
            return self._tag(tag)
        return self._copy(position, self._verbatim_end(sign, position))

    def _verbatim_end(self, sign: str, position: int) -> int:
        """The end of unchanged text: a line, a code span, a formula, an escaped sign."""
        if sign == "`":
            return span_end(self.text, position)
        if sign in "\n\\":
            return position + (1 if sign == "\n" else 2)
        if sign == "$" and (found := _MATH.match(self.text, position)):
            return found.end()
        following = _NEXT.search(self.text, position + 1)
        return following.start() if following else len(self.text)

    def _copy(self, start: int, end: int) -> int:
        self.out.append(self.text[start:end])
        return end

    def _module(self, position: int) -> int | None:
        """Skip an import or export and remember its partials."""
        if not _MODULE.match(self.text, position):
            return None
        statement = javascript.statement(self.text[position:])
        if statement is None:
            return None
        for found in _IMPORT.finditer(statement):
            if path := self._partial(found[2]):
                self.partials[found[1]] = path
        return position + len(statement)

    def _partial(self, written: str) -> Path | None:
        if written.startswith("@site/"):
            path = self.root / written.removeprefix("@site/")
        elif written.startswith("."):
            path = self.file.parent / written
        else:
            return None
        path = path.resolve()
        return path if path.is_relative_to(self.root.resolve()) and path.is_file() else None

    def _expression(self, position: int) -> int:
        if found := _HEADING_ID.match(self.text, position):
            return self._copy(position, found.end())
        if found := _LITERAL.match(self.text, position):
            self.out.append(next(part for part in found.groups() if part is not None))
            return found.end()
        if (found := _PROPERTY.match(self.text, position)) and found[1] in self.given:
            self.out.append(self.given[found[1]])
            return found.end()
        end = jsx.expression_end(self.text, position)
        if end is None:
            return self._copy(position, position + 1)
        if not _COMMENT.fullmatch(self.text, position, end) and self.text[position + 1 : end - 1].strip():
            self.unresolved.append("expression in MDX")
        return end

    def _tag(self, tag: jsx.Tag) -> int:
        if tag.name in self.partials and not tag.closing:
            self._include(self.partials[tag.name], tag.attributes)
        elif tag.name == "CodeBlock" and not tag.closing:
            return self._code(tag)
        elif tag.name[:1].islower() and "." not in tag.name:
            self._element(tag)
        else:
            self._component(tag)
        return tag.end

    def _include(self, path: Path, given: Mapping[str, str]) -> None:
        if self.depth >= _DEEPEST:
            return
        try:
            _, text = front_matter.split(front_matter.read(path))
        except PageError:
            self.unresolved.append("partial that cannot be read")
            return
        flat = flatten(text, path, self.root, given, self.depth + 1)
        self.out.append(f"\n\n{flat.markdown}\n\n")
        self.unresolved.extend(flat.unresolved)

    def _code(self, tag: jsx.Tag) -> int:
        """`<CodeBlock language="js">{`…`}</CodeBlock>` as a fence."""
        found = re.compile(r"\s*(?:\{\s*`((?:[^`\\]|\\.)*)`\s*\}|([^<{]*?))\s*</CodeBlock>").match(self.text, tag.end)
        source = (found[1] or found[2] or "") if found else ""
        if not source.strip():
            self.unresolved.append("component <CodeBlock>")
            return found.end() if found else tag.end
        title = tag.attributes.get("title", "")
        info = tag.attributes.get("language", "") + (f' title="{title}"' if title else "")
        self.out.append(f"\n\n````{info}\n{source.strip()}\n````\n\n")
        return found.end() if found else tag.end

    def _element(self, tag: jsx.Tag) -> None:
        """An HTML element, without attributes that are invisible to readers."""
        names = "".join(
            f' {name}="{escape(value)}"' for name, value in tag.attributes.items() if name in _KEPT_ATTRIBUTES
        )
        written = f"</{tag.name}>" if tag.closing else f"<{tag.name}{names}>"
        if tag.self_closing and tag.name not in _VOID:
            written += f"</{tag.name}>"
        around = "\n\n" if tag.name in _BLOCKS and self._alone() else ""
        self.out.append(f"{around}{written}{around}")

    def _alone(self) -> bool:
        """Whether only space stands before it on its line."""
        line = "".join(self.out[-3:]).rpartition("\n")[2]
        return not line.strip()

    def _component(self, tag: jsx.Tag) -> None:
        if tag.name == "TabItem":
            label = tag.attributes.get("label") or tag.attributes.get("value", "")
            panel = f'<div role="tabpanel" aria-label="{escape(label)}">'
            self.out.append("\n\n</div>\n\n" if tag.closing else f"\n\n{panel}\n\n")
        elif tag.name == "Admonition":
            title = tag.attributes.get("title") or tag.attributes.get("type", "")
            named = f'<div class="admonition"><p class="admonition-title">{escape(title)}</p>'
            self.out.append("\n\n</div>\n\n" if tag.closing else f"\n\n{named}\n\n")
        elif tag.name == "Link":
            target = tag.attributes.get("to") or tag.attributes.get("href", "")
            self.out.append("</a>" if tag.closing else f'<a href="{escape(target)}">')
        elif tag.name in _SPACERS or not tag.name:
            self.out.append("\n\n" if tag.name else "")
        elif tag.self_closing and tag.name not in _SILENT:
            self.unresolved.append(f"component <{tag.name}>")
