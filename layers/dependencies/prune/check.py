"""Checks that the pruned packages do what Passage asks of them, in a fresh interpreter that has only these packages."""

import json
from contextlib import suppress
from importlib import import_module
from typing import Any

import httpx
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from cohere.core.client_wrapper import SyncClientWrapper
from cohere.v2.client import V2Client
from pydantic import BaseModel
from qdrant_client.http import models
from qdrant_client.http.exceptions import UnexpectedResponse
from qdrant_client.qdrant_remote import QdrantRemote

IMPORTED = (
    "aws_lambda_powertools.metrics",
    "aws_lambda_powertools.utilities.parser.models",
    "cohere.core.api_error",
    "qdrant_client.common.client_exceptions",
)
"""What Passage imports beside what is called below."""

ANSWERS = {
    "/v2/embed": {"id": "", "embeddings": {"base64": [""]}, "texts": [""], "response_type": "embeddings_by_type"},
    "/v2/rerank": {"id": "", "results": [{"index": 0, "relevance_score": 0.5}]},
    "/collections/c/points": {"result": []},
    "/collections/c/points/scroll": {"result": {"points": []}},
    "/collections/c/points/query": {"result": {"points": [{"id": 0, "version": 0, "score": 0.5}]}},
    "/collections/c/points/query/batch": {"result": [{"points": []}]},
}
"""Made-up answers of both services, by path. Any other path is unknown."""

ANY: Any = None


def answered(request: httpx.Request) -> httpx.Response:
    """The made-up answer to a request."""
    found = ANSWERS.get(request.url.path)
    return httpx.Response(404 if found is None else 200, content=json.dumps(found or {}))


def check_cohere() -> None:
    """Embed and rerank."""
    http = httpx.Client(transport=httpx.MockTransport(answered))
    client: Any = V2Client(client_wrapper=SyncClientWrapper(token="-", base_url="http://cohere", httpx_client=http))  # noqa: S106
    once = {"max_retries": 0}
    client.embed(texts=["a"], model="m", input_type="search_query", embedding_types=["base64"], request_options=once)
    client.rerank(model="m", query="a", documents=["b"], request_options=once)


def check_qdrant() -> None:
    """Search, fetch and describe."""
    client: Any = QdrantRemote(host="qdrant", check_compatibility=False, transport=httpx.MockTransport(answered))
    searches = client.http.search_api
    searches.query_points("c", query_request=b"{}")
    searches.query_batch_points("c", query_request_batch=b"{}")
    condition = models.FieldCondition(key="k", match=models.MatchValue(value="v"))
    client.scroll("c", scroll_filter=models.Filter(should=[condition]), limit=1, with_payload=["k"])
    client.retrieve("c", ids=[1], with_payload=True, with_vectors=True)
    with suppress(UnexpectedResponse):  # its answer has many fields; the models are checked below
        client.get_collection("c")
    client.close()


def check_models() -> None:
    """Every model that stays finds the models in its fields."""
    for module in (models, import_module(f"{models.__name__}_later")):
        for value in list(vars(module).values()):
            if isinstance(value, type) and issubclass(value, BaseModel) and value is not BaseModel:
                value.model_rebuild(force=True)


def check_powertools() -> None:
    """Answer a request, and have every name that a lazy package re-exports."""
    app = APIGatewayHttpResolver()
    app.get("/")(dict)
    request = {"http": {"method": "GET", "path": "/"}, "stage": "$default"}
    app.resolve({"version": "2.0", "rawPath": "/", "headers": {}, "requestContext": request}, ANY)
    for name in ("aws_lambda_powertools.event_handler", "aws_lambda_powertools.utilities.data_classes"):
        package = import_module(name)
        for each in package.__all__:
            getattr(package, each)


if __name__ == "__main__":
    for needed in IMPORTED:
        import_module(needed)
    check_cohere()
    check_qdrant()
    check_models()
    check_powertools()
