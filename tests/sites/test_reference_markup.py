"""API references in the markup of other versions than tests/generators builds."""

from pathlib import Path

import pytest

from passage.sites.model import Page
from passage.sites.source import SiteOptions, open_site
from sites.reading import written

OLD_JAVADOC = """<link rel=stylesheet href="../stylesheet.css" title="Style"><main>
<div class="header"><h2 class="title">Class Lamp</h2></div>
<ul class="inheritance"><li>java.lang.Object</li></ul>
<div class="description"><ul class="blockList"><li class="blockList"><hr>
<pre>public class <a href="src-html/Lamp.html">Lamp</a>\nextends java.lang.Object</pre><div>Burns oil.
<h4>Usage</h4><pre>Lamp lamp;\nlamp.ignite();</pre></div>
</li></ul></div>
<div class="summary"><table class="memberSummary"><tr><td><a href="#ignite(int)">ignite</a></td></tr></table></div>
<ul class="blockList"><li class="blockList"><a id="method.detail"><!-- --></a><h3>Method Detail</h3>
<a id="&lt;init&gt;(int)"><!-- --></a><ul class="blockList"><li class="blockList"><h4>Lamp</h4>
<pre>public&nbsp;Lamp\u200b(int&nbsp;oil,\n            <a href="x">Flame</a>&nbsp;flame)</pre><div>Fills it.</div>
</li></ul>
<a id="ignite(int)"><!-- --></a><ul class="blockListLast"><li class="blockList"><h4>ignite</h4>
<pre class="methodSignature">void&nbsp;ignite\u200b(int&nbsp;seconds)</pre><div>Lights it.</div></li></ul></li>
</ul></main>"""

OLD_RUSTDOC = """<meta name=generator content=rustdoc><section id="main-content"><h1 class="fqn">
<span class="in-band">Struct
<a href="index.html">lamp</a>::<wbr><a class="struct" href="#">Lamp</a></span>
<span class="out-of-band">source</span></h1>
<div class="item-decl"><pre><code>pub struct Lamp { /* private */ }</code></pre></div><p>Burns oil.</p>
<h2 id="examples"><a href="#examples">\u00a7</a>Examples</h2><p>Light it.</p>
<h2 id="impls">Implementations</h2>
<details open><summary><section id="impl" class="impl"><h3 class="code-header in-band">impl Lamp</h3>
</section></summary>
<details open><summary><section id="method.snuff"><div class="rightside">1.1 <a href="../src/l.rs.html">source</a></div>
<a href="#method.snuff" class="anchor"></a><h4 class="code-header">fn <a href="#method.snuff">snuff</a>()
</h4></section></summary>
<div class="docblock"><p>Snuffs it.</p><h5 id="panics"><a href="#panics">Panics</a></h5><p>Never.</p>
<a class="test-arrow" href="https://play.example/?code=fn">Run</a></div></details></details>
<details open><summary><section id="impl-Debug" class="impl"><h3 class="code-header">impl Debug for Lamp</h3>
<span class="item-info">Available on crate feature std only.</span></section></summary></details>
<details open><summary><section id="method.fmt" class="method trait-impl"><h4 class="code-header">fn
<a href="https://doc.example/fmt">fmt</a>()</h4></section></summary><div class="docblock"><p>Formats it.
<a href="https://doc.example/fmt">Read more</a></p></div></details></section>"""

OLD_TYPEDOC = """<div class="col-content"><div class="tsd-page-title"><h1>Class Lamp</h1></div>
<h2>Members</h2>
<section class="tsd-panel tsd-member"><a id="oil"></a><h3><span class="tsd-flag">Optional</span> oil</h3>
<div class="tsd-signature">oil?: number</div></section>
<section class="tsd-panel tsd-member"><h3 id="ignite">ignite</h3><ul class="tsd-signatures">
<li class="tsd-signature" id="ignite">ignite<span class="tsd-signature-symbol">(</span><br>  done: Done,<br>)</li>
<li class="tsd-description"><p>Lights it.</p><h4>Parameters</h4><ul><li>done<ul class="tsd-signatures">
<li class="tsd-signature" id="__type">(): void</li></ul></li></ul></li>
<li class="tsd-signature" id="ignite-1">ignite(): void</li><li class="tsd-description"><p>Lights it now.</p></li></ul>
</section></div>"""

