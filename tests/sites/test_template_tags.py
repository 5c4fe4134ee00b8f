"""Sources of Hugo, Jekyll and GitBook: template tags never show, and the text between them stays."""

from pathlib import Path

import pytest

from sites.reading import Reading, read, written

URL = "https://mill.example.com"


def page(folder: Path, text: str, *others: tuple[str, str]) -> Reading:
    return read(written(folder, {"page.md": text, **dict(others)}), URL)


@pytest.mark.parametrize(
    ("source", "markdown"),
    [
        ('{{% alert title="Wind" color="x" %}}\nStop `it`.\n{{% /alert %}}', "**Wind**\n\nStop `it`."),
        ('{{% notice warning "Hot stones" %}}\nStop.\n{{% /notice %}}', "**Hot stones**\n\nStop."),
        ("{{< note >}}Stop.{{< /note >}}", "**Note** Stop."),
        ('{{< tabs >}}\n{{% tab "pip" %}}\nOne.\n{{% /tab %}}\n{{< /tabs >}}', "**pip**\n\nOne."),
        ('{% tab title="npm" %}\nOne.\n{% endtab %}', "**npm**\n\nOne."),
        ('{% callout type="x" title="Wind" %}\nStop.\n{% /callout %}', "**Wind**\n\nStop."),
        ('{{< figure src="/a.png" alt="A mill" caption="*Built* 1790" >}}', f"![A mill]({URL}/a.png) *Built* 1790"),
        ('1. One:\n\n   {{< x >}}\n   Two.\n   {{< /x >}}', "1. One:\n\n   Two."),
        ("{{< highlight go >}}\na := `b`\n{{< /highlight >}}", "```go\na := `b`\n```"),
        ("{% highlight ruby linenos %}\nputs 1\n{% endhighlight %}", "```ruby\nputs 1\n```"),
        ("{% raw %}\n`{{ site.name }}`\n{% endraw %}", "`{{ site.name }}`"),
        ("```\n{% if x %}\n{{</* figure */>}}\n```", "```\n{% if x %}\n{{< figure >}}\n```"),
        ("One.{% comment %} Not this. {% endcomment %} Two.", "One. Two."),
        ('See [a]({{< ref "b.md" >}}) and [b]({% link b.md %}#x).', f"See a and [b]({URL}/b/#x)."),
        ('[a]({{ "/b" | relative_url }}){: .btn }, [b]({{ site.baseurl }}/b){: #x }.', f"[a]({URL}/b), [b]({URL}/b)."),
        ("{: .note }\n> Stop.", "> Stop."),
        ("* TOC\n{:toc}\n\nOne {{ two }} 50% {three}.", "One {{ two }} 50% {three}."),
    ],
)  # fmt: skip
def test_text_of_tags_stays_and_tags_go(tmp_path: Path, source: str, markdown: str) -> None:
    reading = page(tmp_path, source, ("b.md", "B."))
    assert reading.pages["page"].sections[0].markdown == markdown
    assert reading.unresolved == []


def test_attributes_below_a_heading_are_its_own(tmp_path: Path) -> None:
    (section,) = page(tmp_path, "# Mill\n{: .no_toc }\n\n## Sails\n{: #cloth .x }\n\nFour.").pages["page"].sections
    assert (section.headings, section.anchor, section.markdown) == (("Mill", "Sails"), "cloth", "Four.")


def test_tags_whose_text_only_the_build_writes_are_listed(tmp_path: Path) -> None:
    text = '{{< youtube x >}}{% include a.md %}{% for mill in site.mills %}{{ mill }}{% endfor %}{{< ref "b" >}}'
    reading = page(tmp_path, f"One.\n\n{text}")
    assert [each.what for each in reading.unresolved] == ["tag youtube", "tag include", "tag for"]


@pytest.mark.parametrize(
    ("configuration", "source", "url"),
    [
        ("hugo.toml", "content/guide/sails.md", "guide/sails/"),
        ("hugo.toml", "content/guide/_index.md", "guide/"),
        ("_config.yml", "guide/sails.md", "guide/sails.html"),
        ("book.toml", "src/guide/sails.md", "guide/sails.html"),
        ("conf.py", "guide/sails.md", "guide/sails.html"),
        ("astro.config.mjs", "src/content/docs/guide/sails.md", "guide/sails/"),
        ("zensical.toml", "docs/guide/sails.md", "guide/sails/"),
    ],
)
def test_a_configuration_that_is_not_read_is_listed(tmp_path: Path, configuration: str, source: str, url: str) -> None:
    reading = read(written(tmp_path, {configuration: "", source: "Four."}), URL)
    assert list(reading.urls.values()) == [f"{URL}/{url}"]
    assert [each.what for each in reading.unresolved] == [f"configuration {configuration}"]
