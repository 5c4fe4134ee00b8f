"""Replies to messages."""

from typing import NamedTuple


class Reply(NamedTuple):
    """The reply to a message.

    Attributes:
        id: the same for every delivery of a message.
        status: "answered", or "refused" when the message can never be answered.
        text: the reply as JSON.
    """

    id: str
    correlation_id: str
    profile: str
    status: str
    text: str
