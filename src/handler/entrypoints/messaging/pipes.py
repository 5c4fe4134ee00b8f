"""EventBridge Pipes: a bare list of a queue's records, answered as SQS delivers them otherwise.

A pipe deletes what its target returns from, except records named in a partial batch response (EventBridge Pipes,
"Batching and concurrency"). Whatever cannot be named in one is raised, so that the pipe sends the batch again.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from handler.bootstrap.container import Container
from handler.core.errors import InvalidRequest
from handler.entrypoints.messaging import sqs
from handler.entrypoints.messaging.messages import usable_id
from handler.service.failures import failure


def handle(records: Sequence[Any], context: Any, services: Container) -> dict[str, Any]:
    """Answer a batch of a queue's records to the reply destinations; the response names those that must come again.

    Raises:
        InvalidRequest: a record is not a whole SQS record. A pipe with an input transformer sends such ones.
    """
    if not all(map(_is_whole, records)):
        error = InvalidRequest(
            "A pipe must send SQS records with a 'messageId': use a queue as source, and no transformer."
        )
        raise failure(error, services.served).error
    return sqs.handle({"Records": records}, context, services)


def _is_whole(record: Any) -> bool:
    whole = isinstance(record, Mapping) and record.get("eventSource") == "aws:sqs"
    return whole and usable_id(record.get("messageId")) is not None
