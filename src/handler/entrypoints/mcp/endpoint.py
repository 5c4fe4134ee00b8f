"""One MCP endpoint: the service behind it, the profile that its path names, and the room in a response."""

from collections.abc import Callable
from dataclasses import dataclass

from handler.bootstrap.container import Container
from handler.core.deadline import Deadline


@dataclass(frozen=True)
class Endpoint:
    """What a request needs to know about the deployment and the invocation.

    Attributes:
        profile: the profile in the path; None for `/mcp`, where tools ask the default one or take its name.
        until: returns the invocation's deadline. Raises ConfigurationError.
        room: the most bytes of a response's body.
    """

    services: Container
    profile: str | None
    until: Callable[[], Deadline]
    room: int