CALLABLE = """<div class="col-content"><div class="tsd-page-title"><h1>Interface Lamp</h1></div>
<section class="tsd-panel"><div class="tsd-signature">interface Lamp {<br>  oil: number;<br>}</div></section>
<section class="tsd-panel"><h4>Type Parameters</h4><ul><li>T</li></ul></section>
<section class="tsd-panel"><ul class="tsd-signatures"><li><div class="tsd-signature" id="lamp">Lamp(x: T): void</div>
<div class="tsd-description"><h4>Returns</h4></div></li></ul></section>
<h2 id="properties">Properties</h2><section class="tsd-panel tsd-member"><h3 id="oil">oil</h3>
<div class="tsd-signature">oil: number</div></section><section class="tsd-panel tsd-member"><h3 id="errors">errors</h3>
<div class="tsd-signature">errors: string</div></section></div>"""

OVERLOADS = """<div class="col-content"><div class="tsd-page-title"><h1>Function light</h1></div>
<section class="tsd-panel"><h4>Implements</h4><ul class="tsd-hierarchy"><li>Lights</li></ul></section>
<div class="tsd-comment"><div class="tsd-tag-see"><h4 id="see">See</h4><p>The wick.</p></div></div>
<section class="tsd-panel"><ul class="tsd-signatures">
<li><div class="tsd-signature" id="light">light(): {<br>  oil: number;<br>}</div><div class="tsd-description">
<h4>Returns</h4><p>Oil.</p>
<div class="tsd-tag-deprecated"><h4 id="deprecated">Deprecated</h4><p>Wait.</p></div></div></li>
<li><div class="tsd-signature" id="light-1">light(oil: T): void</div><div class="tsd-description"><section>
<h4>Type Parameters</h4><ul><li>T</li></ul></section></div></li></ul></section></div>"""

BRIEF = """<meta name=generator content="Doxygen 1.9"><div class="header">
<div class="title">Lamp Class Reference<span class="mlabels">final</span>
<div class="ingroups"><a href="g.html">Light</a></div></div></div>
<div class="contents"><p>Burns oil. <a href="#details">More...</a></p>
<table class="memberdecls">
<tr><td><h2>Attributes</h2></td></tr><tr><td class="memItemRight"><a href="#wick">wick</a></td></tr>
<tr><td class="memItemLeft">int</td><td class="memItemRight"><b>oil</b></td></tr>
<tr><td class="memItemLeft">enum</td><td class="memItemRight"><a href="#flame">Flame</a> { <b>LOW</b> }</td></tr>
<tr class="inherit"><td class="memItemLeft">int</td><td class="memItemRight"><b>glow</b></td></tr></table>
<a name="details" id="details"></a><h2>Detailed Description</h2>
<div class="textblock">
<div class="compoundTemplParams">template&lt;class T&gt;<br>class Lamp&lt; T &gt;</div>
<p>Burns oil.</p><p>Ask oil<span class="obfuscator">.nosp@m.</span>@lamp.example.</p>
<div class="fragment"><div class="line">Lamp lamp;</div>\n<div class="line">lamp.ignite();</div></div></div>
<hr>The documentation for this class was generated from the following file:<ul><li>lamp.h</li></ul></div>"""

GUIDE = """<meta name=generator content="Doxygen 1.9"><div class="header"><div class="title">Lamps</div></div>
<div class="contents"><div class="textblock"><p>Intro.</p><h1><a class="anchor" id="oil"></a>Oil</h1><p>Burns.</p>
<h1><a class="anchor" id="wick"></a>Wick</h1><p>Glows.</p></div></div>"""

