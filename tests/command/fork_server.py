"""The `passage` command, forked from a process that has imported its libraries: they take most of a command's time.

    python fork_server.py SOCKET

answers on SOCKET. A request is a line of JSON: arguments, environment and stdin. The reply is `{"code", "stdout",
"stderr"}`. The command's own modules are imported after the fork, in the command's own environment.
"""

import gc
import json
import os
import sys
import traceback
from importlib import import_module
from socketserver import ForkingMixIn, StreamRequestHandler, UnixStreamServer
from tempfile import TemporaryFile

LIBRARIES = (
    *("aiohttp.web", "aws_lambda_powertools", "aws_lambda_powertools.event_handler", "click", "cohere", "httpx"),
    *(
        "markdown_it",
        "numpy",
        "pydantic",
        "pyromark",
        "qdrant_client",
        "qdrant_edge",
        "semantic_text_splitter",
        "tokenizers",
        "yaml",
    ),
)


class Command(StreamRequestHandler):
    """Run one command in a separate process."""

    def handle(self) -> None:
        asked = json.loads(self.rfile.readline())
        os.environ.clear()
        os.environ.update(asked["environment"])
        sys.argv = ["passage", *asked["arguments"]]
        with TemporaryFile() as stdin, TemporaryFile() as stdout, TemporaryFile() as stderr:
            stdin.write(asked["stdin"].encode())
            stdin.seek(0)
            for number, file in enumerate((stdin, stdout, stderr)):
                os.dup2(file.fileno(), number)
            code = _run()
            sys.stdout.flush()
            sys.stderr.flush()
            reply = {"code": code}
            for name, written in (("stdout", stdout), ("stderr", stderr)):
                written.seek(0)
                reply[name] = written.read().decode()
        self.wfile.write(json.dumps(reply).encode())


def _run() -> object:
    """The command's exit status."""
    from passage.cli import main

    try:
        main(prog_name="passage")
    except SystemExit as end:
        return end.code or 0
    except BaseException:  # noqa: BLE001 - as at the end of any Python program
        traceback.print_exc()
    return 1


class Server(ForkingMixIn, UnixStreamServer):
    request_queue_size = 64


if __name__ == "__main__":
    for library in LIBRARIES:
        import_module(library)
    gc.freeze()
    with Server(sys.argv[1], Command) as server:
        print("ready", flush=True)  # noqa: T201
        server.serve_forever()
