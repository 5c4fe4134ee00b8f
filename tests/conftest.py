"""Shared by all tests: the sample site's index, and the events of the repository."""

import asyncio
import json
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from botocore.loaders import JSONFileLoader
from hypothesis import HealthCheck, settings

from handler.adapters import transport
from handler.config import profiles
from textbook import ROOT, TEXTBOOK, kept_index

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["EVENTS", "EVERY_PROFILE", "ROOT", "TEXTBOOK"]

# Variables of the make that runs pytest must not reach the makes that tests start.
for _variable in ("ARGS", "MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS"):
    os.environ.pop(_variable, None)

EVENTS = ROOT / "events"
EVERY_PROFILE = ",".join(profiles.names())
"""PROFILES of a function that serves all profiles."""

# Tests start many processes. If the shell forbids bytecode, each of them would compile its imports.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Hypothesis fails a property whose examples take long to make: on a busy machine, any may.
NO_CLOCK: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("passage", **NO_CLOCK)
settings.register_profile("fast", max_examples=4, **NO_CLOCK)  # `make test-fast`
settings.register_profile("ci", derandomize=True, database=None, **NO_CLOCK)  # the same examples for the same code
settings.load_profile("passage")

# botocore parses its data again for each session, and the function makes a session for each client.
_botocore_data = cache(JSONFileLoader().load_file)
JSONFileLoader.load_file = lambda _, path: _botocore_data(path)


@pytest.fixture(scope="session")
def textbook_index() -> Path:
    """The sample textbook, indexed for the default profile. Only for reading."""
    return kept_index("default", ["query-response"])


@pytest.fixture(scope="session")
def several_indexes() -> Path:
    """The sample textbook, indexed for every profile. Only for reading."""
    return kept_index("all", profiles.names())


@pytest.fixture(scope="module")
def api_url(several_indexes: Path) -> Iterator[str]:
    """The URL of the function, which runs as `passage serve` runs it, with every profile."""
    from serving import served_index

    with served_index(several_indexes) as url:
        yield url


@pytest.fixture(scope="session")
def load_event() -> Callable[[str], Any]:
    """Reads one of the repository's sample events by its name."""
    return lambda name: json.loads((EVENTS / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def driven() -> Iterator["Browser"]:
    """A headless Chromium for one file of tests. Playwright runs an event loop in this thread for as long."""
    from playwright.sync_api import sync_playwright

    from browser import chromium

    path = chromium.find("chromium-headless-shell")  # it draws no window, so tests take half the time
    if path is None:
        pytest.skip("needs Chromium or Chrome: `apt-get install chromium`, or PASSAGE_BROWSER=/path/to/one")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        yield started
        started.close()


@pytest.fixture(scope="module", autouse=True)
def _no_loop_left() -> Iterator[None]:
    """Name the file that leaves an event loop running: asyncio refuses a second one in every later file."""
    yield
    assert asyncio._get_running_loop() is None, "these tests left an event loop running"


@pytest.fixture(scope="session", autouse=True)
def _pool_closed() -> Iterator[None]:
    """Close the process's connection pool: its connections must not outlive the tests' servers."""
    yield
    transport.shared().close()
