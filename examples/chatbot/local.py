"""The chatbot on this machine, without an account or a key: `make run-chatbot`.

One server has the page, the chatbot's function, and Passage behind Lambda's own path, which boto3 calls. Passage starts
the emulator of Cohere; with COHERE_API_KEY set, both ask Cohere.
"""

import argparse
import json
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).with_name("function")))
import chatbot
from click import ClickException

from passage.local.environment import LocalContext
from passage.local.function import function, silence_log

FOLDER = Path(__file__).parent
TYPES = {"index.html": "text/html", "chatbot.js": "text/javascript", "chatbot.css": "text/css"}
POLICY = (  # as examples/static-site has it
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "require-trusted-types-for 'script'"
)

DEFAULTS = {
    "AWS_ACCESS_KEY_ID": "local",
    "AWS_SECRET_ACCESS_KEY": "local",
    "AWS_DEFAULT_REGION": "eu-central-1",
    "MODEL": "command-r-08-2024",
}

Handler = Callable[[Any, Any], Any]


def server(passage: Handler, port: int) -> ThreadingHTTPServer:
    """A bound server on 127.0.0.1. Sets the variables with which the chatbot asks `passage` there."""
    lock = threading.Lock()  # a container of Lambda's answers one event at a time

    class Requests(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.partition("?")[0].lstrip("/") or "index.html"
            found = (FOLDER / "page" / name).read_text("utf-8") if name in TYPES else ""
            self._send(200 if found else 404, found.replace("API_URL", ""), TYPES.get(name, "text/plain"))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode("utf-8")
            if self.path.startswith("/2015-03-31/functions/"):
                with lock:
                    self._send(200, json.dumps(passage(json.loads(body), LocalContext())), "application/json")
                return
            if self.path not in ("/passages", "/answer"):
                self._send(404, "", "text/plain")
                return
            answered = chatbot.handler({"routeKey": f"POST {self.path}", "body": body}, None)
            self._send(answered["statusCode"], answered["body"], "application/json")

        def _send(self, status: int, text: str, kind: str) -> None:
            body = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Security-Policy", POLICY)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Print nothing: a line a request would hide the address."""

    started = ThreadingHTTPServer(("127.0.0.1", port), Requests)
    url = f"http://127.0.0.1:{started.server_port}"
    os.environ |= {"AWS_ENDPOINT_URL_LAMBDA": url, "PASSAGE_FUNCTION": "passage"}
    cohere = {"CO_API_KEY": "COHERE_API_KEY", "CO_API_URL": "COHERE_BASE_URL"}
    passages_own = {name: os.environ[own] for name, own in cohere.items() if own in os.environ}
    for name, value in (DEFAULTS | passages_own).items():
        os.environ.setdefault(name, value)
    return started


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--index", type=Path, default=Path(".passage/index"))
    options.add_argument("--port", type=int, default=3000)
    given = options.parse_args()
    silence_log()
    try:
        with function(given.index) as passage, server(passage, given.port) as running:
            print(f"Open http://127.0.0.1:{running.server_port} (Ctrl-C stops it).", file=sys.stderr)
            with suppress(KeyboardInterrupt):
                running.serve_forever()
    except ClickException as error:
        sys.exit(f"Error: {error.message}")
    except OSError as error:
        sys.exit(f"Error: Port {given.port} cannot be used ({error.strerror}): choose another (PORT=… with make).")
