"""The sample textbook, indexed once: the index is cached by the hash of everything it depends on."""

import hashlib
import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from handler.config import profiles
from handler.config.profiles import Profile
from handler.config.settings import CollectionSettings
from indexed import embedder_at, index_edge
from locking import one_at_a_time
from passage.indexing.embedding import DocumentEmbedder
from passage.sites.markdown import find_site
from tools.doubles import cohere_emulator

ROOT = Path(__file__).resolve().parent.parent
TEXTBOOK = ROOT / "samples" / "textbook"
KEPT = ROOT / ".passage" / "tests"
KEPT_SECONDS = 24 * 3600
"""How long an index of another code version is cached: a run that began before an edit still reads it."""


def copy_index(index: Path, to: Path) -> Path:
    """Copy an index that others may be opening: the engine writes and renames files of its own then."""
    return Path(shutil.copytree(index, to, ignore=shutil.ignore_patterns(".atomicwrite*")))


def index_textbook(root: Path, profile: Profile, embedder: DocumentEmbedder) -> None:
    """Index the textbook for a profile into `root`, as `passage index` does."""
    index_edge(find_site(TEXTBOOK, None), profile, root, embedder, noise=True)


def kept_index(name: str, names: Iterable[str], variables: Mapping[str, str] | None = None) -> Path:
    """The folder of an index for the profiles `names`. Only for reading: other processes read it, too.

    Args:
        name: the index's own name; it says which profiles and variables it is of.
        variables: what the environment says about the collection.
    """
    settings = CollectionSettings.from_env(variables or {})

    def make(root: Path) -> None:
        with cohere_emulator() as cohere:
            for profile in (profiles.load(name).with_settings(settings) for name in names):
                embedder = embedder_at(cohere.url, profile)
                index_textbook(root, profile, embedder)

    return _kept(name, make)


def _kept(name: str, make: Callable[[Path], None]) -> Path:
    folder = KEPT / _digest() / name
    with one_at_a_time("tests"):
        if not folder.exists():
            KEPT.mkdir(parents=True, exist_ok=True)
            _forget_others()
            with TemporaryDirectory(dir=KEPT) as part:
                make(Path(part))
                shutil.copytree(part, folder.with_suffix(".part"))
            folder.with_suffix(".part").rename(folder)
    return folder


def _forget_others() -> None:
    for other in KEPT.iterdir():
        if other.is_dir() and time.time() - other.stat().st_mtime > KEPT_SECONDS:
            shutil.rmtree(other)


@cache
def _digest() -> str:
    digest = hashlib.sha256()
    sources = (path for folder in ("src", "samples/textbook") for path in (ROOT / folder).rglob("*"))
    for path in sorted([*sources, ROOT / "requirements" / "dev.txt"]):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(f"{path.relative_to(ROOT)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]
