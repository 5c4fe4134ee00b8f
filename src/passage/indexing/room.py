"""A disk's room, checked before files grow on it: a mapped file that finds no room kills the process (SIGBUS)."""

import shutil
from pathlib import Path

MARGIN = 8_000_000
"""Bytes for what is not counted: tables, logs, the parts of a file system."""


def lacking(folder: Path, needed: int) -> str:
    """The fault of a folder's disk, in words that follow its name; empty where `needed` bytes and a margin are free."""
    free = shutil.disk_usage(folder).free
    if free >= needed + MARGIN:
        return ""
    return f"its disk has {free / 1e6:,.0f} MB free, and {(needed + MARGIN) / 1e6:,.0f} MB are needed"
