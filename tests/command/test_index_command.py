"""The input, output and errors of `passage index`, run as a separate process."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from qdrant_client import QdrantClient

from command.passage_command import Done, Passage
from sites.reading import written
from tools.doubles import EmulatorServer, Fault, cohere_emulator
from tools.qdrant.emulator import qdrant_emulator

KEY = "a-key"


@pytest.fixture
def cohere() -> Iterator[EmulatorServer]:
    with cohere_emulator(api_key=KEY) as emulator:
        yield emulator


@pytest.fixture
def qdrant(tmp_path: Path) -> Iterator[EmulatorServer]:
    with qdrant_emulator(tmp_path / "storage") as emulator:
        yield emulator


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return written(tmp_path / "site", {"twin.md": "# Twins\n\nA digital twin mirrors an asset.\n"})


@pytest.fixture
def real(cohere: EmulatorServer, qdrant: EmulatorServer) -> dict[str, str]:
    """The variables of a server and of an embedding service with a key."""
    return {"COHERE_API_KEY": KEY, "COHERE_BASE_URL": cohere.url, "QDRANT_URL": qdrant.url}


@pytest.fixture
def index(site: Path, passage: Passage) -> Passage:
    """`passage index` for the site, with separate output folders."""
    folder = site.parent
    places = ("--out", str(folder / "index"), "--cache", str(folder / "cache"))

    def run(*arguments: str, **environment: str) -> Done:
        return passage("index", str(site), "--site-url", "https://e.org", *places, *arguments, **environment)

    return run


def test_server_index_rollback_and_profile_work_as_commands(
    index: Passage, passage: Passage, real: dict[str, str], qdrant: EmulatorServer
) -> None:
    first = index("--to", "qdrant", **real).ok()
    assert "1 page (1 added), 1 chunk (1 added)" in first.stderr
    index("--to", "qdrant", "--rebuild", **real).ok()
    listed = passage("rollback", "--list", **real).stdout.splitlines()
    assert [line.rpartition("  ")[2] for line in listed] == ["serving", "ready"]
    passage("rollback", **real).ok()
    client = QdrantClient(url=qdrant.url, check_compatibility=False)
    (alias,) = client.get_aliases().aliases
    client.close()
    assert alias.collection_name == listed[1].partition("  ")[0]
    drafted = passage("profile", "--from-qdrant", "rag_embeddings", **real).ok()
    assert 'text = ["text_content"]' in drafted.stdout


@pytest.mark.parametrize("target", [(), ("--to", "qdrant")])
def test_dry_run_prints_the_plan_with_its_cost(
    target: tuple[str, ...],
    site: Path,
    index: Passage,
    real: dict[str, str],
    cohere: EmulatorServer,
    qdrant: EmulatorServer,
) -> None:
    done = index("--dry-run", *target, **real).ok()
    assert "1 text with embed-v5.0-pro: about" in done.stderr
    assert "in 1 call," in done.stderr
    assert not (site.parent / "index" / "query-response").exists()
    assert cohere.requests == []
    assert {request.method for request in qdrant.requests} <= {"GET"}, "nothing is written"


def test_refused_key_is_named_without_a_traceback(index: Passage, real: dict[str, str]) -> None:
    done = index(**real | {"COHERE_API_KEY": "another"})
    assert done.returncode == 1
    assert "COHERE_API_KEY" in done.stderr.splitlines()[-1]


def test_server_elsewhere_without_the_real_key_is_refused(index: Passage) -> None:
    done = index("--to", "qdrant", QDRANT_URL="http://qdrant.invalid:6333")
    assert done.returncode == 1
    assert "COHERE_API_KEY" in done.stderr
    assert "Attempt" not in done.stderr, "no request is made"


def overwritten(path: Path) -> None:
    path.write_bytes(b"no database" * 100)


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:4096])


def full(path: Path) -> None:
    """As a full disk: rows can be read, but not written."""
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM vector")
        database.execute("CREATE TRIGGER full BEFORE INSERT ON vector BEGIN SELECT RAISE(FAIL, 'disk is full'); END")


@pytest.mark.parametrize("damage", [overwritten, cut_off, full])
def test_cache_that_fails_is_named_without_a_traceback(
    damage: Callable[[Path], None], site: Path, index: Passage
) -> None:
    index().ok()
    damage(site.parent / "cache" / "vectors.sqlite")
    done = index("--rebuild", "--out", str(site.parent / "another"))
    assert done.returncode == 1
    assert str(site.parent / "cache") in done.stderr.splitlines()[-1]


def test_busy_service_is_waited_for(index: Passage, real: dict[str, str], cohere: EmulatorServer) -> None:
    cohere.faults.add(Fault("status", status=429, retry_after=0.1))
    done = index(**real).ok()
    assert "Trying again in 0.1 s" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("index",), "one of SOURCE"),
        (("index", "site", "--from-qdrant", "docs"), "one of SOURCE"),
        (("index", "--from-qdrant", "docs", "--to", "qdrant"), "leave out --to qdrant"),
        (("index", "--from-edge", "src"), "give --to qdrant"),
        (("index", "site", "--to", "qdrant", "--publish", "s3://bucket"), "leave out --to qdrant"),
        (("index", "--from-qdrant", "docs"), "QDRANT_URL"),
        (("rollback",), "QDRANT_URL"),
        (("profile", "--from-qdrant", "docs", "--contract", "none"), "--contract takes one of"),
    ],
)
def test_conflicting_arguments_are_named(arguments: tuple[str, ...], words: str, passage: Passage) -> None:
    done = passage(*arguments)
    assert done.returncode != 0
    assert words in done.stderr
