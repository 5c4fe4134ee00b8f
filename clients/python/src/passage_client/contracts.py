"""The contracts: a client that is given one types its questions and answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from passage_client.types import (
    ChunksAnswer,
    ChunksQuestion,
    ContextAnswer,
    ContextQuestion,
    QueryResponseAnswer,
    QueryResponseQuestion,
    RankedAnswer,
    RankedQuestion,
    VectorSearchAnswer,
    VectorSearchQuestion,
)

Question = TypeVar("Question", bound=Mapping[str, object])
Answer = TypeVar("Answer", bound=Mapping[str, object])


@dataclass(frozen=True)
class Contract(Generic[Question, Answer]):
    """The shape of a profile's questions and answers. It types a client; it changes no request."""

    name: str


QUERY_RESPONSE: Contract[QueryResponseQuestion, QueryResponseAnswer] = Contract("query_response")
VECTOR_SEARCH: Contract[VectorSearchQuestion, VectorSearchAnswer] = Contract("vector_search")
CONTEXT: Contract[ContextQuestion, ContextAnswer] = Contract("context")
RANKED: Contract[RankedQuestion, RankedAnswer] = Contract("ranked")
CHUNKS: Contract[ChunksQuestion, ChunksAnswer] = Contract("chunks")
