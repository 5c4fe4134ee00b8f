"""Shared by the tests of the templates: the stack of each option."""

import pytest

from template.cloudformation import Stack, stacks
from template.options import OPTIONS


@pytest.fixture(scope="session")
def made() -> dict[str, Stack]:
    """The stack of each option, by its name."""
    return stacks(OPTIONS)
