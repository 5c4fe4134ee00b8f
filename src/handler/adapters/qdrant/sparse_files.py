"""Writes an index's files with holes where they hold only zeros, which take no space on the disk.

The engine makes files longer than it needs: 5 MB of index lie in files of 110 MB. Imported when files are written.
"""

import os
import zlib
from pathlib import Path
from typing import IO

BLOCK = 64 * 1024
_ZEROS = bytes(BLOCK)


def fill(target: IO[bytes], source: IO[bytes]) -> int:
    """Write the rest of `source` into the empty file `target`; gives its CRC-32."""
    checksum = 0
    while block := source.read(BLOCK):
        checksum = zlib.crc32(block, checksum)
        if block == _ZEROS:
            target.seek(BLOCK, os.SEEK_CUR)
        else:
            target.write(block)
    target.truncate()
    return checksum


def copy(source: Path, target: Path) -> None:
    """Copy a file's content. A read-only file gives a writable one."""
    with source.open("rb") as old, target.open("xb") as new:
        fill(new, old)


def copy_folder(source: Path, target: Path) -> Path:
    """Copy the contents of a folder to a new one. Read-only files and folders give writable ones."""
    target.mkdir(parents=True)
    for path in source.iterdir():
        (copy_folder if path.is_dir() else copy)(path, target / path.name)
    return target
