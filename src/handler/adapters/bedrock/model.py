"""One model on Amazon Bedrock, called by InvokeModel. Its failures become the core's errors.

It uses boto3, because the Cohere SDK's Bedrock client imports boto3 and the whole SDK (docs/decisions, 10).
"""

import json
from collections.abc import Mapping
from threading import Lock
from typing import Any

import httpx
from botocore.exceptions import BotoCoreError, ClientError, NoRegionError

from handler.adapters.aws import client as aws
from handler.adapters.errors import Service, retry_after
from handler.core.errors import ConfigurationError, CredentialsRefused, PassageError, RequestRefused, UpstreamThrottled

CALLER_REFUSED = frozenset(
    {"ExpiredTokenException", "InvalidSignatureException", "NotAuthorized", "UnrecognizedClientException"}
)
"""Error codes that mean a refused caller, whatever the status."""


class BedrockModel:
    """A model, and the client that calls it.

    Args:
        model: its id, an inference profile's (`eu.cohere.embed-v4:0`) or the ARN of either.
        service: the service that messages name.
        refused: the message for a refused request, which is so plain that only its model can be wrong.
    """

    def __init__(self, model: str, *, service: Service, refused: str) -> None:
        self.name = model
        self._service = service
        self._refused_request = refused
        self._making = Lock()
        self._made: Any = None

    @property
    def _client(self) -> Any:
        """The client, built once, even when several threads ask first."""
        with self._making:
            if self._made is None:
                self._made = self._make()
            return self._made

    def _make(self) -> Any:
        try:
            return aws.client("bedrock-runtime")
        except NoRegionError as error:
            raise ConfigurationError("No AWS region is set: set AWS_DEFAULT_REGION, as Lambda does.") from error

    def invoke(self, request: Mapping[str, Any]) -> Any:
        """The model's answer: any JSON value.

        Raises:
            UpstreamError: Bedrock failed temporarily.
            DeadlineExceeded: the running deadline passed.
            ConfigurationError: the role, the model or the request was refused.
        """
        try:
            response = self._client.invoke_model(
                modelId=self.name,
                body=json.dumps(request),
                contentType="application/json",
                accept="application/json",
            )
            return json.loads(response["body"].read())
        except ClientError as error:
            raise self._refusal(error) from error
        except BotoCoreError as error:  # without credentials, or an answer botocore could not read
            raise self._no_credentials(error) from error
        except (httpx.HTTPError, ValueError, RecursionError) as error:
            raise self._service.from_transport(error) from error

    def warm(self) -> None:
        """Build the client."""
        _ = self._client

    def restored(self) -> None:
        """Forget the client, and the credentials it had before the snapshot."""
        self._made = None

    def _refusal(self, error: ClientError) -> PassageError:
        service, status, detail = self._service, aws.status(error), f"{aws.code(error)}: {error}"
        headers = error.response.get("ResponseMetadata", {}).get("HTTPHeaders", {})
        if status in (401, 403) or aws.code(error) in CALLER_REFUSED:
            return CredentialsRefused(
                f"Bedrock refused the function's role for the model '{self.name}': it needs bedrock:InvokeModel on "
                "the model (and on its inference profile), and the account needs access to the model.",
                upstream=service.upstream,
                detail=detail,
            )
        if aws.code(error) in aws.BUSY or status == 429:
            return UpstreamThrottled(
                f"The {service.name} is limiting requests.",
                upstream=service.upstream,
                retry_after=retry_after(headers),
                detail=detail,
            )
        if status in (408, 424) or status >= 500 or status < 400:
            return service.unavailable("failed to answer", detail, retry_after(headers))
        return RequestRefused(self._refused_request, upstream=service.upstream, detail=detail)

    def _no_credentials(self, error: BotoCoreError) -> PassageError:
        if aws.passing(error):
            return self._service.unavailable("could not be reached", repr(error))
        return CredentialsRefused(
            "The call to Bedrock could not be made: the function has no valid credentials.",
            upstream=self._service.upstream,
            detail=repr(error),
        )
