"""The proxy of `make test-qdrant`, in front of the emulator in place of a real server."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tools.doubles import EmulatorServer, Fault
from tools.qdrant.emulator import qdrant_emulator
from tools.qdrant.real import Servers, Unavailable, qdrant_proxy

BODY = {"vectors": {"size": 2, "distance": "Dot"}, "metadata": {"owner": "docs"}}


@pytest.fixture
def real(tmp_path: Path) -> Iterator[EmulatorServer]:
    with qdrant_emulator(tmp_path / "real") as server:
        yield server


@pytest.fixture
def servers(real: EmulatorServer) -> Iterator[Servers]:
    with closing(Servers(real.url)) as one:
        yield one


def collections(server: EmulatorServer) -> list[str]:
    found = httpx.get(f"{server.url}/collections").json()["result"]["collections"]
    return [one["name"] for one in found]


def test_proxy_records_plays_faults_and_passes_compression_on(
    real: EmulatorServer, servers: Servers, tmp_path: Path
) -> None:
    with qdrant_proxy(servers, tmp_path / "one") as proxy:
        assert httpx.put(f"{proxy.url}/collections/a%20b", json=BODY).status_code == 200
        assert collections(real) == ["a b"]
        plain = httpx.get(f"{proxy.url}/collections", headers={"Accept-Encoding": "identity"})
        packed = httpx.get(f"{proxy.url}/collections")
        assert "content-encoding" not in plain.headers
        assert packed.headers["content-encoding"] == "gzip"
        assert plain.json()["result"] == packed.json()["result"]
        proxy.faults.add(Fault("status", status=503))
        assert httpx.get(f"{proxy.url}/collections").status_code == 503
        assert [request.method for request in proxy.requests] == ["PUT", "GET", "GET", "GET"]


def test_server_is_emptied_for_another_folder_and_filled_from_it(
    real: EmulatorServer, servers: Servers, tmp_path: Path
) -> None:
    with qdrant_emulator(tmp_path / "filled") as filled:
        httpx.put(f"{filled.url}/collections/docs", json=BODY)
        points = {"points": [{"id": 1, "vector": [1, 2], "payload": {"url": "/a"}}]}
        httpx.put(f"{filled.url}/collections/docs/points", json=points)
    with qdrant_proxy(servers, tmp_path / "empty") as proxy:
        httpx.put(f"{proxy.url}/collections/other", json=BODY)
    with qdrant_proxy(servers, tmp_path / "filled"):
        assert collections(real) == ["docs"]
        info = httpx.get(f"{real.url}/collections/docs").json()["result"]
        assert (info["points_count"], info["config"]["metadata"]) == (1, {"owner": "docs"})
    with qdrant_proxy(servers, tmp_path / "filled"):
        assert collections(real) == ["docs"], "a folder keeps its collections until another one is used"


def test_kind_or_version_that_the_server_is_not_is_said(servers: Servers, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match=r"plays Qdrant 1\.16"):
        qdrant_proxy(servers, tmp_path, version="1.16.0")
    with pytest.raises(Unavailable, match="second server"):
        qdrant_proxy(servers, tmp_path, strict=True).start()
