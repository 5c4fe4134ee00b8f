"""Markup of further generators and themes: Quarto, Asciidoctor and Antora, notebooks, Docsy, Nextra."""

from pathlib import Path

import pytest

from passage.sites.model import Page
from passage.sites.source import SiteOptions, open_site
from sites.reading import written


@pytest.mark.parametrize(
    ("body", "markdown"),
    [
        (
            '<div class="sourceCode"><pre class="sourceCode python code-with-copy"><code class="sourceCode python">'
            '<span id="cb1-1"><a href="#cb1-1" aria-hidden="true"></a>a = 1</span>\n'
            '<span id="cb1-2"><a href="#cb1-2" aria-hidden="true"></a>b = 2</span></code>'
            '<button title="Copy to Clipboard" class="code-copy-button"></button></pre></div>',
            "```python\na = 1\nb = 2\n```",
        ),
        (
            '<div class="callout callout-warning"><div class="callout-header"><div class="callout-title-container">'
            '<span class="screen-reader-only">Warning</span>Mind the gap</div></div><div><p>It floods.</p></div></div>',
            "**Mind the gap**\n\nIt floods.",
        ),
        ('<p>One.</p><div class="quarto-title-meta"><div>Author</div><p>Ann</p></div>', "One."),
        (
            '<div class="admonitionblock note"><table><tbody><tr><td class="icon"><i class="fa icon-note" title="Note">'
            '</i></td><td class="content">Wind.</td></tr></tbody></table></div>',
            "**Note**\n\nWind.",
        ),
        (
            '<div class="admonitionblock note"><table><tbody><tr><td class="icon"><img src="n.png" alt="Note">'
            '</td><td class="content">Wind.</td></tr></tbody></table></div>',
            "**Note**\n\nWind.",
        ),
        (
            '<div class="listingblock"><div class="title">tide.xml</div><div class="content"><pre class="highlight">'
            '<code class="language-xml" data-lang="xml">&lt;a/&gt;</code></pre></div></div>',
            "**tide.xml**\n\n```xml\n<a/>\n```",
        ),
        (
            "<table><tr><td><pre>\n\n\n18\n19</pre></td><td><pre># File a.rb\n\ndef rise\nend</pre></td></tr></table>",
            "```\n# File a.rb\n\ndef rise\nend\n```",
        ),
        ('<p>A gauge<sup class="footnote">[<a id="r1" class="footnote" href="#d1">1</a>]</sup>.</p>', "A gauge."),
        (
            '<div class="nbinput docutils"><div class="prompt highlight-none"><pre>[1]:</pre></div>'
            '<div class="input_area highlight-ipython3"><div class="highlight"><pre>a = 1</pre></div></div></div>',
            "```ipython3\na = 1\n```",
        ),
        ('<p>See <a href="#x"><code>+</code></a>.</p>', "See [`+`](https://tides.example/#x)."),
        (
            '<header class="article-meta"><h5>Tags:</h5><a href="/tags/x">x</a></header><p class="reading-time">2</p>'
            '<p>One.</p><p class="feedback--question">Helpful?</p><p class="feedback--response">Thanks.</p>',
            "One.",
        ),
        (
            "<pre><table><tr><td class=ln-line data-n=1></td><td class=ln-line>a()</td></tr>"
            "<tr><td class=ln-line data-n=2></td><td class=ln-line>b()</td></tr></table></pre>",
            "```\na()\nb()\n```",
        ),
        ('<div class="nextra-breadcrumb">Guide</div><p>One.</p>', "One."),
    ],
)  # fmt: skip
def test_markup_becomes_text(tmp_path: Path, body: str, markdown: str) -> None:
    written(tmp_path, {"index.html": f"<meta charset=utf-8><main><h1>Tides</h1>{body}</main>"})
    (page,) = open_site(tmp_path, SiteOptions("https://tides.example/")).read()
    assert isinstance(page, Page)
    assert [each.markdown for each in page.sections] == [markdown]
