"""Markup that only Sphinx writes: entries, field lists, terms with types, citations, numbered equations."""

from pathlib import Path

import pytest

from passage.sites.model import Page, Section
from passage.sites.source import SiteOptions, open_site
from sites.reading import written


def sections(folder: Path, body: str, page: str = "<div role=main class=body><h1>Tides</h1>{}</div>") -> list[Section]:
    written(folder, {"index.html": f"<html data-content_root=./><meta charset=utf-8>{page.format(body)}</html>"})
    (read,) = open_site(folder, SiteOptions("https://tides.example/")).read()
    assert isinstance(read, Page)
    return list(read.sections)


@pytest.mark.parametrize(
    ("body", "markdown"),
    [
        (
            '<dl class="simple"><dt><strong>url</strong><span class="classifier">str, optional</span></dt>'
            "<dd><p>The gauge.</p></dd></dl>",
            "**url : str, optional**\n\nThe gauge.",
        ),
        (
            '<dl><dt>url <span class="classifier-delimiter">:</span> <span class="classifier">str</span></dt></dl>',
            "**url : str**",
        ),
        (
            '<div class="math" id="e"><span class="eqno">(1)<a class="headerlink" href="#e">\u00b6</a></span>'
            "\\[h = a\\]</div>",
            "$$\nh = a\n$$",
        ),
        (
            '<div class="citation" role="doc-biblioentry"><span class="label"><span>[</span>'
            '<a role="doc-backlink" href="#r">Doo66</a><span>]</span></span><p>A manual.</p></div>',
            "[[Doo66](https://tides.example/#r)]\n\nA manual.",
        ),
        (
            '<aside class="footnote brackets" role="doc-footnote"><span class="label"><span>[</span>'
            '<a role="doc-backlink" href="#r">1</a><span>]</span></span><p>A note.</p></aside>',
            "A note.",
        ),
        ('<ol><li id="f"><p>A note. <a href="#r">\u21a9</a></p></li></ol>', "1. A note."),
        ('<p class="rubric">Examples</p><p>One.</p>', "**Examples**\n\nOne."),
    ],
)
def test_markup_becomes_text(tmp_path: Path, body: str, markdown: str) -> None:
    assert [each.markdown for each in sections(tmp_path, body)] == [markdown]


def test_the_section_with_the_title_is_the_content_in_any_theme(tmp_path: Path) -> None:
    page = "<div><section><h1>Tides</h1>{}</section></div><ul><li><a href=a.html>A</a></ul>"
    assert [each.markdown for each in sections(tmp_path, "<p>High.</p>", page)] == ["High."]


@pytest.mark.parametrize("sign", ["#", "\uf0c1", "\u00b6"])
def test_every_signature_of_an_entry_is_code(tmp_path: Path, sign: str) -> None:
    name = '<span class="sig-name descname"><span class="pre">read</span></span>'
    link = f'<a class="headerlink" href="#tide%2Eread">{sign}</a>'
    first = f'<dt class="sig sig-object py" id="tide.read">{name}<span>()</span>{link}</dt>'
    second = f'<dt class="sig sig-object py">{name}<span>(</span><em>count</em><span>)</span></dt>'
    (section,) = sections(tmp_path, f'<dl class="py method">{first}{second}<dd><p>Reads.</p></dd></dl>')
    assert (section.headings, section.anchor) == (("Tides", "read"), "tide.read")
    assert section.markdown == "`read()`\n\n`read(count)`\n\nReads."


@pytest.mark.parametrize(
    ("signature", "name"),
    [
        (
            '<span class="sig-name descname">-v</span><span class="sig-prename descclassname"></span>'
            '<span class="sig-prename descclassname">, </span><span class="sig-name descname">--verbose</span>',
            "-v, --verbose",
        ),
        (
            'template&lt;typename <span class="sig-name descname">T</span>&gt;<br><span>class</span> '
            '<span class="sig-prename descclassname">tide::</span><span class="sig-name descname">Lamp</span><br>',
            "tide::Lamp",
        ),
    ],
)
def test_the_name_of_an_entry_is_its_own(tmp_path: Path, signature: str, name: str) -> None:
    entry = f'<dl class="std"><dt class="sig sig-object std" id="lamp">{signature}</dt><dd>More.</dd></dl>'
    assert sections(tmp_path, entry)[0].headings == ("Tides", name)
