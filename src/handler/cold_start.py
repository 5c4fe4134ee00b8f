"""Keeps a cold start short: no garbage collection, models built late, a warm-up. `make build` does the rest.

`app` imports this module before all others, so it imports them where it uses them.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from handler.bootstrap.container import Container


@contextmanager
def no_collection() -> Iterator[None]:
    """Pause the garbage collector inside the block, for imports. Objects made there are never walked again.

    The collector would walk through ever more objects, and hardly any is garbage.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.freeze()
            gc.enable()


@contextmanager
def deferred_models() -> Iterator[None]:
    """Give models that are defined inside the block pydantic's `defer_build`; they inherit it from `BaseModel`.

    The validators of the SDKs' models are then built at first use: a question needs few of them.
    """
    from pydantic import BaseModel  # noqa: PLC0415 - see above

    before = BaseModel.model_config
    BaseModel.model_config = {**before, "defer_build": True}
    try:
        yield
    finally:
        BaseModel.model_config = before


def warm_up(services: "Container") -> None:
    """At INIT, which has a full CPU at any memory size, do what the first question would otherwise wait for.

    Imports the SDKs, builds the clients, and answers a made-up HTTP request and a made-up question without any call.
    Imports are plain ones in every host; they are cheap because `make build` prunes the layer (docs/decisions, 20).

    A failure never fails INIT: Lambda would repeat INIT and hide the reason. It is logged here, and the first question
    tries again. A wrong setting is answered to every question, an unusable profile to the questions that name it.
    """
    from handler import telemetry  # noqa: PLC0415 - see above
    from handler.core.errors import ConfigurationError  # noqa: PLC0415 - see above
    from handler.entrypoints.http import handler as http  # noqa: PLC0415 - see above

    faults = services.broken_profiles()
    try:
        with no_collection():
            with suppress(ConfigurationError):  # the first HTTP request reports it
                http.warm_up(services)
            with deferred_models():
                services.load()
            services.warm()
    except ConfigurationError as error:
        faults.append(error)
    except Exception as error:  # noqa: BLE001 - a failed INIT would hide the reason from every caller
        telemetry.logger.error("warm-up failed; the first question will try again", exc_info=error)
    for fault in faults:
        telemetry.logger.error(str(fault), extra={"code": fault.code, "detail": fault.detail})


def register_hooks(services: "Container") -> None:
    """Have Lambda's runtime call SnapStart's hooks. A snapshot is restored many times, maybe days later and elsewhere.

    The warm-up stays: SDKs are imported, clients and types built, an index is open. Four things must not stay:
    connections, which the far side has closed; times, which say what is recent; credentials; and the random number
    generator's state, which every copy would share. `uuid4` asks the operating system each time and needs no hook.

    Raises nothing: without the hooks the function is slower, not broken.
    """
    import random  # noqa: PLC0415 - see above

    from handler import telemetry  # noqa: PLC0415 - see above

    try:
        # Part of Lambda's runtime, and needed nowhere else.
        from snapshot_restore_py import register_after_restore, register_before_snapshot  # noqa: PLC0415
    except ImportError:
        telemetry.logger.warning("SnapStart's hooks cannot be registered: snapshot_restore_py is missing")
        return

    def after_restore() -> None:
        random.seed()
        telemetry.forget_invocations()
        services.after_restore()

    register_before_snapshot(services.before_snapshot)
    register_after_restore(after_restore)
