"""The contracts: what a caller sends and gets. A sixth is a module beside these and a line here."""

from importlib import import_module

from handler.config import profiles
from handler.config.profiles import Profile
from handler.contracts.base import Contract
from handler.core.errors import ConfigurationError

REGISTRY: tuple[str, ...] = ("query_response", "vector_search", "context", "ranked", "chunks")
"""Each is a module here, whose models take milliseconds to build: loaded once a profile names it."""


def find(name: str) -> Contract:
    """The contract a profile names.

    Raises:
        ConfigurationError: there is none of that name.
    """
    if name not in REGISTRY:
        raise ConfigurationError(f"The profile names the contract '{name}'. Known are: {', '.join(REGISTRY)}.")
    contract: Contract = import_module(f"handler.contracts.{name}").CONTRACT
    return contract


def load(name: str) -> Profile:
    """A profile, and its contract with it.

    Raises:
        NotFound: there is no profile of that name.
        ConfigurationError: names the file, the key and what is allowed.
    """
    profile = profiles.load(name)
    if profile.contract not in REGISTRY:
        raise ConfigurationError(
            f"profiles/{name}.toml is not usable: contract: there is no '{profile.contract}', allowed are "
            f"{', '.join(REGISTRY)}"
        )
    return profile


def served() -> tuple[list[Profile], dict[str, ConfigurationError]]:
    """The profiles that can be asked, and by its name what is wrong with each that cannot: it must not take the rest
    with it."""
    usable: list[Profile] = []
    broken: dict[str, ConfigurationError] = {}
    for name in profiles.names():
        try:
            usable.append(load(name))
        except ConfigurationError as error:
            broken[name] = error
    return usable, broken
