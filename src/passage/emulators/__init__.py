"""An HTTP server on loopback that answers like Cohere, with faults on request.

It needs no account, no key and no network. `passage` and the tests run the production code against it. The doubles of
Qdrant and Bedrock, in `tools/`, are built on the same server.
"""

from passage.emulators.cohere.emulator import cohere_emulator
from passage.emulators.faults import Fault, FaultPlan
from passage.emulators.recording import RecordedRequest
from passage.emulators.server import EmulatorServer

__all__ = [
    "EmulatorServer",
    "Fault",
    "FaultPlan",
    "RecordedRequest",
    "cohere_emulator",
]
