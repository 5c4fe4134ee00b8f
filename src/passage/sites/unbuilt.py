"""Generators whose sources are not read: how to recognise them, the command that builds them, and where it writes.

A generator's plugins, components and themes decide about text, URLs and anchors, so only its build has them all.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_NESTED = ("docs", "website", "site", "documentation", "packages/*", "apps/*")
"""Folders of a repository that are searched for a configuration, after the top folder."""


@dataclass(frozen=True, slots=True)
class Unbuilt:
    """A generator.

    Attributes:
        signs: patterns of files in its folder of sources; of one sign, all must be there.
        command: builds the site, in that folder.
        output: the folder that is then the site, below that folder.
    """

    name: str
    signs: tuple[tuple[str, ...], ...]
    command: str
    output: str


GENERATORS = (
    Unbuilt("Docusaurus", (("docusaurus.config.*",),), "npm run build", "build"),
    Unbuilt("VitePress", ((".vitepress",),), "npx vitepress build", ".vitepress/dist"),
    Unbuilt("VuePress", ((".vuepress",),), "npx vuepress build", ".vuepress/dist"),
    Unbuilt("Rspress", (("rspress.config.*",),), "npx rspress build", "doc_build"),
    Unbuilt("Astro (Starlight)", (("astro.config.*",),), "npx astro build", "dist"),
    Unbuilt(
        "Next.js (Nextra, Fumadocs)",
        (("next.config.*", "theme.config.*"), ("next.config.*", "mdx-components.*"), ("source.config.*",)),
        "npx next build, with output: 'export'",
        "out",
    ),
    Unbuilt("Gatsby", (("gatsby-config.*",),), "npx gatsby build", "public"),
    Unbuilt("Eleventy", (("eleventy.config.*",), (".eleventy.js",)), "npx @11ty/eleventy", "_site"),
    Unbuilt("HonKit", (("book.json", "SUMMARY.md"),), "npx honkit build", "_book"),
    Unbuilt("Antora", (("antora-playbook.*",), ("antora.yml",)), "npx antora antora-playbook.yml", "build/site"),
    Unbuilt("Zensical", (("zensical.toml",),), "zensical build", "site"),
    Unbuilt("Jupyter Book", (("_toc.yml",),), "jupyter-book build .", "_build/html"),
    Unbuilt("MyST", (("myst.yml",),), "myst build --html", "_build/html"),
    Unbuilt("Pelican", (("pelicanconf.py",),), "pelican content", "output"),
    Unbuilt("Nikola", (("conf.py", "posts"),), "nikola build", "output"),
    Unbuilt("Sphinx", (("conf.py",),), "sphinx-build -b html . _build/html", "_build/html"),
    Unbuilt("mdBook", (("book.toml",),), "mdbook build", "book"),
    Unbuilt(
        "Hugo",
        (("hugo.toml",), ("hugo.yaml",), ("hugo.json",), ("config/_default",), ("config.toml", "archetypes")),
        "hugo",
        "public",
    ),
    Unbuilt("Jekyll", (("_config.yml",),), "bundle exec jekyll build", "_site"),
    Unbuilt("Quarto", (("_quarto.yml",),), "quarto render", "_site"),
)
"""The first match counts: the configuration of a generator may have the name of another one's."""


def generator_of(folder: Path) -> Unbuilt | None:
    """The generator whose sources a folder holds."""
    return next((each for each in GENERATORS if any(_matches(folder, sign) for sign in each.signs)), None)


def places(folder: Path) -> Iterator[Path]:
    """The folder, and those in it that may hold a site's configuration."""
    yield folder
    for pattern in _NESTED:
        yield from sorted(path for path in folder.glob(pattern) if path.is_dir())


def refusal(folder: Path, generator: Unbuilt) -> str:
    """The message about a folder of sources that must be built."""
    return (
        f"{folder} holds the sources of a site that {generator.name} builds: build it there ({generator.command}), "
        f"then index {folder / generator.output}."
    )


def _matches(folder: Path, sign: tuple[str, ...]) -> bool:
    return all(any(folder.glob(pattern)) for pattern in sign)
