"""Replies to messages, and the port that sends them."""

import json
from typing import Any, NamedTuple, Protocol


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

    def body(self) -> Any:
        """The reply as an object."""
        return json.loads(self.text)


class ReplySink(Protocol):
    """A configured destination for replies."""

    @property
    def seconds(self) -> float:
        """The most seconds that `send` takes before it gives up."""

    def send(self, reply: Reply, *, group: str | None) -> None:
        """Send one reply, to a FIFO destination in the FIFO group of the answered message; None for a standard queue.

        Raises:
            UpstreamError: it could not be sent, temporarily.
            ConfigurationError: the destination does not exist, or may not be written to.
        """
