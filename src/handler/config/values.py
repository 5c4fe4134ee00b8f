"""Types of setting values: origins, addresses of services, keys, and where a key is stored."""

import re
from typing import Annotated, Any, NamedTuple
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, BeforeValidator, SecretStr

QDRANT_PORT = 6333
DEFAULT_PORTS = {"http": 80, "https": 443}


def _split(value: str) -> SplitResult:
    """A URL's parts. Raises ValueError if it is not a URL, or its port is not a number below 65,536."""
    parts = urlsplit(value)
    _ = parts.port
    return parts


def header_name(value: str) -> str:
    """The name of an HTTP header (RFC 9110, "token").

    Raises:
        ValueError: it has a character that no header's name has.
    """
    if not re.fullmatch(r"[!#$%&'+.^_`|~0-9A-Za-z-]+", value):
        raise ValueError(f"{value!r} is not the name of a header, as in traceparent: separate names by commas")
    return value


def origin(value: str) -> str:
    """An origin in the form that browsers send: lower case, punycode, without its scheme's default port.

    Raises:
        ValueError: it has a path, a wildcard or no host.
    """
    if value == "*":
        return value
    if "*" in value:
        raise ValueError(f"{value!r} has a wildcard: name each origin, or write * alone to allow every origin")
    refusal = (
        f"{value!r} is not an origin: scheme://host[:port], without a path or a trailing slash, "
        "as in https://user.github.io"
    )
    try:
        parts = _split(value)
        host = _ascii_host(parts.hostname or "")
    except ValueError:
        raise ValueError(refusal) from None
    rest = (parts.path, parts.query, parts.fragment, parts.username)
    if parts.scheme not in DEFAULT_PORTS or not host or any(rest) or re.search(r"[\s?#@]", value):
        raise ValueError(refusal)
    port = "" if parts.port in (None, DEFAULT_PORTS[parts.scheme]) else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}"


def _ascii_host(host: str) -> str:
    """The host as browsers write it: `müller.example` is `xn--mller-kva.example`."""
    if ":" in host:
        return f"[{host}]"
    if host.isascii():
        return host
    import idna  # noqa: PLC0415 - its tables are large, and most origins are ASCII

    return idna.encode(host, uts46=True).decode("ascii")


def base_path(value: str) -> str:
    """The path that a custom domain adds before the API's paths."""
    if value and (not value.startswith("/") or value.endswith("/")):
        raise ValueError("must start with a slash and not end with one, as in /docs-api; empty for none")
    return value


def service_url(value: str) -> str:
    """A service's URL without a slash at the end. Refuses forms that the SDKs would accept but misread.

    Raises:
        ValueError: it has no scheme or possible host, or holds white space, credentials, a query or a fragment.
    """
    if any(character.isspace() for character in value):
        raise ValueError("must not contain white space")
    parts = _split(value)
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname:
        raise ValueError("must start with http:// or https://, followed by the host")
    if not all(0 < len(label) < 64 for label in parts.hostname.removesuffix(".").split(".")):
        raise ValueError("must name a host whose parts, between dots, have 1 to 63 characters")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("must have only scheme, host, port and path; keys have separate variables")
    return value.rstrip("/")


def cohere_url(value: str) -> str:
    """Cohere's URL without the API's version, which the SDK adds.

    Raises:
        ValueError: as `service_url`, or the path names a version.
    """
    value = service_url(value)
    version = re.search(r"/v[12](/(embed|rerank))?$", value.lower())
    if version:
        raise ValueError(f"ends in {version.group()}, which the SDK adds itself: leave it out")
    return value


def qdrant_url(value: str) -> str:
    """Qdrant's URL with an explicit port. Without one, Qdrant's client would use 6333 for https, too.

    Raises:
        ValueError: as `service_url`, or the path is that of the dashboard or of a collection.
    """
    value = service_url(value)
    parts = urlsplit(value)
    if {"dashboard", "collections"} & set(parts.path.lower().split("/")):
        raise ValueError(f"has the path {parts.path}: leave it out, Passage adds the paths of Qdrant's API itself")
    if parts.port is not None:
        return value
    return parts._replace(netloc=f"{parts.netloc}:{443 if parts.scheme == 'https' else QDRANT_PORT}").geturl()


def usable_key(value: str) -> str:
    """A key without the line break at a file's end.

    Raises:
        ValueError: an HTTP header cannot hold it, or it is JSON. The message does not repeat it.
    """
    key = value.strip()
    if key[:1] in ("{", "["):
        raise ValueError("holds JSON, not a key")
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ValueError("is not a key: it is empty, or has white space or a character that is not printable ASCII")
    return key


class SecretReference(NamedTuple):
    """Where a key is stored: a secret of Secrets Manager by name or ARN, or a parameter of Parameter Store.

    Attributes:
        field: the key's name in a secret that is a JSON object; empty when the secret is the key itself.
    """

    name: str
    in_parameter_store: bool = False
    field: str = ""

    @classmethod
    def parse(cls, text: str) -> "SecretReference":
        """Read `name`, `arn:…` or `ssm:/path`, each with an optional `#field` after it."""
        name, hash_sign, field = text.strip().partition("#")
        plain = name.removeprefix("ssm:")
        if not re.fullmatch(r"[\w/+=.@:-]+", plain) or bool(hash_sign) != bool(field) or "#" in field:
            raise ValueError(
                "must be a secret's name or ARN, or ssm: and a parameter's name, as in ssm:/passage/cohere; "
                "#field after it names a field of a secret that is a JSON object"
            )
        return cls(plain, plain != name or bool(re.match(r"arn:[\w-]+:ssm:", name)), field)

    @property
    def region(self) -> str | None:
        """The region in an ARN; None for a name, which belongs to the function's region."""
        return self.name.split(":")[3] if self.name.startswith("arn:") and self.name.count(":") > 4 else None


def bucket_uri(value: str) -> str:
    """A bucket and a folder in it, as `s3://bucket/folder`, without a slash at the end. Raises ValueError."""
    if not re.fullmatch(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[^\s?#]*)?", value):
        raise ValueError("must be s3://bucket or s3://bucket/folder, where `passage index --publish` put the index")
    return value.rstrip("/")


def _names(value: Any) -> Any:
    return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value


Names = BeforeValidator(_names)
"""Splits a list that is separated by commas."""

UpperCase = BeforeValidator(lambda value: value.upper() if isinstance(value, str) else value)

Key = Annotated[SecretStr, AfterValidator(lambda value: SecretStr(usable_key(value.get_secret_value())))]
SecretKey = Annotated[SecretReference, BeforeValidator(SecretReference.parse)]
"""A reference to a key in Secrets Manager or Parameter Store."""

BucketUri = Annotated[str, AfterValidator(bucket_uri)]
ServiceUrl = Annotated[str, AfterValidator(service_url)]
QdrantUrl = Annotated[str, AfterValidator(qdrant_url)]
BasePath = Annotated[str, AfterValidator(base_path)]
Origin = Annotated[str, AfterValidator(origin)]
HeaderName = Annotated[str, AfterValidator(header_name)]
