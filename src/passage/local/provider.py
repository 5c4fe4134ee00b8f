"""Tells a provider's own API from an emulator, by its URL: their vectors are not comparable."""

import ipaddress
from urllib.parse import urlsplit

from handler.config.providers import EMULATOR, Provider


def made_by(provider: Provider, url: str) -> str:
    """Who makes the vectors, as an index records it: the provider's name, or `emulator` for one on this machine."""
    return EMULATOR if provider.emulated and is_loopback(url) else provider.name


def is_loopback(url: str) -> bool:
    """Whether a URL leads to this machine."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:  # another name than localhost
        return False
