"""Runs the function under AWS's Runtime Interface Emulator: Lambda's loop and runtime client, without Docker."""

import json
import os
import platform
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import httpx

START_SECONDS = 30
LAMBDAS = ("AWS_LAMBDA_FUNCTION_NAME", "AWS_LAMBDA_FUNCTION_TIMEOUT", "AWS_LAMBDA_INITIALIZATION_TYPE")
"""Variables that only Lambda sets. Another host of the function may set none of them."""

_INIT = re.compile(r"INIT REPORT\(durationMs: ([0-9.]+)\)")


class RuntimeUnavailable(Exception):
    """The emulator's program is not installed. The message says where it was looked for."""


def architecture() -> str:
    """This machine's processor, by AWS' name. A container for another processor would be emulated, slowly."""
    return "arm64" if platform.machine() in ("arm64", "aarch64") else "x86_64"


def find_emulator() -> Path:
    """The emulator's program: on PATH, or in the AWS SAM CLI's package, which has it for both architectures.

    Raises:
        RuntimeUnavailable: it is not found.
    """
    on_path = shutil.which("aws-lambda-rie")
    if on_path:
        return Path(on_path)
    pattern = f"lib/python*/site-packages/samcli/local/rapid/aws-lambda-rie-{architecture()}"
    for environment in (Path(".venv-sam"), Path(sys.prefix)):
        for found in environment.glob(pattern):
            return found.resolve()
    raise RuntimeUnavailable(
        "The Runtime Interface Emulator was not found: not as aws-lambda-rie on PATH, nor in .venv-sam "
        "(`make .venv-sam/.ready` installs it with the AWS SAM CLI)."
    )


def free_port() -> int:
    """A free port. It is not reserved, so another program may take it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Runtime:
    """One container's life: started with an environment, invoked over HTTP, stopped.

    Args:
        environment: added to a minimal one; None removes a variable. The parent's variables are not passed on.
        code: folders to import from, first one first.
        timeout: the function's, in seconds, as the runtime tells it.
    """

    def __init__(
        self,
        handler: str = "handler.app.lambda_handler",
        *,
        environment: Mapping[str, str | None],
        code: tuple[Path, ...],
        python: Path = Path(sys.executable),
        timeout: int = 30,
        log: Path,
    ) -> None:
        self._api, self._port = free_port(), free_port()
        self._log = log
        self._command = [
            str(find_emulator()),
            "--runtime-api-address",
            f"127.0.0.1:{self._api}",
            "--runtime-interface-emulator-address",
            f"127.0.0.1:{self._port}",
            str(python),
            "-m",
            "awslambdaric",
            handler,
        ]
        variables = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": os.environ.get("HOME", "/"),
            "PYTHONPATH": os.pathsep.join(str(folder.resolve()) for folder in code),
            **dict(zip(LAMBDAS, ("passage", str(timeout), "on-demand"), strict=True)),
            **environment,
        }
        self._environment = {name: value for name, value in variables.items() if value is not None}
        self._process: subprocess.Popen[bytes] | None = None
        self._client = httpx.Client(base_url=f"http://127.0.0.1:{self._port}", timeout=60)

    def start(self) -> Self:
        """Start the container. INIT runs with the first invocation, as it does in Lambda on demand."""
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own command
                self._command, env=self._environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )
        ends = time.monotonic() + START_SECONDS
        while time.monotonic() < ends:
            with socket.socket() as probe:
                probe.settimeout(0.2)
                if probe.connect_ex(("127.0.0.1", self._port)) == 0:
                    return self
            time.sleep(0.01)
        self.stop()
        raise RuntimeUnavailable(f"The emulator did not start within {START_SECONDS} s:\n{self.log()}")

    def invoke(self, event: Any) -> Any:
        """The function's answer to `event`, or Lambda's own error object if it raised."""
        return self.invoke_raw(json.dumps(event))

    def invoke_raw(self, payload: str) -> Any:
        response = self._client.post("/2015-03-31/functions/function/invocations", content=payload)
        response.raise_for_status()
        return response.json()

    def init_ms(self) -> float:
        """Milliseconds INIT took, as the emulator reports them. Raises ValueError before the first invocation."""
        found = _INIT.search(self.log())
        if found is None:
            raise ValueError("the emulator has not reported INIT yet")
        return float(found.group(1))

    def process(self) -> Path:
        """The folder under /proc of the function's own process, the emulator's only child."""
        assert self._process is not None  # noqa: S101 - see start
        tasks = Path(f"/proc/{self._process.pid}/task").glob("*/children")
        children = [child for task in tasks for child in task.read_text().split()]
        if len(children) != 1:
            raise RuntimeError(f"the emulator has the children {children}, not the function alone")
        return Path(f"/proc/{children[0]}")

    def log(self) -> str:
        """The output of the emulator and the function."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def stop(self) -> None:
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)  # the emulator's child, the runtime, is in its group
            self._process.wait()
            self._process = None
        self._client.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()
