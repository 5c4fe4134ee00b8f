"""Runs the `passage` command as a newcomer's shell would, without the shell's COHERE_API_KEY and the like."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from click.testing import CliRunner, Result

from conftest import ROOT
from passage.cli import main

PASSAGE = str(Path(sys.executable).parent / "passage")
OURS = ("COHERE", "QDRANT", "STORE", "EDGE", "EMBEDDING", "RERANK", "COLLECTION", "VECTOR", "DEFAULT_PROFILE")


@dataclass(frozen=True)
class Done:
    """A command's exit code and output."""

    returncode: object
    stdout: str
    stderr: str

    def ok(self) -> Self:
        assert self.returncode == 0, self.stderr
        return self


Passage = Callable[..., Done]
"""Runs a command: its arguments, `stdin`, and variables to set."""


def in_process(*arguments: object, code: int = 0, **options: Any) -> Result:
    """Run a command in this process; it must exit with `code`. `options` are those of click's runner."""
    done = CliRunner().invoke(main, [*map(str, arguments)], **options)
    assert done.exit_code == code, done.output
    return done


def clean_environment() -> dict[str, str]:
    """An environment without keys, so that emulators replace the services, and with Python's default encoding."""
    return {name: value for name, value in os.environ.items() if not name.startswith((*OURS, "PYTHONUNBUFFERED"))}


@contextmanager
def forked(folder: Path) -> Iterator[Passage]:
    """Commands that are forked from one process (fork_server.py)."""
    address = str(folder / "socket")
    command = [sys.executable, str(Path(__file__).with_name("fork_server.py")), address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, env=clean_environment()) as server:
        try:
            assert server.stdout
            assert server.stdout.readline() == b"ready\n", "fork_server.py did not start; why: see above"

            def run(*arguments: str, stdin: str = "", **environment: str) -> Done:
                if arguments[0] == "index" and "--cache" not in arguments:  # other runs' vectors would be found there
                    with TemporaryDirectory() as cache:
                        return run(*arguments, "--cache", cache, stdin=stdin, **environment)
                asked = {
                    "arguments": arguments,
                    "environment": clean_environment() | environment,
                    "stdin": stdin,
                }
                with socket.socket(socket.AF_UNIX) as connection:
                    connection.connect(address)
                    connection.sendall(json.dumps(asked).encode() + b"\n")
                    reply = json.loads(connection.makefile("rb").read())
                assert "Traceback" not in reply["stderr"]
                return Done(reply["code"], reply["stdout"], reply["stderr"])

            yield run
        finally:
            server.terminate()
