"""The list of contracts. A contract is a module beside this one."""

from importlib import import_module

from handler.config.profiles import Profile
from handler.contracts.base import Contract
from handler.core.errors import ConfigurationError

NAMES: tuple[str, ...] = ("query_response", "vector_search", "context", "ranked", "chunks")
"""Module names. Each is imported when a profile names it, because building its models takes milliseconds."""


def check(profile: Profile) -> None:
    """Raise ConfigurationError if a profile names no contract. None is imported."""
    if profile.contract not in NAMES:
        raise ConfigurationError(
            f"profiles/{profile.name}.toml is invalid: contract: '{profile.contract}' is unknown; allowed: "
            f"{', '.join(NAMES)}"
        )


def find(profile: Profile) -> Contract:
    """The contract that a profile names. Raises as `check`."""
    check(profile)
    return load(profile.contract)


def load(name: str) -> Contract:
    """The contract named `name`, one of `NAMES`."""
    contract: Contract = import_module(f"handler.contracts.{name}").CONTRACT
    return contract
