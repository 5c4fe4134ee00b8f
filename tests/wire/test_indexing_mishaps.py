"""What may go wrong around an index: damage, another provider's vectors, two runs at once, a run that was killed."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from handler.config import profiles
from indexed import Outcome, Silent, embedder_at, index_edge, index_to
from passage.emulators.cohere.requests import DENIED
from passage.indexing import cache_filler, edge_index
from passage.indexing.cache_filler import EmbeddingError
from passage.indexing.edge_index import EdgeIndex
from passage.indexing.target import NewPoint, TargetError, WantedIndex
from passage.local.environment import LocalError, function_environment
from passage.sites.markdown import MarkdownSite, find_site
from sites.reading import written
from tools.doubles import EmulatorServer
from tools.doubles.faults import Fault
from wire.function import COHERE_KEY

PROFILE = profiles.load("query-response")


@pytest.fixture
def site(tmp_path: Path) -> MarkdownSite:
    page = "# Twins\n\nA digital twin mirrors an asset.\n\n## Use\n\nMaintenance.\n"
    return find_site(written(tmp_path / "site", {"twin.md": page}), "https://example.com")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
def indexed(site: MarkdownSite, out: Path, cohere: EmulatorServer) -> Callable[[], Outcome]:
    """Indexes the site again, after a first run."""

    def again() -> Outcome:
        return index_edge(site, PROFILE, out, embedder_at(cohere.url, PROFILE, COHERE_KEY))

    again()
    return again


def edit_manifest(out: Path, **changes: Any) -> None:
    path = out / PROFILE.name / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def damage(folder: Path, pattern: str, content: bytes | None) -> None:
    for path in list(folder.rglob(pattern)):
        if content is None:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        else:
            path.write_bytes(content)


@pytest.mark.parametrize(
    ("pattern", "content"),
    [
        ("shard", None),
        ("segments", None),
        ("segment.json", b"{"),
        ("edge_config.json", b""),
        ("matrix.dat", b"x"),
        ("status.dat", b""),  # the engine panics on it
        ("id_tracker.mappings", None),
        ("manifest.json", None),
        ("manifest.json", b"["),
        ("manifest.json", b"[" * 100_000),
        ("manifest.json", b"[]"),
        ("manifest.json", b'{"points": "many"}'),
    ],
)
def test_a_damaged_index_is_built_again(
    pattern: str, content: bytes | None, out: Path, indexed: Callable[[], Outcome]
) -> None:
    damage(out / PROFILE.name, pattern, content)
    assert indexed().changed
    assert indexed() == Outcome(pages=1, chunks=2, embedded=0, removed=0, changed=False)


@pytest.mark.parametrize("pattern", ["matrix.dat", "page_0.dat", "segment.json"])
def test_flipped_bytes_are_found_before_the_index_is_opened(
    pattern: str, out: Path, indexed: Callable[[], Outcome]
) -> None:
    """The engine ends the process on some of them."""
    for path in out.rglob(pattern):
        path.write_bytes(bytes(byte ^ 0xFF for byte in path.read_bytes()[:4096]) + path.read_bytes()[4096:])
    assert [indexed().changed for _ in range(2)] == [True, False]


def test_file_in_the_indexs_place_is_replaced(out: Path, indexed: Callable[[], Outcome]) -> None:
    shutil.rmtree(out / PROFILE.name)
    (out / PROFILE.name).write_text("not a folder")
    assert indexed().embedded == 2
    assert indexed().changed is False


def test_manifest_with_a_wrong_point_count_is_rewritten(out: Path, indexed: Callable[[], Outcome]) -> None:
    edit_manifest(out, points=None)
    assert indexed() == Outcome(pages=1, chunks=2, embedded=0, removed=0, changed=True)


def test_index_of_another_provider_is_embedded_again(out: Path, indexed: Callable[[], Outcome]) -> None:
    """An emulator's vectors have Cohere's model and dimension, but find wrong passages."""
    assert edge_index.embedders(out) == {PROFILE.name: "emulator"}
    edit_manifest(out, embedded_by="cohere")
    assert indexed().embedded == 2
    assert edge_index.embedders(out) == {PROFILE.name: "emulator"}


def test_questions_are_not_asked_of_another_provider_s_index(out: Path, indexed: Callable[[], Outcome]) -> None:
    with function_environment({}, out) as environ:
        assert environ["EDGE_INDEX_PATH"] == str(out)
    with (
        pytest.raises(LocalError, match=r"by the emulator, .* by Cohere.*with COHERE_API_KEY"),
        function_environment({"COHERE_API_KEY": "real"}, out),
    ):
        pass
    edit_manifest(out, embedded_by="cohere")
    with pytest.raises(LocalError, match=r"by Cohere, .* by the emulator.*without"), function_environment({}, out):
        pass
    edit_manifest(out, embedded_by=None)
    with pytest.raises(LocalError, match="earlier version"), function_environment({}, out):
        pass


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"QDRANT_URL": "http://qdrant.example:6333"}, "A real collection needs the real key"),
        ({"COHERE_BASE_URL": "http://localhost:1"}, "COHERE_API_KEY is not"),
        ({"COHERE_API_KEY": "two words"}, "white space"),
        ({"COHERE_API_KEY": "k", "COHERE_BASE_URL": "http://a..b"}, "COHERE_BASE_URL: must name a host whose parts"),
    ],
)
def test_conflicting_variables_are_refused(environ: dict[str, str], words: str, tmp_path: Path) -> None:
    with pytest.raises(LocalError, match=words), function_environment(environ, tmp_path):
        pass


def test_two_runs_at_once_do_the_work_once(site: MarkdownSite, out: Path, cohere: EmulatorServer) -> None:
    """The second is started in the middle of the first, and waits for it."""
    waits = Event()
    outcomes: list[Outcome] = []

    def second() -> None:
        outcomes.append(
            index_edge(site, PROFILE, out, embedder_at(cohere.url, PROFILE, COHERE_KEY), Silent(waiting=waits.set))
        )

    thread = Thread(target=second)

    def start_another(_: int) -> None:
        thread.start()
        assert waits.wait(10)

    watch = Silent(embedding=start_another)
    assert index_edge(site, PROFILE, out, embedder_at(cohere.url, PROFILE, COHERE_KEY), watch).embedded == 2
    thread.join()
    assert [outcome.changed for outcome in outcomes] == [False]


def test_run_killed_between_renames_leaves_a_usable_index(out: Path, indexed: Callable[[], Outcome]) -> None:
    going = out / f".{PROFILE.name}.old"
    (out / PROFILE.name).rename(going)
    (out / f".{PROFILE.name}.new-1").mkdir()
    with function_environment({}, out):
        assert (out / PROFILE.name / "manifest.json").is_file()
    (out / PROFILE.name).rename(going)
    assert indexed().changed is False
    assert sorted(path.name for path in out.iterdir()) == [f".{PROFILE.name}.lock", PROFILE.name]


def test_an_index_that_cannot_be_written_leaves_the_old_one(out: Path, indexed: Callable[[], Outcome]) -> None:
    with pytest.raises(TargetError, match=r"cannot be written to .*[Dd]imension"):
        EdgeIndex(out, PROFILE).replace(WantedIndex(PROFILE, "", 1, "emulator"), [NewPoint(1, [0.5], {})])
    assert indexed().changed is False
    assert sorted(path.name for path in out.iterdir()) == [f".{PROFILE.name}.lock", PROFILE.name]


def test_an_index_is_refused_before_a_full_disk(
    out: Path, indexed: Callable[[], Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine maps files without room for them: the process would be killed."""
    usage = shutil.disk_usage(out)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=9_000_000))
    edit_manifest(out, points=2_000)
    with pytest.raises(TargetError, match="its disk has 9 MB free, and 75 MB are needed"):
        indexed()
    assert sorted(path.name for path in out.iterdir()) == [f".{PROFILE.name}.lock", PROFILE.name]


