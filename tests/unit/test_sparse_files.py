"""Copies with holes have the content of their originals."""

import io
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handler.adapters.qdrant import sparse_files
from handler.adapters.qdrant.sparse_files import BLOCK

PARTS = [
    b"",
    b"a",
    bytes(1),
    bytes(BLOCK),
    bytes(BLOCK - 1),
    b"b" * BLOCK,
    bytes(3 * BLOCK),
]


@given(st.lists(st.sampled_from(PARTS), max_size=6).map(b"".join))
def test_copy_has_the_content_of_its_source(content: bytes) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "copy"
        with path.open("xb") as target:
            sparse_files.fill(target, io.BytesIO(content))
        assert path.read_bytes() == content


def test_zeros_take_no_space(tmp_path: Path) -> None:
    (tmp_path / "full").write_bytes(bytes(100 * BLOCK) + b"end")
    (tmp_path / "full").chmod(0o400)
    sparse_files.copy(tmp_path / "full", tmp_path / "copy")
    found = (tmp_path / "copy").stat()
    assert (tmp_path / "copy").read_bytes() == (tmp_path / "full").read_bytes()
    assert found.st_blocks * 512 <= 2 * BLOCK
    assert found.st_mode & 0o200, "can be written to"


def test_existing_file_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    with pytest.raises(FileExistsError):
        sparse_files.copy(tmp_path / "a", tmp_path / "a")


def test_copied_folder_is_whole_and_can_be_written_to(tmp_path: Path) -> None:
    """A layer or an image may hold folders that nobody may write to."""
    inner = tmp_path / "source" / "inner"
    inner.mkdir(parents=True)
    (inner / "file").write_bytes(b"content")
    (inner / "empty").mkdir()
    (tmp_path / "source" / "link").symlink_to(inner)
    for folder in (inner, inner.parent):
        folder.chmod(0o555)
    copied = sparse_files.copy_folder(inner.parent, tmp_path / "new" / "copy")
    for folder in (inner.parent, inner):
        folder.chmod(0o755)  # so that they can be removed
    found = {path.relative_to(copied).as_posix(): path for path in copied.rglob("*")}
    assert {"inner", "inner/file", "inner/empty", "link", "link/file", "link/empty"} == found.keys()
    assert (copied / "link" / "file").read_bytes() == b"content"
    assert all(path.stat().st_mode & 0o200 for path in (copied, *found.values()))
    with pytest.raises(FileExistsError):
        sparse_files.copy_folder(inner, copied)
