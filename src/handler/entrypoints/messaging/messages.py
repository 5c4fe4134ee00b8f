"""Reads a question from a message and builds its reply, in the same form for queues, topics and buses."""

import json
import math
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from handler.bootstrap.container import Container
from handler.contracts.fields import read_object
from handler.core.deadline import Deadline
from handler.core.errors import ConfigurationError, InvalidRequest, PassageError
from handler.service.answering import Answered, Outcome, Question, answer, profile_name
from handler.service.failures import failure
from handler.service.replies import Reply

REPLY_BYTES = 262_144 - 2_048
"""The most bytes of a reply's text. SQS, SNS and EventBridge accept 256 KB, including attributes and envelope."""

ID_CHARACTERS = 256
"""The most characters of an id that is returned in a reply's attributes."""

ENVELOPES = 2
"""The most envelopes that are unwrapped: a bus to a topic to a queue makes two. The limit stops hostile input."""

REPLY_FIELDS = frozenset({"reply_id", "correlation_id", "profile", "status", "answer", "results_left_out"})

NAMESPACE = uuid.UUID("6f0f6e9c-2f0e-5b57-9a3a-6b1d3f6f2a10")
"""The UUID namespace of reply ids."""

_UNSENDABLE = re.compile("[\ud800-\udfff\ufffe\uffff]")
"""Characters that JSON text may hold, but UTF-8 or SQS refuses."""


@dataclass(frozen=True)
class Message:
    """A message from a queue, topic or bus.

    Attributes:
        reply_id: the same for every delivery of a message, so that a receiver can drop duplicates.
        correlation_id: the sender's id for matching the reply; by default the message's id.
        question: the error where the message is unreadable.
    """

    reply_id: str
    correlation_id: str
    question: Question | PassageError


def refuse(error: PassageError, identity: str, body: object = "") -> Message:
    """A message that can never be answered."""
    return Message(_reply_id(identity, body), correlation_id=identity, question=error)


def read(body: Any, identity: str) -> Message:
    """Read the question in a message's body: JSON text or an object. SNS and EventBridge envelopes are removed.

    Raises nothing: an unreadable message has the error as its question.
    """
    try:
        fields = _object(body)
        for _ in range(ENVELOPES):
            inside = _open_envelope(fields, identity)
            if inside is None:
                break
            body, identity = inside
            fields = _object(body)
        if fields.keys() >= REPLY_FIELDS:  # a refusal would be read as a question again, in an endless loop
            raise ConfigurationError(
                "A reply arrived as a question: replies are sent where questions are read. Set REPLY_QUEUE_URL, "
                "REPLY_TOPIC_ARN or REPLY_BUS_NAME to another destination.",
                upstream="reply",
            )
        correlation = _correlation(fields.pop("correlation_id", None))
        profile = profile_name(fields.pop("profile", None))
    except PassageError as error:
        return refuse(error, identity, body)
    return Message(_reply_id(identity, body), correlation or identity, Question(lambda _: fields, profile))


def _open_envelope(fields: Mapping[str, Any], identity: str) -> tuple[Any, str] | None:
    """An envelope's content and its id, which is the same if a topic delivers it twice; None without an envelope."""
    if fields.get("Type") == "Notification" and "Message" in fields:
        return fields["Message"], usable_id(fields.get("MessageId")) or identity
    if "detail-type" in fields and "detail" in fields:
        return fields["detail"], usable_id(fields.get("id")) or identity
    return None


def usable_id(value: object) -> str | None:
    """An id that a reply can carry; None for any other value."""
    return value if isinstance(value, str) and 0 < len(value) <= ID_CHARACTERS and value.isprintable() else None


def _object(body: Any) -> dict[str, Any]:
    if isinstance(body, str):
        return read_object(body, "The message")
    if not isinstance(body, Mapping):
        raise InvalidRequest("The message is not an object: it must be one with the question in a field.")
    return dict(body)


def _correlation(value: object) -> str | None:
    """The sender's id. It must fit into a message attribute."""
    if value is None or value == "":
        return None
    usable = isinstance(value, str | int) and not isinstance(value, bool)
    usable = usable or (isinstance(value, float) and math.isfinite(value))
    text = usable_id(str(value)) if usable else None
    if text is None:
        raise InvalidRequest(
            f"'correlation_id' must be a number or text of up to {ID_CHARACTERS} printable characters."
        )
    return text


def _reply_id(identity: str, body: object) -> str:
    """An id made of the message's id and text. So messages with the same id still get separate replies."""
    try:
        words = body if isinstance(body, str) else json.dumps(body, sort_keys=True)
    except RecursionError:
        words = ""
    return str(uuid.uuid5(NAMESPACE, json.dumps([identity, words])))


def outcomes(messages: Sequence[Message], services: Container, until: Deadline) -> list[Outcome]:
    """Each message's outcome, in order. Messages with a question share calls; an unreadable one fails by itself."""
    questions = [each.question for each in messages if isinstance(each.question, Question)]
    answered = iter(answer(questions, services.served, until))
    return [
        next(answered) if isinstance(each.question, Question) else failure(each.question, services.served)
        for each in messages
    ]


def is_final(outcome: Outcome) -> bool:
    """Whether another try cannot change the outcome: the question was answered, or is invalid.

    After a configuration error, the message returns to the queue and is answered once the setting is fixed.
    """
    return isinstance(outcome, Answered) or outcome.error.blame == "caller"


def reply(message: Message, outcome: Outcome) -> Reply:
    """The reply to a message. Results that do not fit are dropped from the end and counted."""
    if isinstance(outcome, Answered):
        outcome = outcome.shorten(lambda answered: len(_text(message, answered).encode()) <= REPLY_BYTES)
    return Reply(
        id=message.reply_id,
        correlation_id=message.correlation_id,
        profile=outcome.profile,
        status=_status(outcome),
        text=_text(message, outcome),
    )


def _status(outcome: Outcome) -> str:
    return "answered" if isinstance(outcome, Answered) else "refused"


def _text(message: Message, outcome: Outcome) -> str:
    """The reply as JSON. The answer is already JSON and is inserted unchanged."""
    before = {
        "reply_id": message.reply_id,
        "correlation_id": message.correlation_id,
        "profile": outcome.profile,
        "status": _status(outcome),
    }
    left_out = outcome.retrieval.left_out if isinstance(outcome, Answered) else 0
    head = json.dumps(before, ensure_ascii=False, separators=(",", ":"))[:-1]
    text = f'{head},"answer":{outcome.text},"results_left_out":{left_out}}}'
    return _UNSENDABLE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)
