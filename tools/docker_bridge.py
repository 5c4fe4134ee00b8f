"""Finds the address at which Docker's containers reach this machine."""

import ipaddress
import shutil
import socket
import subprocess

from passage.emulators.server import HOST as LOOPBACK


def reachable_address() -> str:
    """An address of this machine that its containers reach, and other machines do not.

    Docker Engine: this machine's address in the bridge's subnet. The daemon lists it as the Gateway, but a new daemon
    does so only after its first restart; the kernel knows it at once.
    Docker Desktop: loopback. Its bridge is in a virtual machine, which forwards requests for the host to loopback.
    """
    for subnet in _bridge_subnets():
        address = _source_address(str(subnet[1]))
        if address is not None and ipaddress.IPv4Address(address) in subnet:
            return address
    return LOOPBACK


def _bridge_subnets() -> list[ipaddress.IPv4Network]:
    """The IPv4 subnets of Docker's default network; none without a daemon."""
    docker = shutil.which("docker")
    if docker is None:
        return []
    done = subprocess.run(  # noqa: S603 - our own command
        [docker, "network", "inspect", "bridge", "--format", "{{range .IPAM.Config}}{{println .Subnet}}{{end}}"],
        capture_output=True,
        text=True,
        check=False,
    )
    return [ipaddress.IPv4Network(line) for line in done.stdout.split() if ":" not in line]


def _source_address(destination: str) -> str | None:
    """The address of this machine from which the kernel would send to `destination`; None without a route."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((destination, 9))  # for UDP, this looks up the route and sends nothing
        except OSError:
            return None
        address: str = probe.getsockname()[0]
        return address