PDOC = """<meta name=generator content="pdoc 16"><main class="pdoc"><section class="module-info"><h1 class="modulename">
lamp</h1><div class="docstring"><h1 id="start">Start</h1><p>Lamps.</p></div></section><section id="trim">
<div class="attr function">def <span class="name">trim</span>()</div>
<div class="docstring">Trims.</div></section></main>"""

PDOC3 = """<main><article><h1>Module lamp</h1><dl><dt id="lamp.trim"><code class="name flex"><span>def
<span class="ident">trim</span></span>(<span>mm: int)</span></code></dt><dd><details class="source"><summary>
<span>Expand source code</span></summary><pre><code>def trim(mm):</code></pre></details><p>Trims.</p></dd></dl>
<h3>Inherited members</h3><ul>
<li><code><a href="x.html#x.dry">dry</a></code>:</li><li><a href="x.html#x.wet">wet</a></li></ul>
<h3>Methods inherited from <a href="x.html">Wick</a></h3><p><a href="x.html#x.cut">cut</a></p></article></main>"""

CRYSTAL = """<main><h1>Lamp</h1><h2 id="methods">Methods</h2>
<div id="snuff(now):Nil-instance-method"><div class="signature">
def <strong>snuff</strong>(now) : Nil <a href="#snuff%28now%29%3ANil-instance-method">#</a></div>
<div>Snuffs it.</div></div></main>"""

HEADINGS = """<main><h1>Lamp</h1><h2 id="lamp.Lamp.ignite"><code>ignite(oil: int) -&gt; float</code></h2>
<p>Lights it.</p><h2 id="snuff-instance_method">#snuff(now) \u21d2 nil</h2><p>Snuffs it.</p>
<h2 id="trim">trim()</h2><p>Trims.</p></main>"""


@pytest.mark.parametrize(
    ("page", "title", "sections"),
    [
        (
            OLD_JAVADOC,
            "Class Lamp",
            [
                (
                    "",
                    "`public class Lamp extends java.lang.Object`\n\nBurns oil.\n\n**Usage**\n\n"
                    "```\nLamp lamp;\nlamp.ignite();\n```",
                ),
                ("<init>(int)", "`public Lamp(int oil, Flame flame)`\n\nFills it."),
                ("ignite(int)", "`void ignite(int seconds)`\n\nLights it."),
            ],
        ),
        (
            OLD_RUSTDOC,
            "Struct lamp::Lamp",
            [
                ("main-content", "`pub struct Lamp { /* private */ }`\n\nBurns oil.\n\n**Examples**\n\nLight it."),
                ("method.snuff", "`fn snuff()`\n\nSnuffs it.\n\n**Panics**\n\nNever."),
            ],
        ),
        (
            OLD_TYPEDOC,
            "Class Lamp",
            [
                ("oil", "`oil?: number`"),
                ("ignite", "`ignite(done: Done)`\n\nLights it.\n\n**Parameters**\n\n- done\n\n  (): void"),
                ("ignite-1", "`ignite(): void`\n\nLights it now."),
            ],
        ),
        (
            CALLABLE,
            "Interface Lamp",
            [
                ("", "```\ninterface Lamp {\n  oil: number;\n}\n```\n\n**Type Parameters**\n\n- T"),
                ("lamp", "`Lamp(x: T): void`\n\n**Returns**"),
                ("oil", "`oil: number`"),
                ("errors", "`errors: string`"),
            ],
        ),
        (
            OVERLOADS,
            "Function light",
            [
                ("", "**See**\n\nThe wick."),
                ("light", "`light(): { oil: number; }`\n\n**Returns**\n\nOil.\n\n**Deprecated**\n\nWait."),
                ("light-1", "`light(oil: T): void`\n\n**Type Parameters**\n\n- T"),
            ],
        ),
        (
            HEADINGS,
            "Lamp",
            [
                ("lamp.Lamp.ignite", "`ignite(oil: int) -> float`\n\nLights it."),
                ("snuff-instance_method", "`#snuff(now) \u21d2 nil`\n\nSnuffs it."),
                ("trim", "Trims."),
            ],
        ),
        (GUIDE, "Lamps", [("", "Intro."), ("oil", "Burns."), ("wick", "Glows.")]),
        (PDOC, "lamp", [("start", "Lamps."), ("trim", "`def trim()`\n\nTrims.")]),
        (CRYSTAL, "Lamp", [("snuff(now):Nil-instance-method", "`def snuff(now) : Nil`\n\nSnuffs it.")]),
        (PDOC3, "Module lamp", [("lamp.trim", "`def trim(mm: int)`\n\nTrims.")]),
        (
            BRIEF,
            "Lamp Class Reference",
            [
                (
                    "",
                    "|  |  |\n| --- | --- |\n| int | **oil** |\n\n`template<class T> class Lamp< T >`\n\n"
                    "Burns oil.\n\nAsk oil@lamp.example.\n\n"
                    "```\nLamp lamp;\nlamp.ignite();\n```",
                )
            ],
        ),
    ],
)
def test_entries_in_older_markup(tmp_path: Path, page: str, title: str, sections: list[tuple[str, str]]) -> None:
    written(tmp_path, {"lamp.html": f"<!doctype html><title>Lamp</title>{page}"})
    (read,) = open_site(tmp_path, SiteOptions("https://lamp.example/")).read()
    assert isinstance(read, Page)
    assert read.title == title
    assert [(section.anchor, section.markdown) for section in read.sections] == sections
    assert all("Start" not in section.headings for section in read.sections if section.anchor != "start")


