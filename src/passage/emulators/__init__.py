"""HTTP servers on loopback that answer like Cohere, Bedrock and Qdrant, with faults on request.

They need no account, no key and no network. `passage serve` and the wire tests run the production code against them.
"""

from passage.emulators.bedrock.emulator import bedrock_emulator
from passage.emulators.cohere.emulator import cohere_emulator
from passage.emulators.faults import Fault, FaultPlan
from passage.emulators.qdrant.emulator import qdrant_emulator
from passage.emulators.recording import RecordedRequest
from passage.emulators.server import EmulatorServer

__all__ = [
    "EmulatorServer",
    "Fault",
    "FaultPlan",
    "RecordedRequest",
    "bedrock_emulator",
    "cohere_emulator",
    "qdrant_emulator",
]
