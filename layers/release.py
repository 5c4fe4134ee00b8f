"""Names a deployment: the same name for the same code, template and parameters, another name for any other.

    python layers/release.py .aws-sam/build Name=value …

The name is the template's ReleaseId. SAM publishes a version of the function for each new one. Without it, SAM compares
the template's text and the uploads only: a changed parameter would reach $LATEST alone, which nobody calls.
"""

import hashlib
import sys
from pathlib import Path


def release_id(build: Path, parameters: list[str]) -> str:
    """Twenty hexadecimal digits of a hash, because a parameter may be a key."""
    digest = hashlib.sha256()
    for path in sorted(path for path in build.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(build).as_posix()}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    digest.update("\0".join(parameters).encode())
    return digest.hexdigest()[:20]


if __name__ == "__main__":
    sys.stdout.write(release_id(Path(sys.argv[1]), sys.argv[2:]) + "\n")
