"""A question in a message, and the reply to it: the same form whichever queue, topic or bus brought it."""

import json
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from handler.core.errors import InvalidRequest, NotFound
from handler.core.model import Reply
from handler.sources.batch import Outcome, Question
from handler.sources.question import Answered, Failure, as_object

REPLY_BYTES = 262_144
"""The most a message may have: SQS, SNS and EventBridge take up to 256 KB."""

NAMESPACE = uuid.UUID("6f0f6e9c-2f0e-5b57-9a3a-6b1d3f6f2a10")
"""Of the reply ids, so that they are no one else's UUIDs."""


@dataclass(frozen=True, slots=True)
class Message:
    """A question and where it came from.

    Attributes:
        id: the innermost message's: a topic that delivers twice into a queue sends the same one in two of the queue's.
        question: None when there is none to be read in it; `error` then says why.
        correlation_id: what the sender gave the message to know the reply by; its id without one.
    """

    id: str
    correlation_id: str
    question: Question | None
    error: InvalidRequest | None = None

    @property
    def reply_id(self) -> str:
        """The same message has the same, so that a reply that is sent twice can be told."""
        return str(uuid.uuid5(NAMESPACE, self.id))


def read(body: Any, identity: str) -> Message:
    """The question in a message's body: JSON text or an object; an SNS or EventBridge envelope is taken off.

    Never raises: a message that cannot be read is one that can never be answered, and says so itself.
    """
    try:
        fields = _object(body)
        if fields.get("Type") == "Notification" and "Message" in fields:
            return read(fields["Message"], str(fields.get("MessageId") or identity))
        if "detail-type" in fields and "detail" in fields:
            return read(fields["detail"], str(fields.get("id") or identity))
    except InvalidRequest as error:
        return Message(id=identity, correlation_id=identity, question=None, error=error)
    correlation, profile = fields.pop("correlation_id", None), fields.pop("profile", None)
    return Message(
        id=identity,
        correlation_id=str(correlation) if isinstance(correlation, str | int) and correlation != "" else identity,
        question=Question(fields=fields, profile=None if profile is None else str(profile)),
    )


def _object(body: Any) -> dict[str, Any]:
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except (ValueError, RecursionError):
            raise InvalidRequest("The message is not JSON: it takes an object with the question in a field.") from None
    if not isinstance(body, Mapping):
        raise InvalidRequest("The message is not an object: it takes one with the question in a field.")
    return dict(body)


def is_final(outcome: Outcome) -> bool:
    """Whether another try could not end otherwise: it was answered, or the question itself is wrong.

    A wrong setting of ours is not the message's fault: it comes back, and is answered once the setting is mended.
    """
    return isinstance(outcome, Answered) or isinstance(outcome.error, InvalidRequest | NotFound)


def reply(message: Message, outcome: Outcome) -> Reply:
    """The reply to a message, at most as large as a message may be: results are dropped from the end, and counted."""
    if isinstance(outcome, Failure):
        return _reply(message, "refused", outcome.profile, as_object(outcome.body), 0)
    most = REPLY_BYTES
    while True:
        fitted = outcome.fitting(most)
        made = _reply(message, "answered", outcome.profile.name, as_object(fitted.body), fitted.left_out)
        if len(made.text.encode()) <= REPLY_BYTES or not fitted.retrieval.passages:
            return made
        most = most * 3 // 4


def _reply(message: Message, status: str, profile: str, answer: Mapping[str, Any], left_out: int) -> Reply:
    body = {
        "reply_id": message.reply_id,
        "correlation_id": message.correlation_id,
        "profile": profile,
        "status": status,
        "answer": answer,
        "results_left_out": left_out,
    }
    return Reply(
        id=message.reply_id,
        correlation_id=message.correlation_id,
        profile=profile,
        status=status,
        text=json.dumps(body, ensure_ascii=False, separators=(",", ":")),
    )
