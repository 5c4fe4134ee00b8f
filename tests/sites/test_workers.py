"""Pages are read and cut by several processes, and from the cache, with the results of one process without one."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from handler.config import profiles
from passage.indexing.cutting import cut_by
from passage.indexing.run import WITHOUT_VECTORS
from passage.sites import result_cache, workers
from passage.sites.built import site as built
from passage.sites.model import Page
from passage.sites.result_cache import FILE, ResultCache
from passage.sites.source import SiteOptions, open_site
from passage.sites.workers import Workers
from sites.worked import items_of, killed_elsewhere, shouted

PROFILE = profiles.load("query-response")
MENU = "<nav>Home</nav><div><a href='a.html'>The mill</a> <a href='b.html'>The sails</a></div>"
PAGE = "<!doctype html><html lang=en><title>{n} of the mill</title>{menu}<main><h1>Part {n}</h1><p>{text}</p></main>"
TEXT = "Grain number {n} is ground between stones, and \u00e9very miller knows the sound of it.<h2>More</h2><p>Of {n}."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Pages with a menu; one is damaged, one empty, one repeats another."""
    folder = tmp_path / "site"
    folder.mkdir()
    for number in range(9):
        text = TEXT.format(n=0 if number == 8 else number)
        (folder / f"p{number}.html").write_text(PAGE.format(n=0 if number == 8 else number, menu=MENU, text=text))
    (folder / "latin.html").write_bytes(PAGE.format(n="x", menu=MENU, text=TEXT).encode("latin-1"))
    (folder / "empty.html").write_text("<title>Nothing</title>")
    return folder


def read(folder: Path, worked: Workers, language: str | None = None) -> list[object]:
    """Everything that a reader and the cutter give, with the accounts that `==` does not compare."""
    with worked:
        site = open_site(folder, SiteOptions("https://mill.example", language=language), worked)
        pairs = list(cut_by(worked, site.read(), PROFILE, WITHOUT_VECTORS))
    return [(each, getattr(each, "account", None), chunks) for each, chunks in pairs]


