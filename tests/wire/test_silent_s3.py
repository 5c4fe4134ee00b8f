"""An S3 that falls silent takes no longer than the request has, and no answer from an index that is open already."""

import hashlib
import json
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from entrypoints.aws import CREDENTIALS
from handler.adapters.qdrant.edge import QdrantEdgeStore
from handler.adapters.qdrant.published_index import PublishedIndex
from handler.adapters.qdrant.published_store import PublishedStore
from handler.config import profiles
from handler.core.deadline import Deadline, within
from handler.core.errors import DeadlineExceeded
from handler.core.model import Search
from http_server import Quiet, QuietServer, serve
from passage.indexing.publish import pack
from wire.function import Output

PROFILE = profiles.load("query-response")

HEAD = -1
SILENCES = {"pointer": (".json", HEAD), "head": (".gz", HEAD), "body": (".gz", 1000)}
"""The part of a fetch in which S3 falls silent: the name's ending, and how many bytes of the body still come."""


@dataclass
class Bucket:
    """A published index, and where reading it never ends."""

    url: str
    files: dict[str, bytes] = field(default_factory=dict)
    silent: tuple[str, int] | None = None

    def publish(self, packed: bytes) -> None:
        digest = hashlib.sha256(packed).hexdigest()
        pointer = {"format": 1, "version": digest, "object": f"{digest}.gz", "sha256": digest, "bytes": len(packed)}
        self.files |= {f"{digest}.gz": packed, f"{PROFILE.name}.json": json.dumps(pointer).encode()}


@pytest.fixture
def bucket() -> Iterator[Bucket]:
    stopped = threading.Event()

    class S3(Quiet):
        def do_GET(self) -> None:  # noqa: N802 - the library's own name
            name = self.path.partition("?")[0].rpartition("/")[2]
            ending, sent = bucket.silent or ("never", 0)
            content = bucket.files[name]
            if name.endswith(ending) and sent == HEAD:
                stopped.wait()
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if name.endswith(ending):
                self.wfile.write(content[:sent])
                stopped.wait()
                return
            self.wfile.write(content)

    with QuietServer(("127.0.0.1", 0), S3) as server, serve(server) as url:
        bucket = Bucket(url)
        yield bucket
        stopped.set()


@pytest.fixture(scope="module")
def packed(textbook_index: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("packed") / "textbook"
    pack(textbook_index / PROFILE.name, path)
    return path.read_bytes()


@pytest.fixture
def store(bucket: Bucket, packed: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PublishedStore:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name, value in {**CREDENTIALS, "AWS_ENDPOINT_URL_S3": bucket.url}.items():
        monkeypatch.setenv(name, value)
    bucket.publish(packed)
    index = PublishedIndex("s3://bucket/indexes", PROFILE.name)
    return PublishedStore(index, lambda root: QdrantEdgeStore(root=root, profile=PROFILE), collection="c", every=60)


def found(store: PublishedStore) -> int:
    (result,) = store.search([([1.0] * PROFILE.collection.dimension, Search(top_k=3))])
    return len(result.passages)


@pytest.mark.parametrize("silence", SILENCES)
def test_first_fetch_from_a_silent_s3_ends_in_time(
    store: PublishedStore, bucket: Bucket, tmp_path: Path, silence: str
) -> None:
    bucket.silent = SILENCES[silence]
    message = "The request's time ran out while the index was fetched."
    with within(Deadline.after(1.5)), pytest.raises(DeadlineExceeded, match=message):
        found(store)
    kept = {path.name for path in tmp_path.glob("*/.*/*")}
    assert kept <= {"packed"}, "a download to go on with, and nothing half unpacked"
    bucket.silent = None
    assert found(store) == 3
    assert not list(tmp_path.glob("*/.*"))


@pytest.mark.parametrize("silence", SILENCES)
def test_open_index_answers_while_s3_is_silent(
    store: PublishedStore, bucket: Bucket, packed: bytes, silence: str, output: Output
) -> None:
    assert found(store) == 3
    bucket.publish(packed + b"\0")  # another version
    bucket.silent = SILENCES[silence]
    store.after_restore()  # time for a check
    with within(Deadline.after(8)):
        assert found(store) == 3
    assert "DEADLINE_EXCEEDED" in {line.get("code") for line in output.logs}
