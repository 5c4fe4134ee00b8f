"""`passage`'s emulator of Cohere, with faults, latency and a record."""

from passage.emulators.cohere.emulator import cohere_service
from passage.emulators.server import HOST
from tools.doubles.server import EmulatorServer


def cohere_emulator(
    *, api_key: str | None = None, host: str = HOST, port: int = 0, latency_ms: float = 0
) -> EmulatorServer:
    """A Cohere emulator, not yet started.

    Args:
        api_key: see `cohere_service`.
        host, port, latency_ms: see `EmulatorServer`.
    """
    return EmulatorServer(cohere_service(api_key), host=host, port=port, latency_ms=latency_ms)
