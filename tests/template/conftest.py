"""What the tests of the template share: what it makes for each option."""

import pytest

from template.cloudformation import Stack, stacks
from template.options import OPTIONS


@pytest.fixture(scope="session")
def made() -> dict[str, Stack]:
    """The stack of each option, by its name."""
    return stacks(OPTIONS)
