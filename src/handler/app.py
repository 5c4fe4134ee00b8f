"""The function's entry point: detects an event's source and passes the event to its entrypoint."""

from handler.cold_start import no_collection, register_hooks, warm_up

with no_collection():
    import json
    from collections.abc import Callable
    from typing import Any

    from handler import telemetry
    from handler.bootstrap.container import Container, build
    from handler.entrypoints import direct
    from handler.entrypoints.detect import Source, detect, reads_no_answer
    from handler.entrypoints.http import handler as http
    from handler.service.failures import failure

services = build()

if services.runtime.in_lambda:  # elsewhere the first question imports what it needs
    warm_up(services)
if services.runtime.snap_start:
    register_hooks(services)


def lambda_handler(event: Any, context: Any) -> Any:
    """Answer one event of any known source.

    Args:
        context: Lambda's; None when there is none (a unit test, a REPL).
    """
    with telemetry.invocation(getattr(context, "aws_request_id", None)):
        try:
            source = detect(event, context)
        except Exception as error:
            answered = failure(error, services.served)
            if reads_no_answer(event):
                raise
            return json.loads(answered.text)
        return _hand_over(source, event, context)


def _hand_over(source: Source, event: Any, context: Any) -> Any:
    handle: Callable[[Any, Any, Container], Any]
    match source:
        case Source.DIRECT:
            handle = direct.handle
        case Source.DIRECT_BATCH:
            handle = direct.handle_list
        case Source.SQS | Source.PIPES | Source.SNS | Source.EVENT_BRIDGE:
            from handler.entrypoints.messaging.deliveries import HANDLERS  # noqa: PLC0415 - only where messages come

            handle = HANDLERS[source]
        case Source.HEARTBEAT:
            from handler.entrypoints.heartbeat import handle  # noqa: PLC0415 - only where a schedule asks
        case Source.BEDROCK_AGENT | Source.AGENT_CORE:
            from handler.entrypoints import agents  # noqa: PLC0415 - only where an agent asks

            handle = agents.handle_tool if source is Source.AGENT_CORE else agents.handle_action_group
        case _:
            return http.handle(event, context, services, source)
    return handle(event, context, services)
