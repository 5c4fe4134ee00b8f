"""Name what is about to be deployed: the same name for the same code, template and parameters, and for nothing else.

    python layers/release.py .aws-sam/build Name=value …

The template's ReleaseId. SAM publishes a version of the function for each new one. Without it, SAM looks at the text of
the template and at what was uploaded: a parameter that changed would reach $LATEST, and nobody calls that.
"""

import hashlib
import sys
from pathlib import Path


def release_id(build: Path, parameters: list[str]) -> str:
    """Twenty hexadecimal digits; no parameter, which may be a key, can be read out of them."""
    digest = hashlib.sha256()
    for path in sorted(path for path in build.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(build).as_posix()}\0{path.stat().st_size}\0".encode())
        digest.update(path.read_bytes())
    digest.update("\0".join(parameters).encode())
    return digest.hexdigest()[:20]


if __name__ == "__main__":
    sys.stdout.write(release_id(Path(sys.argv[1]), sys.argv[2:]) + "\n")
