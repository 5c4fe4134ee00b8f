"""HTTP servers on loopback that answer like Cohere, Bedrock and Qdrant, with faults on request.

They need no account, no key and no network. `passage serve` and the wire tests run the production code against them.
"""

from devkit.emulators.bedrock import bedrock_emulator
from devkit.emulators.cohere import cohere_emulator
from devkit.emulators.faults import Fault, FaultPlan
from devkit.emulators.qdrant import qdrant_emulator
from devkit.emulators.server import EmulatorServer, RecordedRequest

__all__ = [
    "EmulatorServer",
    "Fault",
    "FaultPlan",
    "RecordedRequest",
    "bedrock_emulator",
    "cohere_emulator",
    "qdrant_emulator",
]
