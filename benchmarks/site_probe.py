"""Reads and cuts the pages of built sites with one library, as a separate process: `site_probe.py READER PLAN`.

PLAN is a JSON file: `[[folder, url, [file, …]], …]`. Prints one line of JSON: processor seconds, megabytes (peak
resident memory) and the passages' texts by page. Only the reader's own libraries are imported.
"""

import json
import re
import resource
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from passage.indexing.chunks import Chunk

Texts = dict[str, list[str]]
"""The passages of each page, by folder and file."""

PASSAGE_CHARACTERS = 1_500
PASSAGE_WORDS = 250


def passage(folder: str, url: str, files: list[str]) -> Texts:
    from passage.indexing.chunks import cut
    from passage.sites.built.site import BuiltSite
    from passage.sites.model import Page

    names = {file.removesuffix(".html").removesuffix("/index"): file for file in files}
    pages = [page for page in BuiltSite(Path(folder), url).read() if isinstance(page, Page)]
    return {f"{folder}/{names[page.path]}": _told(cut([page])) for page in pages}


def _told(chunks: "Iterable[Chunk]") -> list[str]:
    """The passages' words, without the addresses of links, and the titles that stand above them."""
    from passage.indexing.blocks import without_addresses

    found = list(chunks)
    titles = dict.fromkeys(title for chunk in found for title in chunk.headings)
    return [*(without_addresses(chunk.text) for chunk in found), *titles]


def langchain(folder: str, url: str, files: list[str]) -> Texts:
    """Its HTML loader with lxml, and the splitter that its tutorials use."""
    from langchain_community.document_loaders import BSHTMLLoader
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(chunk_size=PASSAGE_CHARACTERS, chunk_overlap=0)
    found: Texts = {}
    for file in files:
        loader = BSHTMLLoader(f"{folder}/{file}", open_encoding="utf-8", bs_kwargs={"features": "lxml"})
        found[f"{folder}/{file}"] = [part.page_content for part in splitter.split_documents(loader.load())]
    return found


def llama_index(folder: str, url: str, files: list[str]) -> Texts:
    """Its HTML node parser, and its sentence splitter for long nodes; without the tables of tokens and sentences
    that it would download."""
    from llama_index.core.node_parser import HTMLNodeParser, SentenceSplitter
    from llama_index.core.schema import Document

    parser = HTMLNodeParser()
    splitter = SentenceSplitter(
        chunk_size=PASSAGE_WORDS,
        chunk_overlap=0,
        tokenizer=str.split,
        chunking_tokenizer_fn=lambda text: re.split(r"(?<=[.!?])\s+", text),
    )
    found: Texts = {}
    for file in files:
        document = Document(text=Path(folder, file).read_text(encoding="utf-8"))
        nodes = splitter.get_nodes_from_documents(parser.get_nodes_from_documents([document]))
        found[f"{folder}/{file}"] = [node.get_content() for node in nodes]
    return found


READERS: dict[str, Callable[[str, str, list[str]], Texts]] = {
    "passage": passage,
    "langchain": langchain,
    "llama_index": llama_index,
}


def main(reader: str, plan: str) -> None:
    sites = json.loads(Path(plan).read_text(encoding="utf-8"))
    read = READERS[reader]
    read(*sites[0])  # imports and tables are paid once, whatever the number of pages
    begun = time.process_time()
    texts: Texts = {}
    for folder, url, files in sites:
        texts |= read(folder, url, files)
    seconds = time.process_time() - begun
    print(json.dumps({"seconds": seconds, "memory": _peak(), "texts": texts}))


def _peak() -> float:
    """Most resident memory of this program, megabytes. Linux' getrusage would count its parent's as well."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(next(line.split()[1] for line in status.read_text().splitlines() if line.startswith("VmHWM"))) / 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


if __name__ == "__main__":
    main(*sys.argv[1:])
