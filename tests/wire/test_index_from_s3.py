"""An Edge index that is published in S3: fetched at cold start, replaced without a redeploy, never half there."""

import gzip
import hashlib
import io
import json
import os
import tarfile
import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from command.passage_command import in_process
from conftest import TEXTBOOK
from entrypoints.aws import Aws
from handler.adapters.qdrant import published_index, published_store, sparse_files
from handler.adapters.qdrant.edge import QdrantEdgeStore
from handler.config import profiles
from handler.config.settings import Settings
from handler.core.errors import ConfigurationError
from handler.core.model import Search
from indexed import embedder_at, index_edge
from passage.indexing.publish import Published, PublishError, pack, publish
from passage.sites.markdown import find_site
from tools.doubles import EmulatorServer, Fault
from wire.function import COHERE_KEY, Function, Output, Start

PROFILE = "query-response"

_numbers = count(1)


class Bucket:
    """A new bucket, and the folder that indexes are published in."""

    def __init__(self, client: Any) -> None:
        self.client = client
        self.name = f"passage-{next(_numbers)}"
        self.client.create_bucket(Bucket=self.name, CreateBucketConfiguration={"LocationConstraint": "eu-central-1"})
        self.uri = f"s3://{self.name}/indexes"

    def keys(self) -> list[str]:
        return [found["Key"] for found in self.client.list_objects_v2(Bucket=self.name).get("Contents", [])]

    def pointer(self) -> dict[str, Any]:
        body = self.client.get_object(Bucket=self.name, Key=f"indexes/{PROFILE}.json")["Body"].read()
        pointer: dict[str, Any] = json.loads(body)
        return pointer

    def put(self, name: str, body: bytes) -> None:
        self.client.put_object(Bucket=self.name, Key=f"indexes/{name}", Body=body)

    def put_packed(self, packed: bytes, **changes: Any) -> None:
        """Publish `packed` by hand; `changes` go into its pointer."""
        digest = hashlib.sha256(packed).hexdigest()
        self.put(f"{digest}.tar.gz", packed)
        pointer = {
            "format": 1, "version": digest, "object": f"{digest}.tar.gz", "sha256": digest, "bytes": len(packed)
        }  # fmt: skip
        self.put(f"{PROFILE}.json", json.dumps(pointer | changes).encode())


@pytest.fixture(scope="session")
def s3(_cloud: Aws) -> Any:
    return _cloud.client("s3")


@pytest.fixture
def bucket(aws: Aws, s3: Any) -> Bucket:
    return Bucket(s3)


