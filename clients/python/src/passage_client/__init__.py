"""A client of Passage, a retrieval API for documentation sites."""

from passage_client.asynchronous import AsyncPassage
from passage_client.contracts import CHUNKS, CONTEXT, QUERY_RESPONSE, RANKED, VECTOR_SEARCH, Contract
from passage_client.errors import (
    Forbidden,
    InvalidRequest,
    NoAnswer,
    NotFound,
    PassageError,
    RateLimited,
    ServerError,
    TimedOut,
    Unavailable,
)
from passage_client.records import Record
from passage_client.synchronous import Passage

__all__ = [
    "CHUNKS",
    "CONTEXT",
    "QUERY_RESPONSE",
    "RANKED",
    "VECTOR_SEARCH",
    "AsyncPassage",
    "Contract",
    "Forbidden",
    "InvalidRequest",
    "NoAnswer",
    "NotFound",
    "Passage",
    "PassageError",
    "RateLimited",
    "Record",
    "ServerError",
    "TimedOut",
    "Unavailable",
]