@pytest.mark.parametrize(
    "signature",
    [
        "<h4 id=snuff>snuff<span class=signature>(now)</span><span class=type-signature>: Nil</span></h4>",
        "<span id=snuff class=structfield><code>snuff(now): Nil</code></span>",
        "<a name=snuff> </a><div>snuff<span class=function-signature><span>(now)</span>: Nil</span></div>",
    ],
)
def test_a_span_is_a_part_of_the_signature_around_it(tmp_path: Path, signature: str) -> None:
    page = f"<main><h1>Lamp</h1><p>Burns oil.<h2>Methods</h2>{signature}<p>Ends it.<h5>Returns:</h5><p>Nothing.</main>"
    written(tmp_path, {"lamp.html": f"<!doctype html>{page}"})
    (read,) = open_site(tmp_path, SiteOptions("https://lamp.example/")).read()
    assert isinstance(read, Page)
    last = read.sections[-1]
    assert (last.headings, last.anchor) == (("Lamp", "Methods", "snuff"), "snuff")
    assert last.markdown == "`snuff(now): Nil`\n\nEnds it.\n\n**Returns:**\n\nNothing."


TODO = """<meta name=generator content="Doxygen 1.9"><div class="header"><div class="title">Todo List</div></div>
<div class="contents"><div class="textblock">
<dl class="reflist"><dt>Class Lamp</dt><dd>More oil.</dd></dl></div></div>"""


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("wick-trim_8c_source", BRIEF),
        ("api/wick_8hpp_source", BRIEF),
        ("class_lamp-members", BRIEF),
        ("dir_0a1b", BRIEF),
        ("a00012", TODO),
    ],
)
def test_listings_of_doxygen_are_left_out(tmp_path: Path, name: str, page: str) -> None:
    written(tmp_path, {"lamp.html": f"<!doctype html>{BRIEF}", f"{name}.html": f"<!doctype html>{page}"})
    pages = open_site(tmp_path, SiteOptions("https://lamp.example/")).read()
    assert [each.path for each in pages if isinstance(each, Page)] == ["lamp"]
