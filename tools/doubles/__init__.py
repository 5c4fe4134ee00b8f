"""Services that answer on loopback, for tests and benchmarks: with faults and latency on request, and a record."""

from tools.doubles.cohere import cohere_emulator
from tools.doubles.faults import Fault, FaultPlan
from tools.doubles.recording import RecordedRequest
from tools.doubles.server import EmulatorServer

__all__ = ["EmulatorServer", "Fault", "FaultPlan", "RecordedRequest", "cohere_emulator"]
