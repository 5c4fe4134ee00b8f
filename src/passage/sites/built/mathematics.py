"""Formulas as TeX where the HTML holds it, otherwise as plain text read from MathML."""

import re

from passage.sites import html
from passage.sites.html import Node

SCRIPT = "script[type^='math/tex']"
"""A formula for MathJax 2, beside or without its preview."""
FORMULAS = f"{SCRIPT}, .katex-display, .katex, .arithmatex, span.math, div.math, mjx-container, math"

_DELIMITED = re.compile(r"\\\((.+?)\\\)|\\\[(.+?)\\\]|\$\$(.+?)\$\$", re.DOTALL)
_WRAPPED = re.compile(r"\A\s*(?:\\\((.*)\\\)|\\\[(.*)\\\]|\$\$(.*)\$\$|\$(.*)\$)\s*\Z", re.DOTALL)
_SIGNS = {"msub": "_", "msup": "^", "munder": "_", "mover": "^"}


def formula(node: Node) -> tuple[str, bool]:
    """A formula's TeX or plain text, and whether it is a block; empty where there is no formula."""
    block = (
        html.tag(node) == "div"
        or "katex-display" in html.classes(node)
        or html.attribute(node, "display") in ("true", "block")
    )
    annotation = html.first(node, "annotation[encoding='application/x-tex']")
    if annotation is not None:
        return html.text(annotation).strip(), block
    script = html.first(node, SCRIPT)
    if script is not None:
        return html.text(script).strip(), block or "mode=display" in html.attribute(script, "type")
    mathml = html.first(node, "math")
    if mathml is not None:
        return html.squeezed(_linear(mathml)), block or html.attribute(mathml, "display") == "block"
    written = html.text(node)
    formula = _WRAPPED.match(written) or _DELIMITED.search(written)  # beside the number of an equation
    if formula is None:
        return written.strip(), block
    tex = next(part for part in formula.groups() if part is not None)
    return tex.strip(), block or formula[0].strip().startswith(("\\[", "$$"))


def delimited(text: str) -> list[tuple[str, str, bool]]:
    r"""A text in pieces: `(words before, TeX, is a block)`; the last piece has no TeX.

    Only `\(…\)`, `\[…\]` and `$$…$$` are formulas: a single `$` may be a price.
    """
    pieces, start = [], 0
    for formula in _DELIMITED.finditer(text):
        tex = next(part for part in formula.groups() if part is not None)
        pieces.append((text[start : formula.start()], tex.strip(), formula[1] is None))
        start = formula.end()
    return [*pieces, (text[start:], "", False)]


def _linear(node: Node) -> str:
    """MathML on one line: `a/b`, `x_i`, `sqrt(x)`."""
    name = html.tag(node)
    if not name:
        return html.own_text(node).strip()
    if name == "annotation":
        return ""
    parts = [part for child in html.children(node) if (part := _linear(child))]
    written = "".join(parts)
    if name == "mfrac" and len(parts) == 2:
        written = "/".join(map(_grouped, parts))
    elif name in _SIGNS and len(parts) == 2:
        written = f"{parts[0]}{_SIGNS[name]}{_grouped(parts[1])}"
    elif name == "msubsup" and len(parts) == 3:
        written = f"{parts[0]}_{_grouped(parts[1])}^{_grouped(parts[2])}"
    elif name in ("msqrt", "mroot"):
        written = f"sqrt({' '.join(parts)})"
    elif name == "mo":
        written = f" {written} "
    return written


def _grouped(part: str) -> str:
    part = part.strip()
    return part if part.isalnum() else f"({part})"
