"""Servers that answer where a service was expected: other protocols, proxies' pages, an older Qdrant."""

import datetime
import ipaddress
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import grpc
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from http_server import Quiet, QuietServer, Received, Response, http_server, serve


@dataclass(frozen=True)
class Reply:
    """One HTTP answer."""

    status: int
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


PAGE = "<!DOCTYPE html>\n<html><body><h1>Not here</h1></body></html>"


@contextmanager
def web_server(reply: Reply, *, root: Reply | None = None, tls: Path | None = None) -> Iterator[tuple[int, list[str]]]:
    """A server that always sends `reply`. Yields its port and the requested paths.

    Args:
        root: the answer to `GET /`, if it is another.
        tls: a file with a certificate and its key.
    """
    paths: list[str] = []

    def answer(received: Received) -> Response:
        paths.append(received.target)
        sent = root if root is not None and (received.method, received.target) == ("GET", "/") else reply
        return sent.status, sent.headers, sent.body.encode()

    with http_server(answer, tls=tls) as url:
        yield int(url.rpartition(":")[2]), paths


@contextmanager
def trickling_server() -> Iterator[str]:
    """The URL of a service that answers at once, a byte every 20 ms, without an end."""
    stopped = threading.Event()

    class Trickle(Quiet):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:  # noqa: N802 - the library's own name
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", "100000")
            self.end_headers()
            while not stopped.wait(0.02):
                try:
                    self.wfile.write(b" ")
                except OSError:
                    return

    with QuietServer(("127.0.0.1", 0), Trickle) as server, serve(server) as url:
        yield url
        stopped.set()


@contextmanager
def grpc_server() -> Iterator[int]:
    """A gRPC server's port."""
    server = grpc.server(ThreadPoolExecutor(1))
    port: int = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield port
    finally:
        server.stop(None)


def self_signed(folder: Path, days: int = 1) -> Path:
    """A certificate of 127.0.0.1 that no authority signed, with its key. It ends in `days`."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    address = x509.IPAddress(ipaddress.IPv4Address("127.0.0.1"))
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=2))
        .not_valid_after(now + datetime.timedelta(days=days))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = folder / "certificate.pem"
    form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    file.write_bytes(key.private_bytes(*form) + certificate.public_bytes(serialization.Encoding.PEM))
    return file
