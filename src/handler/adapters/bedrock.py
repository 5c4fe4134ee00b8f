"""Cohere's models on Amazon Bedrock. The function's role is the credential; there is no key.

It uses boto3, because the Cohere SDK's Bedrock client imports boto3 and the whole SDK (docs/decisions, 10).
"""

import json
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

import httpx
from botocore.exceptions import BotoCoreError, ClientError, NoRegionError

from handler.adapters.account import INPUT_TYPES, Account, validate_relevances
from handler.adapters.aws import client as aws
from handler.adapters.errors import Service, retry_after
from handler.config import models
from handler.core.errors import ConfigurationError, CredentialsRefused, PassageError, RequestRefused
from handler.core.model import Vector
from handler.core.ports import TextsAre

V3_CHARACTERS = 2048
"""The longest text that Bedrock accepts for a v3 model, which reads 512 tokens of it."""

API_VERSION = 2
"""The version of Cohere's API. The reranking model requires it in each request, and accepts no other."""

CALLER_REFUSED = frozenset(
    {"ExpiredTokenException", "InvalidSignatureException", "NotAuthorized", "UnrecognizedClientException"}
)
"""Error codes that mean a refused caller, whatever the status."""


class BedrockEmbedder:
    """Embeds with one model: a `handler.core.ports.Embedder`.

    Args:
        model: a model's id, an inference profile's (`eu.cohere.embed-v4:0`) or the ARN of either.
        dimension, texts_are: see `handler.adapters.account.EmbedderClass`.
    """

    def __init__(self, account: Account, *, model: str, dimension: int, texts_are: TextsAre = "question") -> None:
        self.model = model
        self._service = account.service("embedding")
        self._bedrock = _Model(model, self._service, models.embedder_refused("bedrock", model, dimension))
        self.warm, self.after_restore = self._bedrock.warm, self._bedrock.after_restore
        self._dimension = dimension
        self._texts_are = texts_are

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        models.check_dimension("bedrock", self.model, self._dimension)
        return self._vectors(self._bedrock.invoke(self._request(texts)))

    def _request(self, texts: Sequence[str]) -> Mapping[str, Any]:
        asked: dict[str, Any] = {"input_type": INPUT_TYPES[self._texts_are], "embedding_types": ["float"]}
        # Cut long texts, as Cohere's own API does. Bedrock would refuse them, and each model names the side to cut.
        if models.takes_dimension(self.model):  # v4 and later
            return {**asked, "texts": list(texts), "truncate": "RIGHT", "output_dimension": self._dimension}
        return {**asked, "texts": [text[:V3_CHARACTERS] for text in texts], "truncate": "END"}

    def _vectors(self, answer: Any) -> list[Vector]:
        vectors = answer.get("embeddings") if isinstance(answer, dict) else None
        if isinstance(vectors, dict):  # by type; some models answer with a plain list
            vectors = vectors.get("float")
        if not isinstance(vectors, list):
            raise self._service.unavailable("returned no embedding", f"model {self.model}")
        try:
            return [[float(value) for value in vector] for vector in vectors]
        except (TypeError, ValueError) as error:
            raise self._service.from_transport(error) from error


class BedrockReranker:
    """Reranks with one model: a `handler.core.ports.Reranker`.

    Args:
        model: the id of a Cohere model, or an inference profile's ARN. Amazon's reranker has another request format.
    """

    def __init__(self, account: Account, *, model: str) -> None:
        self.model = model
        self._service = account.service("reranking")
        self._bedrock = _Model(model, self._service, models.reranker_refused("bedrock", model))
        self.warm, self.after_restore = self._bedrock.warm, self._bedrock.after_restore

    def rerank(self, question: str, texts: Sequence[str]) -> list[float]:
        answer = self._bedrock.invoke({"query": question, "documents": list(texts), "api_version": API_VERSION})
        try:
            ranked = [(result["index"], result["relevance_score"]) for result in answer["results"]]
        except (TypeError, KeyError, IndexError) as error:
            raise self._service.from_transport(error) from error
        return validate_relevances(ranked, self._service, self.model, len(texts))


class _Model:
    """A model, and the client that calls it by InvokeModel. Its failures become the core's errors.

    Args:
        refused: the message for a refused request, which is so plain that only its model can be wrong.
    """

    def __init__(self, model: str, service: Service, refused: str) -> None:
        self._name = model
        self._service = service
        self._refused_request = refused
        self._making = Lock()
        self._made: Any = None

    @property
    def _client(self) -> Any:
        """The client, built once, even when several threads ask first."""
        with self._making:
            if self._made is None:
                try:
                    self._made = aws.client("bedrock-runtime")
                except NoRegionError as error:
                    raise ConfigurationError("No AWS region is set: set AWS_DEFAULT_REGION, as Lambda does.") from error
            return self._made

    def invoke(self, request: Mapping[str, Any]) -> Any:
        """The model's answer: any JSON value.

        Raises:
            UpstreamError: Bedrock failed temporarily.
            DeadlineExceeded: the running deadline passed.
            ConfigurationError: the role, the model or the request was refused.
        """
        try:
            response = self._client.invoke_model(
                modelId=self._name, body=json.dumps(request), contentType="application/json", accept="application/json"
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

    def after_restore(self) -> None:
        """Forget the client, and the credentials it had before the snapshot."""
        self._made = None

    def _refusal(self, error: ClientError) -> PassageError:
        service, status, detail = self._service, aws.status(error), f"{aws.code(error)}: {error}"
        headers = error.response.get("ResponseMetadata", {}).get("HTTPHeaders", {})
        if status in (401, 403) or aws.code(error) in CALLER_REFUSED:
            return CredentialsRefused(
                f"Bedrock refused the function's role for the model '{self._name}': it needs bedrock:InvokeModel on "
                "the model (and on its inference profile), and the account needs access to the model.",
                upstream=service.upstream,
                detail=detail,
            )
        if aws.is_throttling(error):
            return service.throttled(detail, headers)
        if status in (408, 424) or status >= 500 or status < 400:
            return service.unavailable("failed to answer", detail, retry_after(headers))
        return RequestRefused(self._refused_request, upstream=service.upstream, detail=detail)

    def _no_credentials(self, error: BotoCoreError) -> PassageError:
        if aws.is_temporary(error):
            return self._service.unavailable("could not be reached", repr(error))
        return CredentialsRefused(
            "The call to Bedrock could not be made: the function has no valid credentials.",
            upstream=self._service.upstream,
            detail=repr(error),
        )
