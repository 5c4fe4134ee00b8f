"""Tells Cohere's own API from an emulator, by its URL: their vectors are not comparable."""

import ipaddress
from urllib.parse import urlsplit


def provider(base_url: str) -> str:
    """`emulator` for a service on this machine, else `cohere`."""
    return "emulator" if is_loopback(base_url) else "cohere"


def is_loopback(url: str) -> bool:
    """Whether a URL leads to this machine."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:  # another name than localhost
        return False
