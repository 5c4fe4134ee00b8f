"""Asks each profile with the client that openapi-python-client writes: python ask.py URL. mypy --strict checks it."""

import sys

from passage_api_client import Client
from passage_api_client.api.chunks import chunks_post_query
from passage_api_client.api.context import context_post_query
from passage_api_client.api.default_profile import default_post_query
from passage_api_client.api.query_response import query_response_post_query
from passage_api_client.api.ranked import ranked_post_query
from passage_api_client.api.vector_search import vector_search_post_query
from passage_api_client.models import (
    ChunksRequest,
    ContextRequest,
    QueryResponseFilters,
    QueryResponseRequest,
    QueryResponseResponse,
    RankedRequest,
    VectorSearchRequest,
)

client = Client(base_url=sys.argv[1], raise_on_unexpected_status=True)
question = "What is a digital twin?"
narrowed = QueryResponseRequest(text=question, k=2, filters=QueryResponseFilters(language=["en", "de"]))

answer = default_post_query.sync(client=client, body=QueryResponseRequest(text=question))
assert isinstance(answer, QueryResponseResponse)
assert answer.results[0].url
for response in (
    query_response_post_query.sync_detailed(client=client, body=narrowed),
    vector_search_post_query.sync_detailed(client=client, body=VectorSearchRequest(query_text=question)),
    context_post_query.sync_detailed(client=client, body=ContextRequest(text=question, max_tokens=500)),
    ranked_post_query.sync_detailed(client=client, body=RankedRequest(text=question, titles=True)),
    chunks_post_query.sync_detailed(client=client, body=ChunksRequest(query_text=question)),
):
    assert response.status_code == 200, response.content
