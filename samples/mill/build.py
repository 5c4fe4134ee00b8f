"""Builds the handbook with real generators that Passage has no rules for, and checks what is read of each site.

    python samples/mill/build.py [GENERATOR…]      # from the project's root, with its Python; npm and a network

Every text of the source must be in a passage, below the right headings; nothing else may be, and every address and
anchor must exist. Each generator takes up to a minute; its packages are installed below .passage/mill once.
"""

import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from handbook import PAGES, headings, texts, title

import generators
from passage.sites import html
from passage.sites.model import Page
from passage.sites.source import SiteOptions, open_site

HERE = Path(__file__).resolve().parent
WORK = HERE.parents[1] / ".passage" / "mill"
KEPT = {"node_modules", "package-lock.json", "environment"}
SITE = "https://mill.example/"

STONES = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010804000000b51c0c020000000b4944415478da6364f80f00010501012718e366"
    "0000000049454e44ae426082"
)
"""A picture of one pixel."""


def built(name: str) -> Path:
    """Write the sources of one generator, install it, run it; its output."""
    generator = generators.ALL[name]
    folder = WORK / name
    folder.mkdir(parents=True, exist_ok=True)
    for old in {each.name for each in folder.iterdir()} - KEPT:
        shutil.rmtree(folder / old) if (folder / old).is_dir() else (folder / old).unlink()
    shutil.copytree(HERE / name, folder, dirs_exist_ok=True)
    for file, content in map(generator.write, PAGES):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(content, encoding="utf-8")
    (folder / generator.picture).parent.mkdir(parents=True, exist_ok=True)
    (folder / generator.picture).write_bytes(STONES)
    if (folder / "package.json").exists():
        if not (folder / "node_modules").exists():
            run(folder, "npm", "install", "--no-audit", "--no-fund", "--loglevel=error", *generator.install)
    elif not (folder / "environment").exists():
        run(folder, sys.executable, "-m", "venv", "environment")
        run(folder, "environment/bin/pip", "install", "-q", "-r", "requirements.txt")
    run(folder, *generator.command)
    return folder / generator.output


def run(folder: Path, *command: str) -> None:
    ended = subprocess.run(
        command, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    if ended.returncode:
        raise SystemExit(f"{' '.join(command)} in {folder} failed:\n{ended.stdout[-3000:]}")


def wrong(site: Path, unwritten: str) -> Iterator[str]:
    """What differs between the handbook and the pages that are read of a site.

    Args:
        unwritten: a text that the HTML lacks.
    """
    pages = [page for page in open_site(site, SiteOptions(SITE)).read() if isinstance(page, Page)]
    expected = {title(name): name for name in PAGES}
    known = letters(" ".join(text for name in PAGES for text in (title(name), *texts(name))))
    known += letters("count.py") + letters(" ".join(path[-1] for name in PAGES for path in headings(name)))
    for each, count in (Counter(expected.keys()) - Counter(page.title for page in pages)).items():
        yield f"page {each!r} is missing {count} times"
    for each, count in (Counter(page.title for page in pages) - Counter(expected.keys())).items():
        yield f"page {each!r} is read {count} times too often"
    for page in pages:
        name = page.title
        told = letters(plain("\n".join(section.markdown for section in page.sections)))
        if name not in expected:
            continue
        yield from (
            f"{name}: {text!r} is lost"
            for text in texts(expected[name])
            if letters(text) not in told and text != unwritten
        )
        paths = {*headings(expected[name]), (), (name, "Footnotes")}  # GitHub's Markdown puts a heading above them
        for section in page.sections:
            if section.headings not in paths and (name, *section.headings) not in paths:
                yield f"{name}: the headings {section.headings} are not in the handbook"
            for line in plain(section.markdown).split("\n"):
                if letters(line) not in known:
                    yield f"{name}: {line!r} is no text of the handbook"
        yield from dead(site, page)


def dead(site: Path, page: Page) -> Iterator[str]:
    """The address of a page, and the anchors of its passages, that do not exist."""
    path = page.url.removeprefix(SITE).rstrip("/")
    files = [site / f"{path}{end}" for end in ("", ".html", "/index.html")] + [site / "index.html"] * (not path)
    file = next((each for each in files if each.is_file()), None)
    if file is None:
        yield f"{page.title}: {page.url} does not exist"
        return
    root = html.parse(file.read_bytes())
    ids = {html.attribute(node, name) for node in html.select(root, "[id], [name]") for name in ("id", "name")}
    yield from (f"{page.title}: no #{each.anchor}" for each in page.sections if each.anchor and each.anchor not in ids)


def plain(markdown: str) -> str:
    """The words of Markdown."""
    return re.sub(r"```\w*|\\(begin|end)\{equation\*\}|\]\([^)]*\)|^\s*\d+\. ", " ", markdown, flags=re.MULTILINE)


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


def main(names: list[str]) -> int:
    bad = 0
    for name in names or list(generators.ALL):
        found = list(wrong(built(name), generators.ALL[name].unwritten))
        bad += len(found)
        print(f"{name}: {len(found)} wrong", *found, sep="\n  ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