def test_all_ways_to_read_a_site_give_the_same(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = read(folder, Workers(processes=1))
    assert sum(isinstance(each[0], Page) for each in alone) == 9
    monkeypatch.setattr(workers, "FEWEST_BYTES", 1)
    monkeypatch.setattr(workers, "_JOB_ITEMS", 2)
    assert read(folder, Workers(processes=2)) == alone
    cached = [read(folder, Workers(ResultCache(tmp_path / "cache"), 2)) for _ in range(2)]
    assert cached == [alone, alone]


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that are read from now on."""
    files: list[str] = []
    page = built._page

    def noted(file: str, *more: object) -> object:
        files.append(file)
        return page(file, *more)  # type: ignore[arg-type]  # passed on as they came

    monkeypatch.setattr(built, "_page", noted)
    return files


def test_only_changed_pages_are_read_again(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = counted(monkeypatch)
    read(folder, Workers(ResultCache(tmp_path), 1))
    assert len(files) == 11
    changed = folder / "p3.html"
    changed.write_text(changed.read_text().replace("miller", "baker"))
    files.clear()
    with_cache = read(folder, Workers(ResultCache(tmp_path), 1))
    assert files == ["p3.html"]
    assert with_cache == read(folder, Workers(processes=1))


@pytest.mark.parametrize("seed", range(4))
def test_cached_run_gives_what_a_fresh_one_gives(folder: Path, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - the same edits in each run
    for _ in range(8):
        pages = sorted(folder.glob("p*.html"))
        page = chance.choice(pages)
        text = page.read_text()
        match chance.choice(("word", "copy", "language", "menu", "delete", "nothing")):
            case "word":
                page.write_text(text.replace("miller", "baker"))
            case "copy":
                page.with_name(f"p{chance.randrange(12)}.html").write_text(text)
            case "language":
                page.write_text(text.replace("lang=en", "lang=de"))
            case "menu":
                for each in pages:
                    each.write_text(each.read_text().replace("The sails", "The wings"))
            case "delete" if len(pages) > 4:
                page.unlink()
        language = chance.choice((None, "en"))
        cached = read(folder, Workers(ResultCache(tmp_path / "cache"), 1), language)
        assert cached == read(folder, Workers(processes=1), language)


def test_other_options_and_other_code_read_again(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = counted(monkeypatch)
    for selector, code in (("main", b"1"), ("main", b"1"), ("p", b"1"), ("p", b"2")):
        monkeypatch.setattr(result_cache, "code_version", lambda code=code: code)
        with Workers(ResultCache(tmp_path), 1) as worked:
            list(open_site(folder, SiteOptions("https://mill.example", selector), worked).read())
    assert len(files) == 3 * 11


def overwritten(file: Path) -> None:
    file.write_bytes(b"no database" * 100)


def cut_off(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:4096])


def changed_entries(file: Path) -> None:
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE result SET content = substr(content, 1, 40) || 'x'")


def read_only(file: Path) -> None:
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("DELETE FROM result")
        database.execute("CREATE TRIGGER full BEFORE INSERT ON result BEGIN SELECT RAISE(FAIL, 'disk is full'); END")


@pytest.mark.parametrize("damage", [overwritten, cut_off, changed_entries, read_only])
def test_damaged_cache_changes_nothing(folder: Path, tmp_path: Path, damage: Callable[[Path], None]) -> None:
    alone = read(folder, Workers(ResultCache(tmp_path), 1))
    damage(tmp_path / FILE)
    assert read(folder, Workers(ResultCache(tmp_path), 1)) == alone


def test_cache_keeps_the_entries_used_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_cache, "MOST_BYTES", 20)
    for day, key in enumerate([b"a", b"b", b"a", b"c"]):
        monkeypatch.setattr(time, "time", lambda day=day: day * 24 * 60 * 60)
        cache = ResultCache(tmp_path)
        if not cache.get([key]):
            cache.put({key: key * 10})
        cache.close()
    assert ResultCache(tmp_path).get([b"a", b"b", b"c"]) == {b"a": b"a" * 10, b"c": b"c" * 10}


def test_killed_process_costs_no_result() -> None:
    given = items_of("mill", "sail", "stone")
    with Workers(processes=2) as worked:
        assert list(worked.run(killed_elsewhere, "!", given)) == [b"MILL!", b"SAIL!", b"STONE!"]
        assert list(worked.run(shouted, "?", given)) == [b"MILL?", b"SAIL?", b"STONE?"]


@pytest.mark.parametrize(
    ("threads", "method"), [(0, "fork" if Path("/proc/self/task").is_dir() else "spawn"), (1, "spawn")]
)
def test_process_with_threads_is_not_copied(threads: int, method: str) -> None:
    code = f"""
import signal, threading
from passage.sites import workers
from sites.worked import items_of, killed_elsewhere
signal.signal(signal.SIGTERM, signal.default_int_handler)
for _ in range({threads}):
    threading.Thread(target=threading.Event().wait, daemon=True).start()
with workers.Workers(processes=2) as worked:
    print(workers._start_method(), list(worked.run(killed_elsewhere, "!", items_of("mill", "sail", "stone"))))
"""
    run = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[1], capture_output=True, check=True)
    assert run.stdout.decode() == f"{method} [b'MILL!', b'SAIL!', b'STONE!']\n"
    assert run.stderr == b""


@pytest.mark.parametrize("stop", ["SIGINT", "SIGTERM"])
def test_signal_between_two_processes_ends_both(stop: str) -> None:
    code = f"""
import os, signal
from passage.sites import workers
from sites.worked import items_of, shouted
signal.signal(signal.SIGTERM, signal.default_int_handler)
fork, made = os.fork, []
def interrupted():
    made.append(fork())
    if made[-1] and len(made) == 2:
        os.kill(os.getpid(), signal.{stop})
    return made[-1]
os.fork = interrupted
with workers.Workers(processes=2) as worked:
    print(list(worked.run(shouted, "!", items_of("mill"))))
"""
    program = [sys.executable, "-c", code]
    run = subprocess.run(program, cwd=Path(__file__).parents[1], capture_output=True, check=False, timeout=60)
    assert -run.returncode == signal.SIGINT, "Python ends so after a KeyboardInterrupt that nothing catches"
    assert (run.stdout, run.stderr.count(b"Traceback")) == (b"", 1)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_ended_run_leaves_no_process(tmp_path: Path, how: signal.Signals) -> None:
    program = [sys.executable, "-m", "sites.worked", str(tmp_path)]
    run = subprocess.Popen(program, cwd=Path(__file__).parents[1], start_new_session=True, stderr=subprocess.DEVNULL)
    try:
        while len(list(tmp_path.iterdir())) < 2:
            assert run.poll() is None
            time.sleep(0.02)
        run.send_signal(how)
        run.wait(60)
        with suppress(ProcessLookupError):
            while True:
                os.killpg(run.pid, 0)
                time.sleep(0.02)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)