@pytest.fixture(scope="session")
def textbook_packed(textbook_index: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    packed = tmp_path_factory.mktemp("packed") / "textbook"
    pack(textbook_index / PROFILE, packed)
    return packed.read_bytes()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in the container's /tmp that indexes are unpacked to."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder / f"passage-{os.getuid()}"


@pytest.fixture
def published(bucket: Bucket, textbook_packed: bytes) -> Bucket:
    bucket.put_packed(textbook_packed)
    return bucket


@pytest.fixture
def begin(start: Start, bucket: Bucket, home: Path) -> Start:
    """Starts a container with the published index as its store."""
    return lambda **changes: start(
        **{"STORE": "qdrant_edge", "EDGE_INDEX_URI": bucket.uri, "QDRANT_URL": None, **changes}
    )


@pytest.fixture(scope="session")
def other_packed(cohere: EmulatorServer, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Another version of the site: one page."""
    site, root = tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("other")
    (site / "only.md").write_text("# Gripper\n\nA gripper holds what it picked up until it is told to let go.\n")
    profile = profiles.load(PROFILE)
    embedder = embedder_at(cohere.url, profile, COHERE_KEY)
    index_edge(find_site(site, "https://example.org"), profile, root, embedder)
    pack(root / PROFILE, root / "packed")
    return (root / "packed").read_bytes()


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Moves the clock that looks for new versions."""
    offset = 0.0
    clock = published_store.time.monotonic

    class Clock:
        @staticmethod
        def monotonic() -> float:
            return clock() + offset

    monkeypatch.setattr(published_store, "time", Clock)

    def move(seconds: float) -> None:
        nonlocal offset
        offset += seconds

    return move


def versions(home: Path) -> list[Path]:
    return sorted(home.glob(f"{PROFILE}-*"))


def answers_from_other(function: Function) -> bool:
    return "https://example.org/only/" in function.ask("What does a gripper do?").text


def test_fetched_index_answers_as_the_one_on_disk(
    published: Bucket, begin: Start, home: Path, aws: Aws, textbook_index: Path
) -> None:
    function = begin()
    function.container.warm()
    fetched = len(aws.door.requests)
    assert fetched == 2, "the pointer and the index"
    local = begin(EDGE_INDEX_URI=None, EDGE_INDEX_PATH=str(textbook_index))
    assert function.ask().results == local.ask().results
    assert function.get("/ready").status == 200
    assert len(aws.door.requests) == fetched
    assert [path.name for path in versions(home)] == [f"{PROFILE}-{published.pointer()['sha256'][:16]}"]
    assert not list(home.glob(".*-*")), "nothing half unpacked"


def test_unpacked_index_takes_no_space_for_zeros(textbook_index: Path, tmp_path: Path) -> None:
    pack(textbook_index / PROFILE, tmp_path / "packed")
    published_index.extract(tmp_path / "packed", tmp_path / "unpacked" / PROFILE)
    files = [path.stat() for path in (tmp_path / "unpacked").rglob("*") if path.is_file()]
    whole = [path.stat().st_size for path in (textbook_index / PROFILE).rglob("*") if path.is_file()]
    length, occupied = sum(file.st_size for file in files), sum(file.st_blocks * 512 for file in files)
    assert length < 0.5 * sum(whole), "without the empty segment"
    assert occupied < 0.2 * length, "with holes"
    store = QdrantEdgeStore(root=tmp_path / "unpacked", profile=profiles.load(PROFILE))
    assert store.describe().points_count > 0
    store.close()


def test_restart_on_the_same_disk_fetches_only_the_pointer(published: Bucket, begin: Start, aws: Aws) -> None:
    begin().container.warm()
    aws.door.requests.clear()
    assert begin().ask().results
    assert len(aws.door.requests) == 1


def test_a_new_version_is_picked_up_and_the_old_one_removed(
    published: Bucket, begin: Start, home: Path, other_packed: bytes, later: Callable[[float], None], aws: Aws
) -> None:
    function = begin(EDGE_INDEX_CHECK_SECONDS="30")
    assert not answers_from_other(function)
    published.put_packed(other_packed)
    aws.door.requests.clear()
    later(29)
    assert not answers_from_other(function), "not looked for yet"
    assert not aws.door.requests
    later(2)
    assert answers_from_other(function)
    aws.door.requests.clear()
    assert answers_from_other(function)
    assert not aws.door.requests, "looked for once in 30 seconds"
    assert len(versions(home)) == 1


def _refused(status: int, code: str) -> Fault:
    return Fault("status", status=status, body=f"<Error><Code>{code}</Code></Error>", times=0)


def _change_pointer(bucket: Bucket, **changes: str) -> None:
    bucket.put(f"{PROFILE}.json", json.dumps(bucket.pointer() | changes).encode())


def _cut_off(_: Aws, bucket: Bucket) -> None:
    bucket.put(bucket.pointer()["object"], b"cut off")
    _change_pointer(bucket, sha256="1" * 64)


Breakage = Callable[[Aws, Bucket], object]
BREAKAGES: dict[str, Breakage] = {
    "unreachable": lambda aws, _: aws.door.faults.add(_refused(503, "SlowDown")),
    "dropped": lambda aws, _: aws.door.faults.add(Fault("drop", times=0)),
    "denied": lambda aws, _: aws.door.faults.add(_refused(403, "AccessDenied")),
    "gone": lambda _, bucket: bucket.client.delete_object(Bucket=bucket.name, Key=f"indexes/{PROFILE}.json"),
    "no pointer": lambda _, bucket: bucket.put(f"{PROFILE}.json", b"{}"),
    "wrong checksum": lambda _, bucket: _change_pointer(bucket, sha256="0" * 64),
    "cut off": _cut_off,
    "no archive": lambda _, bucket: bucket.put_packed(b"no archive at all"),
    "empty": lambda _, bucket: bucket.put_packed(archive([])),
}


@pytest.mark.parametrize("breakage", BREAKAGES)
def test_old_version_answers_if_the_new_one_is_bad(
    breakage: str,
    published: Bucket,
    begin: Start,
    aws: Aws,
    later: Callable[[float], None],
    output: Output,
) -> None:
    function = begin()
    assert function.ask().results
    BREAKAGES[breakage](aws, published)
    later(61)
    aws.door.requests.clear()
    assert function.ask().results
    asked = len(aws.door.requests)
    assert function.ask().results
    assert len(aws.door.requests) == asked, "a failure is not repeated with every question"
    (line,) = [line for line in output.logs if line["message"].startswith("a new index could not be taken")]
    assert line["level"] == "WARNING"
    assert line["code"]


@pytest.mark.parametrize("breakage", BREAKAGES)
def test_first_version_broken_is_an_error_until_replaced(
    breakage: str, published: Bucket, begin: Start, aws: Aws, textbook_packed: bytes, home: Path
) -> None:
    BREAKAGES[breakage](aws, published)
    function = begin()
    answer = function.ask()
    assert answer.status == (503 if breakage in ("unreachable", "dropped") else 500)
    assert published.name not in answer.text
    aws.door.faults.clear()
    published.put_packed(textbook_packed)
    assert function.ask().results
    assert not list(home.glob(".*-*")), "nothing half unpacked"


def test_warm_up_survives_a_temporary_s3_failure(published: Bucket, begin: Start, aws: Aws, output: Output) -> None:
    function = begin()
    aws.door.faults.add(Fault("status", status=503, body="<Error><Code>SlowDown</Code></Error>"))
    function.container.warm()
    assert "an index could not be fetched ahead of its use" in [line["message"] for line in output.logs]
    assert function.ask().results


def test_slow_download_at_init_is_left_to_the_question(
    published: Bucket, begin: Start, output: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lambda stops an INIT that takes ten seconds, and begins it anew."""
    monkeypatch.setattr(published_store, "WARM_SECONDS", 0.0)
    function = begin()
    function.container.warm()
    assert "DEADLINE_EXCEEDED" in output.text
    assert function.ask().results


def test_interrupted_download_is_continued(published: Bucket, begin: Start, aws: Aws, home: Path) -> None:
    aws.door.faults.add(Fault("drop", at="response", path=".tar.gz"))
    function = begin()
    function.container.warm()
    (kept,) = home.glob("*/packed")
    size = kept.stat().st_size
    assert 0 < size < published.pointer()["bytes"]
    assert function.ask().results
    ranges = [request.headers.get("range") for request in aws.door.requests if request.path.endswith(".tar.gz")]
    assert ranges == [None, f"bytes={size}-"]
    assert list(home.glob(".*")) == []


def test_fetched_file_that_was_damaged_before_is_named(
    bucket: Bucket, begin: Start, textbook_index: Path, tmp_path: Path
) -> None:
    """The packed index's own checksum is right: the index was damaged before it was published."""
    folder = sparse_files.copy_folder(textbook_index / PROFILE, tmp_path / PROFILE)
    (path, *_) = folder.rglob("matrix.dat")
    path.write_bytes(bytes(byte ^ 0xFF for byte in path.read_bytes()))
    pack(folder, tmp_path / "packed")
    bucket.put_packed((tmp_path / "packed").read_bytes())
    answer = begin().ask()
    assert answer.status == 500
    assert "matrix.dat does not match its checksum" in answer.json["error"]


def test_unpublished_index_error_names_the_command(bucket: Bucket, begin: Start) -> None:
    answer = begin().ask()
    assert answer.status == 500
    assert "passage index --publish" in answer.json["error"]


def test_new_version_with_another_model_is_not_used(
    published: Bucket,
    begin: Start,
    textbook_index: Path,
    later: Callable[[float], None],
    tmp_path: Path,
    output: Output,
) -> None:
    function = begin()
    assert function.ask().results
    changed = tmp_path / PROFILE
    sparse_files.copy_folder(textbook_index / PROFILE, changed)
    manifest = json.loads((changed / "manifest.json").read_text())
    (changed / "manifest.json").write_text(json.dumps({**manifest, "dimension": 1024}))
    publish(published.uri, changed)
    later(61)
    assert function.ask().results
    assert "DIMENSION_MISMATCH" in {line.get("code") for line in output.logs}


def test_open_version_answers_after_its_removal(
    published: Bucket, begin: Start, home: Path, other_packed: bytes, later: Callable[[float], None]
) -> None:
    """Another process on this machine may have the old version open."""
    function = begin()
    assert function.ask().results
    (old,) = versions(home)
    opened = QdrantEdgeStore(root=old, profile=function.container.served(None).profile)
    opened.warm()
    published.put_packed(other_packed)
    later(61)
    assert answers_from_other(function)
    assert not old.exists()
    (result,) = opened.search([([1.0] * 768, Search(top_k=3))])
    assert len(result.passages) == 3


def member(name: str, body: bytes = b"x", **changes: Any) -> tuple[tarfile.TarInfo, bytes]:
    made = tarfile.TarInfo(name)
    made.size = len(body)
    for key, value in changes.items():
        setattr(made, key, value)
    return made, body


def archive(members: list[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as packed:
        for made, body in members:
            packed.addfile(made, io.BytesIO(body))
    return buffer.getvalue()


@pytest.mark.parametrize(
    "evil",
    [
        member("../outside"),
        member("a/../../outside"),
        member("/outside"),
        member("a\\..\\outside"),
        member("link", b"", type=tarfile.SYMTYPE, linkname="/etc/passwd"),
        member("link", b"", type=tarfile.LNKTYPE, linkname="manifest.json"),
        member("pipe", b"", type=tarfile.FIFOTYPE),
        member("device", b"", type=tarfile.CHRTYPE),
        member("manifest.json"),
        member("manifest.json/below"),
    ],
    ids=lambda evil: evil[0].name,
)
def test_an_archive_that_would_write_elsewhere_is_refused(
    evil: tuple[tarfile.TarInfo, bytes], bucket: Bucket, begin: Start, home: Path
) -> None:
    bucket.put_packed(archive([member("manifest.json"), evil]))
    answer = begin().ask()
    assert answer.status == 500
    assert "cannot be unpacked" in answer.json["error"]
    assert {path.name for path in home.rglob("*")} == set()
    assert not (home.parent / "outside").exists()


@pytest.mark.parametrize("name", ["../x.tar.gz", "/x.tar.gz", "a//x.tar.gz", "", "a/../x", ".x"])
def test_pointer_to_an_invalid_object_name_is_refused(name: str, bucket: Bucket, begin: Start) -> None:
    bucket.put_packed(archive([]), object=name)
    assert "pointer that cannot be read" in begin().ask().json["error"]


def test_a_folder_that_someone_else_could_write_to_is_not_used(published: Bucket, begin: Start, home: Path) -> None:
    home.mkdir()
    home.chmod(0o777)
    assert "Others can write to the folder" in begin().ask().json["error"]
    home.chmod(0o700)
    home.rmdir()
    home.symlink_to(home.parent)
    assert "Others can write to the folder" in begin().ask().json["error"]


def test_the_same_index_is_packed_to_the_same_bytes(textbook_index: Path, tmp_path: Path) -> None:
    copy = tmp_path / PROFILE
    sparse_files.copy_folder(textbook_index / PROFILE, copy)
    for path in copy.rglob("*"):
        os.utime(path, (1, 1))
        path.chmod(0o700)
    pack(textbook_index / PROFILE, tmp_path / "one.tar.gz")
    pack(copy, tmp_path / "another-name.tar.gz")
    packed = (tmp_path / "one.tar.gz").read_bytes()
    assert packed == (tmp_path / "another-name.tar.gz").read_bytes()
    with tarfile.open(fileobj=io.BytesIO(gzip.decompress(packed))) as opened:
        names = opened.getnames()
        assert names == sorted(names, key=lambda name: name.split("/"))
        assert {(found.mtime, found.uid, found.gid, found.uname) for found in opened} == {(0, 0, 0, "")}


def test_an_index_is_published_once_and_the_pointer_last(bucket: Bucket, aws: Aws, textbook_index: Path) -> None:
    expected = f"{bucket.uri}/{PROFILE}.json"
    assert publish(bucket.uri, textbook_index / PROFILE) == Published(expected, changed=True)
    puts = [request.path for request in aws.door.requests if request.method == "PUT"]
    assert puts == [f"/{bucket.name}/indexes/{bucket.pointer()['object']}", f"/{bucket.name}/indexes/{PROFILE}.json"]
    assert publish(bucket.uri, textbook_index / PROFILE) == Published(expected, changed=False)
    assert len(bucket.keys()) == 2


def test_the_command_indexes_and_publishes(
    bucket: Bucket, begin: Start, cohere: EmulatorServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COHERE_API_KEY", COHERE_KEY)
    monkeypatch.setenv("COHERE_BASE_URL", cohere.url)
    command = ["index", str(TEXTBOOK), "--out", str(tmp_path / "index"), "--publish", f"{bucket.uri}/"]
    done = in_process(*command)
    assert f"{bucket.uri}/{PROFILE}.json: published" in done.output
    assert begin().ask().results
    assert "nothing changed" in in_process(*command).output


def test_failed_publish_names_the_reason(bucket: Bucket, textbook_index: Path, tmp_path: Path) -> None:
    with pytest.raises(PublishError, match="must be s3://bucket"):
        publish("https://example.org/x", textbook_index / PROFILE)
    with pytest.raises(PublishError, match="cannot be published"):
        publish("s3://no-such-bucket-anywhere/x", textbook_index / PROFILE)
    with pytest.raises(PublishError, match="cannot be packed"):
        publish(bucket.uri, tmp_path)


@pytest.mark.parametrize("uri", ["bucket/x", "s3://", "s3://B", "s3://bucket/a b", "s3://bucket/x?y", "https://bucket"])
def test_invalid_edge_index_uri_is_refused(uri: str) -> None:
    environ = {"COHERE_API_KEY": "k", "STORE": "qdrant_edge", "EDGE_INDEX_URI": uri}
    with pytest.raises(ConfigurationError, match="EDGE_INDEX_URI: must be s3://bucket"):
        Settings.from_env(environ)


def test_an_index_is_on_disk_or_published_not_both(textbook_index: Path) -> None:
    environ = {"COHERE_API_KEY": "k", "STORE": "qdrant_edge"}
    for more in ({}, {"EDGE_INDEX_URI": "s3://bucket", "EDGE_INDEX_PATH": str(textbook_index)}):
        with pytest.raises(ConfigurationError, match="EDGE_INDEX_PATH: required"):
            Settings.from_env({**environ, **more})
