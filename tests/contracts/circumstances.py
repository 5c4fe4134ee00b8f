"""Failures of the function's services, each as faults of the emulators."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from tools.doubles import Fault

State = Literal["textbook", "missing", "other dimension", "empty"]
Environment = Literal["usual", "impatient", "without certificates"]

DEADLINE_MS = 500
"""An impatient container's; what is slow takes longer."""


@dataclass(frozen=True)
class Circumstance:
    """One kind of weather.

    embedding, store: what the service does to every request, if not its work.
    collections: what the store holds.
    environment: which container is asked.
    """

    embedding: Fault | None = None
    store: Fault | None = None
    collections: State = "textbook"
    environment: Environment = "usual"


DOWN = Fault("status", status=503, times=0)
DROPS = Fault("drop", times=0)
THROTTLES = Fault("status", status=429, retry_after=60, times=0)
SLOW = Fault("slow", delay_ms=3 * DEADLINE_MS, times=0)
REFUSES_THE_KEY = Fault("status", status=401, times=0)
REFUSES_THE_MODEL = Fault("status", status=404, times=0)
UNREADABLE = Fault("malformed", times=0)

FAIR = "fair"
CIRCUMSTANCES: Mapping[str, Circumstance] = {
    FAIR: Circumstance(),
    "store down": Circumstance(store=DOWN),
    "store drops": Circumstance(store=DROPS),
    "store throttles": Circumstance(store=THROTTLES),
    "store slow": Circumstance(store=SLOW, environment="impatient"),
    "store refuses the key": Circumstance(store=REFUSES_THE_KEY),
    "store unreadable": Circumstance(store=UNREADABLE),
    "embedding down": Circumstance(embedding=DOWN),
    "embedding drops": Circumstance(embedding=DROPS),
    "embedding throttles": Circumstance(embedding=THROTTLES),
    "embedding slow": Circumstance(embedding=SLOW, environment="impatient"),
    "embedding refuses the key": Circumstance(embedding=REFUSES_THE_KEY),
    "embedding refuses the model": Circumstance(embedding=REFUSES_THE_MODEL),
    "embedding unreadable": Circumstance(embedding=UNREADABLE),
    "collection missing": Circumstance(collections="missing"),
    "other dimension": Circumstance(collections="other dimension"),
    "collection empty": Circumstance(collections="empty"),
    "certificates missing": Circumstance(environment="without certificates"),
}
