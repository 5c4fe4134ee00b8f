"""Reading and cutting built sites, beside LangChain's and LlamaIndex' readers on the same pages."""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.asking import ROOT
from benchmarks.functions import CACHE
from benchmarks.tables import table
from passage.sites import html
from passage.sites.built.document import Document
from passage.sites.built.generators import UNKNOWN, contents_of, generator_of
from passage.sites.built.noise import NOISE
from passage.sites.built.site import BuiltSite
from passage.sites.model import Page
from tools import artefact

PROBE = Path(__file__).with_name("site_probe.py")
READERS = {"passage": "passage", "langchain": "LangChain", "llama_index": "LlamaIndex"}
FALLBACK = ROOT / "tests" / "sites" / "pages"
_FENCE = re.compile(r"(?m)^[ >]*```.*$")
"""Code that was cut repeats its fence and language."""

SITE_URL = "https://docs.example.com/lanternfish/"
"""For sites that do not say where they are published."""

BLOCKS = "p, li, pre, td, th, dt, dd, h1, h2, h3, h4, h5, h6, summary"
"""Elements that a reader sees as one piece of text."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One reader's figures over all rounds.

    Attributes:
        pages_a_second: of processor time, of each round.
        memory: most memory of the process, megabytes, of each round.
        lost: text blocks of the pages' main content that are in none of its passages, of `blocks`.
        besides: the share of its passages' characters that is not in the main content: navigation, footers.
    """

    name: str
    pages: int
    pages_a_second: list[float]
    memory: list[float]
    blocks: int
    lost: int
    besides: float


def folders() -> list[Path]:
    """The built sites: those beside the checkout or in PASSAGE_BUILT_SITES, else the pages of the tests."""
    named = Path(os.environ.get("PASSAGE_BUILT_SITES", ROOT.parent / "shared" / "data" / "built"))
    holder = named if named.is_dir() else FALLBACK
    built = [each for each in sorted(holder.iterdir()) if each.is_dir() and not each.name.endswith("-source")]
    if not built:
        raise SystemExit(f"{holder} (PASSAGE_BUILT_SITES) has no folder: it must hold a folder for each built site.")
    return built


def measure(rounds: int, progress: Callable[[str], None]) -> list[Reading]:
    """Read all sites with each reader in turn, `rounds` times, each time in a new process."""
    plan = [(str(folder), SITE_URL if _needs_url(folder) else None, _files(folder)) for folder in folders()]
    packages = artefact.installed(ROOT / "requirements" / "peer-sites.txt", CACHE, Path(sys.executable))
    runs: dict[str, list[dict[str, object]]] = {name: [] for name in READERS}
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "plan.json"
        file.write_text(json.dumps(plan), encoding="utf-8")
        for number in range(rounds):
            progress(f"sites, round {number + 1} of {rounds}")
            for name, found in runs.items():
                found.append(_probe(name, file, packages))
    wanted = {f"{folder}/{file}": list(_blocks(Path(folder, file))) for folder, _, files in plan for file in files}
    return [_reading(name, found, wanted) for name, found in runs.items()]


def report(readings: list[Reading]) -> str:
    ours = median(readings[0].pages_a_second)
    rows = [
        [
            READERS[each.name],
            f"{median(each.pages_a_second):.0f}",
            f"{ours / median(each.pages_a_second):.2f}",
            f"{median(each.memory):.0f} MB",
            f"{each.lost} of {each.blocks}",
            f"{each.besides:.0%}",
        ]
        for each in readings
    ]
    return table(
        ["reader", "pages a CPU second", "passage is × as fast", "memory", "text blocks lost", "not the page's text"],
        rows,
    )


def _needs_url(folder: Path) -> bool:
    some = next(file for file in sorted(folder.rglob("*.html")) if file.name != "404.html")
    return not any(folder.glob("sitemap*.xml")) and b"canonical" not in some.read_bytes()


def _files(folder: Path) -> list[str]:
    """The files of the pages that are indexed; every reader is given these."""
    pages = [page for page in BuiltSite(folder, SITE_URL).read() if isinstance(page, Page)]
    return [
        f"{page.path}.html" if (folder / f"{page.path}.html").is_file() else f"{page.path}/index.html" for page in pages
    ]


def _probe(name: str, plan: Path, packages: Path) -> dict[str, object]:
    path = f"{ROOT / 'src'}" if name == "passage" else f"{packages}"
    environment = {**os.environ, "PYTHONPATH": path, "TIKTOKEN_CACHE_DIR": str(plan.parent)}
    done = subprocess.run(
        [sys.executable, str(PROBE), name, str(plan)], capture_output=True, text=True, check=False, env=environment
    )
    if done.returncode:
        raise SystemExit(f"{READERS[name]} failed:\n{done.stderr}")
    loaded: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return loaded


def _blocks(file: Path) -> Iterator[str]:
    """The letters and digits of each text block of a page's main content, as its HTML has them."""
    root = html.parse(file.read_bytes())
    contents, _ = contents_of(root, generator_of(Document(root)) or UNKNOWN, None)
    for content in contents:
        noise = {html.key(node) for node in html.select(content, ", ".join(NOISE.values()))}
        for node in html.select(content, BLOCKS):
            around = {html.key(each) for each in (node, *html.ancestors(node))}
            inner = [each for each in html.select(node, BLOCKS) if html.key(each) != html.key(node)]
            if not around & noise and not inner and (letters := _letters(_text(node, noise))):
                yield letters


def _text(node: html.Node, noise: set[int]) -> str:
    if html.key(node) in noise:
        return ""
    return html.own_text(node) if not html.tag(node) else "".join(_text(each, noise) for each in html.children(node))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _reading(name: str, runs: list[dict[str, object]], wanted: dict[str, list[str]]) -> Reading:
    texts: dict[str, list[str]] = runs[-1]["texts"]  # type: ignore[assignment]  # as the probe writes it
    told = {page: _letters(_FENCE.sub("", "\n".join(parts))) for page, parts in texts.items()}
    lost = sum(block not in told.get(page, "") for page, blocks in wanted.items() for block in blocks)
    content = sum(len(block) for blocks in wanted.values() for block in blocks)
    total = sum(map(len, told.values()))
    return Reading(
        name=name,
        pages=len(wanted),
        pages_a_second=[len(wanted) / float(str(run["seconds"])) for run in runs],
        memory=[float(str(run["memory"])) for run in runs],
        blocks=sum(map(len, wanted.values())),
        lost=lost,
        besides=max(0.0, 1 - content / total) if total else 0.0,
    )