def test_nothing_is_paid_for_that_the_cache_has_no_room_for(
    site: MarkdownSite, out: Path, cohere: EmulatorServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1_000_000))
    with pytest.raises(EmbeddingError, match=r"cannot be kept in .*: its disk has 1 MB free, and 8 MB are needed"):
        index_edge(site, PROFILE, out, embedder_at(cohere.url, PROFILE, COHERE_KEY))
    assert cohere.requests == []


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault("status", status=401), "refused the key in COHERE_API_KEY"),
        (Fault("status", status=404), "refused the model 'embed-v5.0-pro'"),
        (Fault("status", status=429), "limiting requests"),
        (Fault("status", status=503), "failed to answer"),
        (Fault("drop"), "could not be reached"),
        (Fault("malformed"), "unreadable answer|failed to answer"),
        (Fault("malformed", body='{"id": "", "embeddings": {"float": []}}'), "gave 0 of 2 embeddings"),
        (Fault("malformed", body='{"id": "", "embeddings": {"float": [[1], [1]]}}'), "dimension 1, but .* takes 768"),
        (Fault("malformed", body=f'"{COHERE_KEY}"'), "unreadable answer"),
    ],
)
def test_embedding_failure_is_one_line_without_the_key(
    fault: Fault, words: str, site: MarkdownSite, out: Path, cohere: EmulatorServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_filler, "FIRST_ATTEMPTS", 1)
    monkeypatch.setattr(cache_filler, "ATTEMPTS", 1)
    cohere.faults.add(fault)
    with pytest.raises(EmbeddingError, match=words) as raised:
        index_edge(site, PROFILE, out, embedder_at(cohere.url, PROFILE, COHERE_KEY))
    assert "\n" not in str(raised.value)
    assert COHERE_KEY not in str(raised.value)


def test_page_with_a_denied_word_is_named_and_left_out(
    site: MarkdownSite, out: Path, tmp_path: Path, cohere: EmulatorServer
) -> None:
    """Cohere does not say which of a call's texts has the word. A later run sends it no more."""
    pages = "\n".join(f"## Part {number}\n\nJoint {number} turns.\n" for number in range(7))
    (tmp_path / "site" / "arm.md").write_text(f"# Arms\n\n{pages}\n## Grip\n\nA {DENIED}.\n\n## End\n\nIt stops.\n")
    for action in ("replace", "nothing"):
        cohere.requests.clear()
        target, embedder = EdgeIndex(out, PROFILE), embedder_at(cohere.url, PROFILE, COHERE_KEY)
        plan = index_to(target, site, PROFILE, embedder, cache=tmp_path / "cache")
        assert (plan.action, plan.points.now) == (action, 10)
        (flaw,) = plan.skipped
        assert "arm" in flaw.path
        assert "does not accept" in "\n".join(plan.lines())
    assert cohere.requests == []


def test_only_a_local_address_is_the_emulator() -> None:
    assert embedder_at("https://api.cohere.com", PROFILE).made_by == "cohere"
    assert embedder_at("http://localhost:8080", PROFILE).made_by == "emulator"
    assert embedder_at("http://[::1]:8080", PROFILE).made_by == "emulator"
