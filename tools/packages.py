"""Builds the packages of the clients and the widget as they are published: python -m tools.packages FOLDER REPOSITORY.

REPOSITORY is the repository's address, as in https://github.com/OWNER/NAME. Whoever publishes the packages knows it.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
FROM = {"python": "clients/python", "javascript": "clients/javascript", "widget": "web"}
NOT_PUBLISHED = ("node_modules", "test", "package-lock.json", "__pycache__")


def write(folder: Path, repository: str) -> dict[str, Path]:
    """Write a folder for each package, ready to be published, with the repository's address. Returns them by name."""
    made: dict[str, Path] = {}
    for name, source in FROM.items():
        made[name] = folder / name
        shutil.copytree(ROOT / source, made[name], ignore=shutil.ignore_patterns(*NOT_PUBLISHED))
        shutil.copy(ROOT / "LICENSE", made[name])
        if name == "python":
            with (made[name] / "pyproject.toml").open("a", encoding="utf-8") as file:
                file.write(f'\n[project.urls]\nHomepage = "{repository}"\nRepository = "{repository}"\n')
        else:
            _add_addresses(made[name] / "package.json", repository, source)
    uv = str(Path(sys.executable).with_name("uv"))
    command = [uv, "build", "--quiet", "--no-build-isolation", "--python", sys.executable]
    subprocess.run(command, cwd=made["python"], check=True)  # noqa: S603 - a program of this environment
    return made


def _add_addresses(path: Path, repository: str, source: str) -> None:
    described = json.loads(path.read_text(encoding="utf-8"))
    described.pop("devDependencies", None)
    described |= {
        "homepage": f"{repository}#readme",
        "bugs": f"{repository}/issues",
        "repository": {"type": "git", "url": f"git+{repository}.git", "directory": source},
    }
    path.write_text(json.dumps(described, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]), sys.argv[2].rstrip("/"))
