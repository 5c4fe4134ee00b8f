"""The contracts: what a caller sends and gets. A sixth is a module beside these and a line here."""

from handler import profiles
from handler.contracts import chunks, context, query_response, ranked, vector_search
from handler.contracts.base import Contract
from handler.core.errors import ConfigurationError
from handler.profiles import Profile

REGISTRY: tuple[Contract, ...] = (
    query_response.CONTRACT,
    vector_search.CONTRACT,
    context.CONTRACT,
    ranked.CONTRACT,
    chunks.CONTRACT,
)


def find(name: str) -> Contract:
    """The contract a profile names.

    Raises:
        ConfigurationError: there is none of that name.
    """
    for contract in REGISTRY:
        if contract.name == name:
            return contract
    known = ", ".join(contract.name for contract in REGISTRY)
    raise ConfigurationError(f"The profile names the contract '{name}'. Known are: {known}.")


def load(name: str) -> Profile:
    """A profile, and its contract with it.

    Raises:
        NotFound: there is no profile of that name.
        ConfigurationError: names the file, the key and what is allowed.
    """
    profile = profiles.load(name)
    known = [contract.name for contract in REGISTRY]
    if profile.contract not in known:
        raise ConfigurationError(
            f"profiles/{name}.toml is not usable: contract: there is no '{profile.contract}', allowed are "
            f"{', '.join(known)}"
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
