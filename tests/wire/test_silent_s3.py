"""An S3 that falls silent takes no longer than the request has, and no answer from an index that is open already."""

import hashlib
import json
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from entrypoints.aws import CREDENTIALS
from handler.adapters.qdrant.published_store import PublishedStore
from passage.indexing.publish import pack
from wire.function import Function, Output, Start, assert_error

PROFILE = "query-response"
SOON_MS = "2000"

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
        self.files |= {f"{digest}.gz": packed, f"{PROFILE}.json": json.dumps(pointer).encode()}


@pytest.fixture
def bucket() -> Iterator[Bucket]:
    stopped = threading.Event()

    class S3(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
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

        def log_message(self, *_: object) -> None:
            """Do not log to standard error."""

    with ThreadingHTTPServer(("127.0.0.1", 0), S3) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        bucket = Bucket(f"http://127.0.0.1:{server.server_port}")
        yield bucket
        stopped.set()
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def packed(textbook_index: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("packed") / "textbook"
    pack(textbook_index / PROFILE, path)
    return path.read_bytes()


@pytest.fixture
def function(start: Start, bucket: Bucket, packed: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Function:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name, value in {**CREDENTIALS, "AWS_ENDPOINT_URL_S3": bucket.url}.items():
        monkeypatch.setenv(name, value)
    bucket.publish(packed)
    changes = {"STORE": "qdrant_edge", "EDGE_INDEX_URI": "s3://bucket/indexes", "QDRANT_URL": None}
    return start(**changes, REQUEST_TIMEOUT_MS=SOON_MS)


@pytest.mark.parametrize("silence", SILENCES)
def test_first_fetch_from_a_silent_s3_is_504(function: Function, bucket: Bucket, tmp_path: Path, silence: str) -> None:
    bucket.silent = SILENCES[silence]
    message = assert_error(function.ask(), 504, "SERVICE_UNAVAILABLE")
    assert message == "The request's time ran out while the index was fetched."
    assert not list(tmp_path.glob("*/.*")), "nothing half unpacked"
    bucket.silent = None
    assert function.ask().results


@pytest.mark.parametrize("silence", SILENCES)
def test_open_index_answers_while_s3_is_silent(
    function: Function, bucket: Bucket, packed: bytes, silence: str, output: Output
) -> None:
    assert function.ask().results
    bucket.publish(packed + b"\0")  # another version
    bucket.silent = SILENCES[silence]
    store = function.container.served(None).retriever.store
    assert isinstance(store, PublishedStore)
    store.restored()  # time for a check
    assert function.ask().results
    assert "DEADLINE_EXCEEDED" in {line.get("code") for line in output.logs}
