"""An HTTP server on loopback that answers like Cohere. It needs no account, no key and no network.

The tests' doubles, with faults and a record of requests, are in `tools/doubles`.
"""

from passage.emulators.cohere.emulator import cohere_emulator

__all__ = ["cohere_emulator"]
