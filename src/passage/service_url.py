"""What a URL says of its service: whether it is on this machine, and so whether an emulator answers there."""

import ipaddress
import ssl
from typing import Any
from urllib.parse import urlsplit

from handler.config.providers import EMULATOR, Provider


def name_embedder(provider: Provider, url: str) -> str:
    """Who makes the vectors, as an index records it: the provider's name, or `emulator` for one on this machine."""
    return EMULATOR if provider.emulated and is_loopback(url) else provider.name


def client_options(url: str) -> dict[str, Any]:
    """The options of an httpx client for a URL: no proxy for this machine, and the certificates of SSL_CERT_FILE.

    Raises:
        OSError: SSL_CERT_FILE or SSL_CERT_DIR leads nowhere.
    """
    import httpx  # noqa: PLC0415 - an index on this machine needs none

    verify: ssl.SSLContext | bool = httpx.create_ssl_context() if urlsplit(url).scheme == "https" else True
    return {"trust_env": not is_loopback(url), "verify": verify}


def is_loopback(url: str) -> bool:
    """Whether a URL leads to this machine."""
    try:
        host = urlsplit(url).hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:  # another name than localhost
        return False
