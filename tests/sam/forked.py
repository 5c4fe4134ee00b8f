"""Starts forking.py for the built function, and asks it."""

import json
import secrets
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from conftest import ROOT
from tools.sam_local import FUNCTION, SamLocal, architecture

LAYER = "DependenciesLayer"
ATTEMPTS = 3
"""SAM looks for a free port, and another command may find the same one before it is taken."""

Invoke = Callable[[Path], Any]


@contextmanager
def forked(local: SamLocal) -> Iterator[Invoke]:
    """The output of `sam local invoke` for an event's file. It can be called from several threads at once."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        template = json.loads(local.template.read_text(encoding="utf-8"))
        # A name that was never there before: no image of an older layer can answer to it.
        layer = f"arn:aws:lambda:eu-central-1:123456789012:layer:{LAYER}-{secrets.token_hex(8)}:1"
        content = _publish(template, layer, local.template.parent)
        (folder / "template.json").write_text(json.dumps(template), encoding="utf-8")
        command = [
            *(local.sam.with_name("python"), Path(__file__).with_name("forking.py"), folder / "socket"),
            *(folder, layer, content, template["Globals"]["Function"]["Runtime"], architecture()),
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, env=local.environment()) as server:
            try:
                assert server.stdout
                assert server.stdout.readline() == b"ready\n", "forking.py did not start; why: see above"
                invoke = replace(local, template=folder / "template.json").command("invoke")[1:]
                options = [*invoke, "--layer-cache-basedir", name]
                yield lambda event: _run(folder / "socket", [*options, "--event", str(event)])
            finally:
                server.terminate()


def _publish(template: dict[str, Any], layer: str, built: Path) -> Path:
    """Make the function refer to a published layer. Returns the folder of the layer's content."""
    properties = template["Resources"][FUNCTION]["Properties"]
    properties["CodeUri"] = str(built / properties["CodeUri"])
    properties["Layers"][properties["Layers"].index({"Ref": LAYER})] = layer
    return built / template["Resources"].pop(LAYER)["Properties"]["ContentUri"]


def _run(address: Path, arguments: list[str]) -> Any:
    for _ in range(ATTEMPTS):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(address))
            connection.sendall(json.dumps(arguments).encode() + b"\n")
            reply = json.loads(connection.makefile("rb").read())
        if "port is already allocated" not in reply["stderr"]:
            break
    assert reply["code"] == 0, reply["stderr"]
    return json.loads(reply["stdout"])
