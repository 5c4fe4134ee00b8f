"""Reads a secret: by the AWS Parameters and Secrets Lambda Extension, or else by boto3."""

from collections.abc import Mapping
from urllib.parse import quote

import httpx

from handler.adapters.errors import Service
from handler.adapters.transport import for_client
from handler.config.settings import RuntimeSettings
from handler.config.values import SecretReference
from handler.core.errors import ConfigurationError, PassageError, Upstream, UpstreamUnavailable

EXTENSION_PORT = "2773"


def from_extension(reference: SecretReference, environ: Mapping[str, str]) -> tuple[bool, str | None]:
    """Whether the extension runs here, and the secret where it returned one.

    Args:
        environ: the function's, which holds the extension's token and port.
    """
    token = environ.get("AWS_SESSION_TOKEN")
    if not token or not RuntimeSettings.from_env(environ).in_lambda:
        return False, None  # on another machine, whatever listens on that port must not get the token
    name = quote(reference.name, safe="")
    path = (
        f"systemsmanager/parameters/get?name={name}&withDecryption=true"
        if reference.in_parameter_store
        else f"secretsmanager/get?secretId={name}"
    )
    port = environ.get("PARAMETERS_SECRETS_EXTENSION_HTTP_PORT", EXTENSION_PORT)
    headers = {"X-Aws-Parameters-Secrets-Token": token}
    try:
        response = for_client().handle_request(httpx.Request("GET", f"http://localhost:{port}/{path}", headers=headers))
        response.read()
        if response.status_code != 200:
            return True, None  # boto3's error says more
        answer = response.json()
        text = answer["Parameter"]["Value"] if reference.in_parameter_store else answer.get("SecretString")
    except (httpx.HTTPError, httpx.InvalidURL):
        return False, None
    except (ValueError, TypeError, KeyError, AttributeError):
        return True, None
    return True, text if isinstance(text, str) else None


def from_aws(reference: SecretReference) -> str | None:
    """The secret by boto3; None for one that holds no text."""
    from handler.adapters.aws import client as aws  # noqa: PLC0415 - boto3 costs more than the rest of this module

    if reference.in_parameter_store:
        answer = aws.client("ssm", region=reference.region).get_parameter(Name=reference.name, WithDecryption=True)
        text = answer["Parameter"]["Value"]
    else:
        answer = aws.client("secretsmanager", region=reference.region).get_secret_value(SecretId=reference.name)
        _ = answer["ARN"]  # each secret has one: this is no answer of Secrets Manager's without it
        text = answer.get("SecretString")
    return str(text) if text is not None else None


def unreadable(error: Exception, variable: str, upstream: Upstream) -> PassageError:
    """The core's error for a secret that could not be read.

    Args:
        variable: the setting that names the secret.
    """
    from handler.adapters.aws import client as aws  # noqa: PLC0415 - see `from_aws`

    if isinstance(error, httpx.HTTPError):
        return Service(upstream, "secret store", variable, "AWS_ENDPOINT_URL").from_transport(error)
    if aws.passing(error):
        return UpstreamUnavailable(
            f"The secret in {variable} could not be read.", upstream=upstream, detail=repr(error)
        )
    return ConfigurationError(
        f"{variable}: the secret could not be read. Check that it exists, and that the function's role may read it "
        "(secretsmanager:GetSecretValue or ssm:GetParameter, and kms:Decrypt for a customer managed key).",
        upstream=upstream,
        detail=repr(error),
    )
