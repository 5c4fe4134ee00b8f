"""A typical first version: Powertools and both SDKs' clients at module level, one route."""

import os
from typing import Any

import cohere
from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.metrics import MetricUnit
from qdrant_client import QdrantClient

logger = Logger(service="plain")
metrics = Metrics(namespace="Plain", service="plain")
app = APIGatewayHttpResolver()
embedder = cohere.ClientV2(api_key=os.environ["COHERE_API_KEY"], base_url=os.environ["COHERE_BASE_URL"])
store = QdrantClient(url=os.environ["QDRANT_URL"])


@app.post("/query")
def query() -> dict[str, Any]:
    body = app.current_event.json_body
    embedding = embedder.embed(
        texts=[body["text"]],
        model="embed-multilingual-v3.0",
        input_type="search_query",
        embedding_types=["float"],
    ).embeddings.float_[0]
    points = store.query_points("rag_embeddings", query=embedding, limit=body.get("k", 5), with_payload=True).points
    metrics.add_metric("ResultCount", MetricUnit.Count, len(points))
    logger.info("answered", extra={"results": len(points)})
    return {
        "results": [
            {"text": point.payload["text_content"], "url": point.payload["source_url"], "score": point.score}
            for point in points
        ]
    }


@logger.inject_lambda_context
@metrics.log_metrics
def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return app.resolve(event, context)
