"""The real `sam`, for hundreds of commands: imported once, and forked for each. SAM CLI's own Python runs this.

Importing it takes more processor time than the rest of `sam local invoke`, container and all. And SAM packs a layer
that the template defines into an image at every command, one that lies in the cache of downloaded layers once.

    python forking.py SOCKET CACHE LAYER CONTENT RUNTIME ARCHITECTURE

puts the folder CONTENT where SAM would download LAYER to, an ARN, and has SAM pack it; then answers on SOCKET. A
request is a line, the command's arguments as a JSON list; the reply is `{"code": …, "stdout": …, "stderr": …}`.
SIGTERM ends it.
"""

import json
import os
import shutil
import signal
import sys
import traceback
from pathlib import Path
from socketserver import ForkingMixIn, StreamRequestHandler, UnixStreamServer
from tempfile import TemporaryFile

import samcli.commands.local.invoke.cli
import samcli.commands.local.local  # noqa: F401 - so that they are imported before the first fork
from samcli.cli.main import cli
from samcli.lib.providers.provider import LayerVersion
from samcli.lib.utils.packagetype import ZIP
from samcli.local.docker.lambda_image import LambdaImage
from samcli.local.layers.layer_downloader import LayerDownloader


class Command(StreamRequestHandler):
    """Run one command in a separate process."""

    def handle(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        sys.argv = ["sam", *json.loads(self.rfile.readline())]
        with TemporaryFile() as stdout, TemporaryFile() as stderr:
            os.dup2(stdout.fileno(), 1)
            os.dup2(stderr.fileno(), 2)
            code: object = 1
            try:
                cli(prog_name="sam")
            except SystemExit as end:
                code = end.code
            except Exception:  # noqa: BLE001 - as at the end of any Python program
                traceback.print_exc()
            sys.stdout.flush()
            sys.stderr.flush()
            reply = {"code": code}
            for name, written in (("stdout", stdout), ("stderr", stderr)):
                written.seek(0)
                reply[name] = written.read().decode()
        self.wfile.write(json.dumps(reply).encode())


class Server(ForkingMixIn, UnixStreamServer):
    request_queue_size = 64


def main(socket: str, cache: str, layer: str, content: str, runtime: str, architecture: str) -> None:
    version = LayerVersion(layer, None)
    shutil.copytree(content, Path(cache) / version.name)
    images = LambdaImage(LayerDownloader(cache, os.getcwd(), []), skip_pull_image=True, force_image_build=False)
    image = images.build(runtime, ZIP, None, [version], architecture)
    try:
        with Server(socket, Command) as server:
            print("ready", flush=True)  # noqa: T201
            server.serve_forever()
    finally:
        images.docker_client.images.remove(image, force=True)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    main(*sys.argv[1:])
