"""The same with LangChain: its Cohere embeddings and its Qdrant store, over a collection in LangChain's own layout."""

import os
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.metrics import MetricUnit
from langchain_cohere import CohereEmbeddings
from langchain_qdrant import QdrantVectorStore
from qdrant_client import QdrantClient

logger = Logger(service="peer")
metrics = Metrics(namespace="Peer", service="peer")
app = APIGatewayHttpResolver()
store = QdrantVectorStore(
    client=QdrantClient(url=os.environ["QDRANT_URL"]),
    collection_name="langchain",
    embedding=CohereEmbeddings(model="embed-multilingual-v3.0", base_url=os.environ["COHERE_BASE_URL"]),
    validate_collection_config=False,  # two requests at every cold start
)


@app.post("/query")
def query() -> dict[str, Any]:
    body = app.current_event.json_body
    found = store.similarity_search_with_score(body["text"], k=body.get("k", 5))
    metrics.add_metric("ResultCount", MetricUnit.Count, len(found))
    logger.info("answered", extra={"results": len(found)})
    return {
        "results": [
            {"text": document.page_content, "url": document.metadata["source_url"], "score": score}
            for document, score in found
        ]
    }


@logger.inject_lambda_context
@metrics.log_metrics
def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return app.resolve(event, context)
