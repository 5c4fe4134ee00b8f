"""An HTTP server on loopback whose answers a test decides."""

import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

Response = tuple[int, Mapping[str, str], bytes]
"""Status, headers and body."""


@dataclass(frozen=True)
class Received:
    """A request. `target` is its path with the query; the names of `headers` have no case."""

    method: str
    target: str
    headers: Message
    body: bytes


class Quiet(BaseHTTPRequestHandler):
    """Does not log to standard error."""

    def log_message(self, *_: object) -> None: ...


class QuietServer(ThreadingHTTPServer):
    """Ignores failed handshakes and closed connections, which tests provoke."""

    daemon_threads = True

    def handle_error(self, *_: object) -> None: ...


@contextmanager
def serve(server: ThreadingHTTPServer) -> Iterator[str]:
    """The URL of a server that answers, in a thread of its own, until the block ends."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()


@contextmanager
def http_server(
    answer: Callable[[Received], Response | None], *, tls: Path | None = None, keep_alive: bool = False
) -> Iterator[str]:
    """The URL of a server that sends what `answer` returns, or drops the connection for None.

    Args:
        tls: a file with a certificate and its key.
    """

    class Handler(Quiet):
        protocol_version = "HTTP/1.1" if keep_alive else "HTTP/1.0"

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            response = answer(Received(self.command, self.path, self.headers, body))
            if response is None:
                self.close_connection = True
                return
            status, headers, content = response
            with suppress(OSError):  # the client gave up
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(content))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_OPTIONS = _answer  # noqa: N815 - the library's own names

    with QuietServer(("127.0.0.1", 0), Handler) as server:
        if tls is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(tls)
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        with serve(server) as url:
            yield url
