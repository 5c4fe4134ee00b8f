"""What a build weighs unzipped, as Lambda counts it: a table, and an error above the limit.

python layers/size.py .aws-sam/build [limit in MB]
"""

import sys
from collections import Counter
from pathlib import Path

LIMIT = 75_000_000
"""Bytes of function and layer, with both stores. Lambda's own limit is 250 MB, but every cold start reads them."""

SHOWN = 10


def sizes(build: Path) -> Counter[str]:
    """Bytes by top-level name of the layer, its packages' metadata as one, and of the function."""
    found: Counter[str] = Counter()
    for layer in (build / "DependenciesLayer" / "python", build / "RetrievalFunction"):
        for path in layer.rglob("*"):
            if path.is_file():
                name = path.relative_to(layer).parts[0]
                found["metadata and licences" if name.endswith(".dist-info") else name] += path.stat().st_size
    return found


def table(found: Counter[str]) -> str:
    shown = found.most_common(SHOWN)
    rest = found.total() - sum(size for _, size in shown)
    lines = [*shown, (f"{len(found) - len(shown)} others", rest), ("function and layer", found.total())]
    return "\n".join(f"{name:<24}{size / 1e6:>7.1f} MB" for name, size in lines)


def main() -> int:
    build = Path(sys.argv[1])
    limit = int(sys.argv[2]) * 1_000_000 if len(sys.argv) > 2 else LIMIT
    found = sizes(build)
    lines = ["", table(found)]
    if not any(build.rglob("*.pyc")):
        lines.append("No bytecode: see the warning above.")
    if found.total() > limit:
        lines.append(f"This is above the limit of {limit / 1e6:.0f} MB (layers/size.py).")
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if found.total() > limit else 0


if __name__ == "__main__":
    sys.exit(main())
