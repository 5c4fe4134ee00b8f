"""The size of the built function and layer, counted as `make build` does."""

import runpy
import tempfile
from collections import Counter
from pathlib import Path

from benchmarks.asking import ROOT
from benchmarks.results import Size
from tools.artefact import Artefact


def measure(built: Artefact) -> Size:
    """Megabytes, unzipped, byte-compiled."""
    count = runpy.run_path(str(ROOT / "layers" / "size.py"))["sizes"]
    with tempfile.TemporaryDirectory() as folder:  # laid out as SAM lays a build out
        (Path(folder) / "DependenciesLayer").symlink_to(built.layer)
        (Path(folder) / "RetrievalFunction").symlink_to(built.function)
        found: Counter[str] = count(Path(folder))
    return Size(
        both=round(found.total() / 1e6, 1),
        qdrant_client=round(found["qdrant_client"] / 1e6, 1),
        qdrant_edge=round(found["qdrant_edge"] / 1e6, 1),
    )
