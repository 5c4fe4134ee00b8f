"""The contracts: what a caller sends and gets. A sixth is a module beside these and a line here."""

from handler.contracts import chunks, context, query_response, ranked, vector_search
from handler.contracts.base import Contract
from handler.core.errors import ConfigurationError

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
