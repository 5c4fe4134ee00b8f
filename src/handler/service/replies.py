"""Replies to messages, and the port they are sent through."""

import json
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Reply:
    """What is sent for a message.

    Attributes:
        id: the same for the same message, however often it is delivered.
        status: "answered", or "refused" when the message can never be answered.
        text: the reply itself, JSON.
    """

    id: str
    correlation_id: str
    profile: str
    status: str
    text: str

    def body(self) -> Any:
        """The reply as an object."""
        return json.loads(self.text)


class ReplySink(Protocol):
    """A configured destination for replies."""

    @property
    def seconds(self) -> float:
        """The longest `send` takes before it gives up."""
        ...

    def send(self, reply: Reply, *, group: str | None) -> None:
        """Send one reply.

        Args:
            group: the FIFO group of the message it answers, None for a standard queue's; a FIFO destination keeps it.

        Raises:
            UpstreamError: it could not be sent, temporarily.
            ConfigurationError: the destination does not exist, or may not be written to.
        """
        ...
