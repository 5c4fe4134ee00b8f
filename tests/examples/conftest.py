"""Sites are built only if their tests are named, as by `make test-sites`: generators install hundreds of packages."""

from pathlib import Path

import pytest

SLOW = Path(__file__).with_name("test_site_integrations.py")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    asked = [Path(argument.split("::")[0]).resolve() for argument in config.args]
    return True if collection_path == SLOW and SLOW not in asked else None
