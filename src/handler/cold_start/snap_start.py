"""SnapStart: what was made before the snapshot is restored many times over, maybe days later, on other machines.

The warm-up has run by then, and stays: SDKs imported, clients and types built, an index open. What must not stay is a
connection (the far side closed it), the clock (what is "recent"), a credential, and a generator of random numbers that
every copy would go on with alike. Unique ids are not among them: `uuid4` asks the operating system each time.
"""

import random
from typing import Protocol

from handler import telemetry


class Restorable(Protocol):
    """What `handler.bootstrap.container` provides."""

    def before_snapshot(self) -> None:
        """Let go of every connection."""

    def after_restore(self) -> None:
        """Take nothing for recent that was so before; have credentials and connections made anew."""


def register(services: Restorable) -> None:
    """Have Lambda's runtime call the hooks. Raises nothing: without them the function is slower, not broken."""
    try:
        # Part of Lambda's runtime, and needed nowhere else.
        from snapshot_restore_py import register_after_restore, register_before_snapshot  # noqa: PLC0415
    except ImportError:
        telemetry.logger.warning("SnapStart's hooks cannot be registered: snapshot_restore_py is missing")
        return
    register_before_snapshot(services.before_snapshot)
    register_after_restore(_after_restore, services)


def _after_restore(services: Restorable) -> None:
    random.seed()
    telemetry.restored()
    services.after_restore()
