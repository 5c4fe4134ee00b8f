"""Reads how each provider is reached: its key, or where the key is stored, and its address."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from pydantic import SecretStr

from handler.config.providers import PROVIDERS, Provider
from handler.config.values import SecretReference, usable_key


class Access(NamedTuple):
    """How a provider is reached, from its variables.

    Attributes:
        url: of its API, without a slash at the end; empty on AWS.
        key: None if it is not set.
        secret: where the key is stored; None if it is not set.
    """

    url: str = ""
    key: SecretStr | None = None
    secret: SecretReference | None = None

    @property
    def has_key(self) -> bool:
        return self.key is not None or self.secret is not None


def read_access(provider: Provider, environ: Mapping[str, str]) -> Access:
    """Read a provider's variables; an empty one counts as not set.

    Raises:
        ValueError: names each wrong variable, without its value.
    """
    if provider.url is None:
        return Access()
    read: dict[str, Any] = {}
    faults: list[str] = []
    parsers: dict[str, Callable[[str], Any]] = {
        provider.key_variable: lambda text: SecretStr(usable_key(text)),
        provider.secret_variable: SecretReference.parse,
        provider.url_variable: provider.check_url,
    }
    for variable, parse in parsers.items():
        text = environ.get(variable, "")
        try:
            read[variable] = parse(text) if text.strip() else None
        except ValueError as error:
            faults.append(f"{variable}: {error}")
    key, secret, url = (read.get(variable) for variable in parsers)
    if key is not None and secret is not None:
        faults.append(f"{provider.key_variable}: set it or {provider.secret_variable}, not both")
    if faults:
        raise ValueError("; ".join(faults))
    return Access(url or provider.url, key, secret)


def read_all(environ: Mapping[str, str]) -> Mapping[str, Access]:
    """Read every provider's variables; see `read_access`."""
    access: dict[str, Access] = {}
    faults = []
    for provider in PROVIDERS.values():
        try:
            access[provider.name] = read_access(provider, environ)
        except ValueError as error:
            faults.append(str(error))
    if faults:
        raise ValueError("; ".join(faults))
    return access
