"""Cohere's embedding models on Amazon Bedrock: the function's role is the credential, there is no key.

With boto3 rather than the Cohere SDK's Bedrock client, which imports boto3 as well as all of itself (docs/decisions).
"""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Literal

import httpx
from botocore.exceptions import BotoCoreError, ClientError, NoRegionError

from handler.adapters import aws, vectors
from handler.adapters.failures import Service, retry_after
from handler.core.errors import ConfigurationError, CredentialsRefused, PassageError, RequestRefused, UpstreamThrottled
from handler.core.model import Vector

SERVICE = Service("embedding", "embedding service", "the function's role")

V3_CHARACTERS = 2048
"""The most of a text that Bedrock takes for a v3 model, which reads 512 tokens of it."""

NOT_OURS = frozenset(
    {"ExpiredTokenException", "InvalidSignatureException", "NotAuthorized", "UnrecognizedClientException"}
)
"""Codes that mean a refused caller whatever their status."""


class BedrockEmbedder:
    """Embeds with one model.

    Args:
        model: a model's id, an inference profile's (`eu.cohere.embed-v4:0`) or the ARN of either.
        dimension: what the model's vectors must have to be compared with the collection's.
        texts_are: what is embedded. Documents and questions must not be mixed up: it is silent and worse.
    """

    def __init__(
        self,
        *,
        model: str,
        dimension: int,
        texts_are: Literal["search_query", "search_document"] = "search_query",
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._model = model
        self._dimension = dimension
        self._texts_are = texts_are
        self._transport = transport

    @property
    def model(self) -> str:
        return self._model

    @cached_property
    def _client(self) -> Any:
        try:
            return aws.client("bedrock-runtime", transport=self._transport)
        except NoRegionError as error:
            raise ConfigurationError("No AWS region is set: set AWS_DEFAULT_REGION, as Lambda does.") from error

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """See `handler.core.ports.Embedder`."""
        try:
            response = self._client.invoke_model(
                modelId=self._model,
                body=json.dumps(self._request(texts)),
                contentType="application/json",
                accept="application/json",
            )
            answer = json.loads(response["body"].read())
        except ClientError as error:
            raise self._refused(error) from error
        except BotoCoreError as error:  # without credentials, or an answer botocore could not read
            raise self._no_credentials(error) from error
        except (httpx.HTTPError, ValueError, RecursionError) as error:
            raise SERVICE.from_transport(error) from error
        return self._vectors(answer, len(texts))

    def warm(self) -> None:
        """See `handler.core.ports.Embedder`."""
        _ = self._client

    def restored(self) -> None:
        """Forget the client, and with it the credentials it had before the snapshot."""
        self.__dict__.pop("_client", None)

    def _request(self, texts: Sequence[str]) -> Mapping[str, Any]:
        asked: dict[str, Any] = {"input_type": self._texts_are, "embedding_types": ["float"]}
        # Cut what is too long, as Cohere's own API does; Bedrock would refuse it, and names the side by model.
        if "embed-v4" in self._model:
            return {**asked, "texts": list(texts), "truncate": "RIGHT", "output_dimension": self._dimension}
        return {**asked, "texts": [text[:V3_CHARACTERS] for text in texts], "truncate": "END"}

    def _vectors(self, answer: Any, expected: int) -> list[Vector]:
        found = answer.get("embeddings") if isinstance(answer, dict) else None
        if isinstance(found, dict):  # by type; a plain list from models that were asked for one type alone
            found = found.get("float")
        if not isinstance(found, list) or len(found) != expected or not all(found):
            raise SERVICE.unavailable("gave no embedding", f"asked for {expected}")
        try:
            numbers = [[float(value) for value in vector] for vector in found]
        except (TypeError, ValueError) as error:
            raise SERVICE.from_transport(error) from error
        return vectors.checked(numbers, SERVICE, self._model, self._dimension)

    def _refused(self, error: ClientError) -> PassageError:
        status, detail = aws.status(error), f"{aws.code(error)}: {error}"
        headers = error.response.get("ResponseMetadata", {}).get("HTTPHeaders", {})
        if status in (401, 403) or aws.code(error) in NOT_OURS:
            return CredentialsRefused(
                f"Bedrock refused the function's role for the model '{self._model}': it needs bedrock:InvokeModel on "
                "the model (and on its inference profile), and the account needs access to the model.",
                upstream="embedding",
                detail=detail,
            )
        if aws.code(error) in aws.BUSY or status == 429:
            return UpstreamThrottled(
                "The embedding service is limiting requests.",
                upstream="embedding",
                retry_after=retry_after(headers),
                detail=detail,
            )
        if status in (408, 424) or status >= 500 or status < 400:
            return SERVICE.unavailable("failed to answer", detail, retry_after(headers))
        return RequestRefused(vectors.model_refused(self._model, self._dimension), upstream="embedding", detail=detail)

    def _no_credentials(self, error: BotoCoreError) -> PassageError:
        if aws.passing(error):
            return SERVICE.unavailable("could not be reached", repr(error))
        return CredentialsRefused(
            "The call to Bedrock could not be made: the function has no usable credentials.",
            upstream="embedding",
            detail=repr(error),
        )
