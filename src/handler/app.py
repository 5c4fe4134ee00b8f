"""The function's entry point: find out where an event comes from and hand it over."""

from handler.cold_start.garbage import no_collection

with no_collection():  # its module says what for
    from collections.abc import Callable, Mapping
    from typing import Any

    from handler import telemetry
    from handler.bootstrap.container import build
    from handler.entrypoints import direct
    from handler.entrypoints.detect import Source, detect
    from handler.entrypoints.http import handler as http
    from handler.service.answering import Services, as_object, failure

services = build()


def _sqs(event: Any, context: Any, services: Services) -> Any:
    from handler.entrypoints.messaging import sqs  # noqa: PLC0415 - only where a queue is a source

    return sqs.handle(event, context, services)


def _sns(event: Any, context: Any, services: Services) -> Any:
    from handler.entrypoints.messaging import notifications as notify  # noqa: PLC0415 - only where a topic is a source

    return notify.handle_sns(event, context, services)


def _event_bridge(event: Any, context: Any, services: Services) -> Any:
    from handler.entrypoints.messaging import notifications as notify  # noqa: PLC0415 - only where a bus is a source

    return notify.handle_event_bridge(event, context, services)


HANDLERS: Mapping[Source, Callable[[Any, Any, Services], Any]] = {
    Source.HTTP_API: lambda event, context, services: http.handle(event, context, services, Source.HTTP_API),
    Source.REST_API: lambda event, context, services: http.handle(event, context, services, Source.REST_API),
    Source.FUNCTION_URL: lambda event, context, services: http.handle(event, context, services, Source.FUNCTION_URL),
    Source.ALB: lambda event, context, services: http.handle(event, context, services, Source.ALB),
    Source.SQS: _sqs,
    Source.SNS: _sns,
    Source.EVENT_BRIDGE: _event_bridge,
    Source.DIRECT: direct.handle,
    Source.DIRECT_BATCH: direct.handle_list,
}

if services.in_lambda():
    from handler.cold_start.warm_up import warm_up  # elsewhere the first question imports what it needs

    warm_up(services)
if services.snap_start():
    from handler.cold_start import snap_start  # only where there are snapshots

    snap_start.register(services)


def lambda_handler(event: Any, context: Any) -> Any:
    """Answer one event of any known source.

    Args:
        context: Lambda's; None when there is none (a unit test, a REPL).
    """
    with telemetry.invocation(getattr(context, "aws_request_id", None)):
        try:
            source = detect(event)
        except Exception as error:  # noqa: BLE001 - an unknown shape is answered as any other bad input
            return as_object(failure(error, services).body)
        return HANDLERS[source](event, context, services)
