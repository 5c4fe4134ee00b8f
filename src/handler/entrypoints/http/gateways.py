"""The kinds of HTTP API in front of the function, with their differences."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from aws_lambda_powertools.event_handler import (
    ALBResolver,
    APIGatewayHttpResolver,
    APIGatewayRestResolver,
    LambdaFunctionUrlResolver,
)
from aws_lambda_powertools.event_handler.api_gateway import ApiGatewayResolver

from handler.entrypoints.detect import Source
from handler.entrypoints.http.request import load_balancer_event, payload_1_event, payload_2_event
from handler.entrypoints.limits import ALB_RESPONSE_BYTES, LAMBDA_RESPONSE_BYTES


class Gateway(NamedTuple):
    """One kind of API.

    Attributes:
        normalise: returns the parts of its event that Passage uses, validated. Raises InvalidRequest.
        limit: the API's timeout in seconds (its quotas), less a margin for sending the answer; None without one.
        response_bytes: the most bytes of a response.
    """

    resolver: type[ApiGatewayResolver]
    normalise: Callable[[Mapping[str, Any]], dict[str, Any]]
    limit: float | None
    response_bytes: int = LAMBDA_RESPONSE_BYTES


GATEWAYS: Mapping[Source, Gateway] = {
    Source.REST_API: Gateway(APIGatewayRestResolver, payload_1_event, 28.5),
    Source.HTTP_API: Gateway(APIGatewayHttpResolver, payload_2_event, 29.5),
    Source.FUNCTION_URL: Gateway(LambdaFunctionUrlResolver, payload_2_event, None),
    Source.ALB: Gateway(ALBResolver, load_balancer_event, 59.5, ALB_RESPONSE_BYTES),
}
