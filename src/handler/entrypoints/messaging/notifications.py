"""SNS and EventBridge: Lambda invokes the function for them asynchronously, and hands on what it returns or raises.

The reply is the return value, for the function's OnSuccess destination. A passing failure is raised: Lambda tries
again, and after the last try hands the event to the OnFailure destination.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from handler.contracts.base import event_checked
from handler.core.errors import InternalError, InvalidRequest
from handler.entrypoints.messaging.messages import Message, is_final, read, reply, unreadable
from handler.service.answering import Failure, Services, failure
from handler.service.batch import answer_all


def handle_sns(event: Mapping[str, Any], context: Any, services: Services) -> list[Any]:
    """The replies to a topic's notifications; Lambda gets one at a time, but the event has room for more.

    Raises:
        PassageError: a notification failed for a passing reason.
    """
    from aws_lambda_powertools.utilities.parser.models import SnsModel  # noqa: PLC0415 - only where topics are used

    try:
        event_checked(event, SnsModel, "SNS")
        messages = [read(each["Sns"]["Message"], each["Sns"]["MessageId"]) for each in event["Records"]]
    except InvalidRequest as error:
        messages = [unreadable(error, _invocation(context))]
    return _replies(messages, context, services)


def handle_event_bridge(event: Mapping[str, Any], context: Any, services: Services) -> Any:
    """The reply to one event, whose detail is the question.

    Raises:
        PassageError: it failed for a passing reason.
    """
    from aws_lambda_powertools.utilities.parser.models import EventBridgeModel  # noqa: PLC0415 - see above

    try:
        event_checked(event, EventBridgeModel, "EventBridge")
        message = read(event["detail"], event["id"])
    except InvalidRequest as error:
        message = unreadable(error, _invocation(context))
    return _replies([message], context, services)[0]


def _invocation(context: Any) -> str:
    """The id of an event that has none of its own: Lambda keeps it when it tries again."""
    return str(getattr(context, "aws_request_id", "unknown"))


def _replies(messages: Sequence[Message], context: Any, services: Services) -> list[Any]:
    questions = [message.question for message in messages if message.question is not None]
    answered = iter(answer_all(questions, services, services.deadline(context, None)))
    made = []
    for message in messages:
        outcome = failure(message.error or InternalError(), services) if message.question is None else next(answered)
        if isinstance(outcome, Failure) and not is_final(outcome):
            raise outcome.error
        made.append(reply(message, outcome).body())
    return made
