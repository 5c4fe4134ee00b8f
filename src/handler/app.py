"""The function's entry point: detects an event's source and passes the event to its entrypoint."""

from handler.cold_start.garbage import no_collection

with no_collection():  # its module says why
    import json
    from typing import Any

    from handler import telemetry
    from handler.bootstrap.container import build
    from handler.entrypoints import direct
    from handler.entrypoints.detect import Source, detect
    from handler.entrypoints.http import handler as http
    from handler.service.failures import failure

services = build()

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
            return json.loads(failure(error, services).text)
        return _hand_over(source, event, context)


def _hand_over(source: Source, event: Any, context: Any) -> Any:
    match source:
        case Source.DIRECT:
            return direct.handle(event, context, services)
        case Source.DIRECT_BATCH:
            return direct.handle_list(event, context, services)
        case Source.SQS:
            from handler.entrypoints.messaging import sqs  # noqa: PLC0415 - only where a queue is a source

            return sqs.handle(event, context, services)
        case Source.SNS:
            from handler.entrypoints.messaging import notifications  # noqa: PLC0415 - only where a topic is a source

            return notifications.handle_sns(event, context, services)
        case Source.EVENT_BRIDGE:
            from handler.entrypoints.messaging import notifications  # noqa: PLC0415 - only where a bus is a source

            return notifications.handle_event_bridge(event, context, services)
        case _:
            return http.handle(event, context, services, source)
