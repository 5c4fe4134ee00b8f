"""SnapStart's hooks. A snapshot is restored many times, maybe days later and on other machines.

The warm-up has run by then and stays: SDKs are imported, clients and types built, an index is open. Four things must
not stay: connections, which the far side has closed; times, which say what is recent; credentials; and the state of the
random number generator, which every copy would share. `uuid4` asks the operating system each time and needs no hook.
"""

import random

from handler import telemetry
from handler.bootstrap.container import Container


def register(services: Container) -> None:
    """Have Lambda's runtime call the hooks. Raises nothing: without them the function is slower, not broken."""
    try:
        # Part of Lambda's runtime, and needed nowhere else.
        from snapshot_restore_py import register_after_restore, register_before_snapshot  # noqa: PLC0415
    except ImportError:
        telemetry.logger.warning("SnapStart's hooks cannot be registered: snapshot_restore_py is missing")
        return
    register_before_snapshot(services.before_snapshot)
    register_after_restore(_after_restore, services)


def _after_restore(services: Container) -> None:
    random.seed()
    telemetry.forget_invocations()
    services.after_restore()
