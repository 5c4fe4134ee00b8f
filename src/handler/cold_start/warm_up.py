"""The warm-up: at INIT, do what the first question would otherwise wait for. INIT has a full CPU at any memory size.

Imports are plain imports in every host. They are cheap because `make build` prunes the layer (docs/decisions, 20).
"""

from contextlib import suppress

from handler import telemetry
from handler.bootstrap.container import Container
from handler.cold_start.deferred import deferred_models
from handler.cold_start.garbage import no_collection
from handler.core.errors import ConfigurationError
from handler.entrypoints.http import handler as http


def warm_up(services: Container) -> None:
    """Import the SDKs, build the clients, and answer a made-up HTTP request and a made-up question without any call.

    A failure never fails INIT: Lambda would repeat INIT and hide the reason. It is logged here, and the first question
    tries again. A wrong setting is answered to every question, an unusable profile to the questions that name it.
    """
    for broken in services.broken_profiles():
        _report(broken)
    try:
        with no_collection():
            with suppress(ConfigurationError):  # the first HTTP request reports it
                http.warm_up(services)
            with deferred_models():
                services.load()
            services.warm()
    except ConfigurationError as error:
        _report(error)
    except Exception as error:  # noqa: BLE001 - a failed INIT would hide the reason from every caller
        telemetry.logger.error("warm-up failed; the first question will try again", exc_info=error)


def _report(error: ConfigurationError) -> None:
    telemetry.logger.error(str(error), extra={"code": error.code, "detail": error.detail})
