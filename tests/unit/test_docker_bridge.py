"""The address for containers: the bridge's own with Docker Engine, loopback with Docker Desktop or without Docker."""

from pathlib import Path

import pytest

from tools import docker_bridge
from tools.docker_bridge import reachable_address


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program `docker`, the only one on PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path / "docker"


def prints(docker: Path, text: str, status: int = 0) -> None:
    docker.write_text(f"#!/bin/sh\necho '{text}'\nexit {status}\n", encoding="utf-8")
    docker.chmod(0o755)


@pytest.mark.parametrize(
    ("subnets", "own", "address"),
    [
        pytest.param("172.17.0.0/16", "172.17.0.1", "172.17.0.1", id="engine"),
        pytest.param("fd00::/80\n10.9.0.0/24", "10.9.0.254", "10.9.0.254", id="engine-with-ipv6-and-own-subnet"),
        pytest.param("172.17.0.0/16", "192.168.1.20", "127.0.0.1", id="desktop"),
        pytest.param("172.17.0.0/16", None, "127.0.0.1", id="no-route"),
        pytest.param("", "172.17.0.1", "127.0.0.1", id="no-subnet"),
    ],
)
def test_address_is_ours_in_the_bridges_subnet_or_loopback(
    subnets: str, own: str | None, address: str, docker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prints(docker, subnets)
    monkeypatch.setattr(docker_bridge, "_source_address", lambda _: own)
    assert reachable_address() == address


def test_no_docker_gives_loopback(docker: Path) -> None:
    assert not docker.exists()
    assert reachable_address() == "127.0.0.1"


def test_docker_without_a_daemon_gives_loopback(docker: Path) -> None:
    prints(docker, "", status=1)
    assert reachable_address() == "127.0.0.1"
