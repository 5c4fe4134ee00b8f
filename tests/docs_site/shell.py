"""The shell commands of a Markdown page, run one after another; those that serve go on until the end."""

import os
import re
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from command.passage_command import clean_environment
from tools.runtime import free_port

BLOCK = re.compile(r"```sh\n(.*?)```", re.DOTALL)
SERVING = re.compile(r"passage serve|http\.server|^make run")
WITHIN = 120.0


def blocks(page: Path) -> list[str]:
    """The blocks of a page that are marked `sh`."""
    return BLOCK.findall(page.read_text(encoding="utf-8"))


@dataclass
class Shell:
    """Runs commands in a folder, with other ports in place of the page's, so that nothing else answers."""

    folder: Path
    ports: Mapping[str, int]
    output: list[str] = field(default_factory=list)
    _stack: ExitStack = field(default_factory=ExitStack)

    def run(self, block: str) -> str:
        """The output of a block; for a server, once it answers."""
        for written, port in self.ports.items():
            block = re.sub(rf"\b{written}\b", str(port), block)
        command = ["bash", "-euo", "pipefail", "-c", block]
        if SERVING.search(block):
            self._serve(command, block)
            return ""
        done = subprocess.run(
            command, cwd=self.folder, env=_environment(), capture_output=True, text=True, timeout=WITHIN, check=False
        )
        assert done.returncode == 0, f"{block}\n{done.stdout}\n{done.stderr}"
        self.output.append(done.stdout)
        return done.stdout

    def _serve(self, command: list[str], block: str) -> None:
        port = next(port for port in self.ports.values() if str(port) in block)
        log = self._stack.enter_context((self.folder / f"{port}.log").open("w+b"))
        process = self._stack.enter_context(
            subprocess.Popen(
                command, cwd=self.folder, env=_environment(), stdout=log, stderr=log, start_new_session=True
            )
        )
        self._stack.callback(os.killpg, process.pid, 15)
        ends = time.monotonic() + WITHIN
        while time.monotonic() < ends and process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.05)
        log.seek(0)
        raise AssertionError(f"{block}\nserves nothing on {port}:\n{log.read().decode()}")

    def close(self) -> None:
        self._stack.close()


def _environment() -> dict[str, str]:
    return {**clean_environment(), "NO_PROXY": "127.0.0.1"}


@contextmanager
def shell(folder: Path, *ports: str) -> Iterator[Shell]:
    """A shell whose servers stop at the end."""
    running = Shell(folder, {port: free_port() for port in ports})
    try:
        yield running
    finally:
        running.close()
