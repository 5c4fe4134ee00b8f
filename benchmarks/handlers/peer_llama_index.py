"""The same with LlamaIndex: a retriever over its Qdrant store, which is told the key of the passages' text."""

import os
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.metrics import MetricUnit
from llama_index.core import VectorStoreIndex
from llama_index.embeddings.cohere import CohereEmbedding
from llama_index.vector_stores.qdrant import QdrantVectorStore
from qdrant_client import QdrantClient

logger = Logger(service="peer")
metrics = Metrics(namespace="Peer", service="peer")
app = APIGatewayHttpResolver()
index = VectorStoreIndex.from_vector_store(
    QdrantVectorStore(
        client=QdrantClient(url=os.environ["QDRANT_URL"]), collection_name="rag_embeddings", text_key="text_content"
    ),
    embed_model=CohereEmbedding(
        api_key=os.environ["COHERE_API_KEY"],
        base_url=os.environ["COHERE_BASE_URL"],
        model_name="embed-multilingual-v3.0",
    ),
)


@app.post("/query")
def query() -> dict[str, Any]:
    body = app.current_event.json_body
    found = index.as_retriever(similarity_top_k=body.get("k", 5)).retrieve(body["text"])
    metrics.add_metric("ResultCount", MetricUnit.Count, len(found))
    logger.info("answered", extra={"results": len(found)})
    return {
        "results": [
            {"text": each.node.get_content(), "url": each.node.metadata["source_url"], "score": each.score}
            for each in found
        ]
    }


@logger.inject_lambda_context
@metrics.log_metrics
def lambda_handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return app.resolve(event, context)
