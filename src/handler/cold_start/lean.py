"""What makes a cold start short, in one place. Used in Lambda only; elsewhere everything is imported plainly.

Four costs dominate (docs/performance.md has the figures):

- Pydantic builds a validator for each of the SDKs' several hundred models, and qdrant-client builds all of its own a
  second time. A question needs a dozen (`handler.cold_start.sdk_models`).
- Powertools and the SDKs import what no question reaches: other services' events and resolvers, asyncio, numpy, grpc,
  local mode, chat. While they are imported, stand-ins take these packages' names (`handler.cold_start.stubs`).
- The garbage collector (`handler.cold_start.garbage`).
- What is built at a first use, an answer's types for one: a rehearsal uses it at INIT (`Retriever.warm`).

If a new release does not load this way, it is loaded plainly: slower, never broken. The layer leaves out some of these
packages altogether (layers/dependencies/left-out.txt); what is not installed has a stand-in in either case.
"""

import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

from handler import telemetry
from handler.cold_start import sdk_models
from handler.cold_start.garbage import no_collection
from handler.cold_start.stubs import StandInFinder, stand_ins
from handler.core.errors import ConfigurationError

if TYPE_CHECKING:
    from handler.service.answering import Services

NOT_NEEDED_OF_POWERTOOLS = (
    "aws_lambda_powertools.event_handler.appsync",
    "aws_lambda_powertools.event_handler.bedrock_agent",
    "aws_lambda_powertools.event_handler.bedrock_agent_function",
    "aws_lambda_powertools.event_handler.events_appsync",
    "aws_lambda_powertools.event_handler.graphql_appsync",
    "aws_lambda_powertools.event_handler.http_resolver",
    "aws_lambda_powertools.utilities.data_classes.api_gateway_websocket_event",
    "aws_lambda_powertools.utilities.data_classes.appsync_resolver_event",
    "aws_lambda_powertools.utilities.data_classes.appsync_resolver_events_event",
    "aws_lambda_powertools.utilities.data_classes.aws_config_rule_event",
    "aws_lambda_powertools.utilities.data_classes.bedrock_agent_event",
    "aws_lambda_powertools.utilities.data_classes.bedrock_agent_function_event",
    "aws_lambda_powertools.utilities.data_classes.cloud_watch_alarm_event",
    "aws_lambda_powertools.utilities.data_classes.cloud_watch_custom_widget_event",
    "aws_lambda_powertools.utilities.data_classes.cloud_watch_logs_event",
    "aws_lambda_powertools.utilities.data_classes.cloudformation_custom_resource_event",
    "aws_lambda_powertools.utilities.data_classes.code_deploy_lifecycle_hook_event",
    "aws_lambda_powertools.utilities.data_classes.code_pipeline_job_event",
    "aws_lambda_powertools.utilities.data_classes.connect_contact_flow_event",
    "aws_lambda_powertools.utilities.data_classes.dynamo_db_stream_event",
    "aws_lambda_powertools.utilities.data_classes.event_bridge_event",
    "aws_lambda_powertools.utilities.data_classes.kafka_event",
    "aws_lambda_powertools.utilities.data_classes.kinesis_firehose_event",
    "aws_lambda_powertools.utilities.data_classes.kinesis_stream_event",
    "aws_lambda_powertools.utilities.data_classes.s3_batch_operation_event",
    "aws_lambda_powertools.utilities.data_classes.s3_event",
    "aws_lambda_powertools.utilities.data_classes.secrets_manager_event",
    "aws_lambda_powertools.utilities.data_classes.ses_event",
    "aws_lambda_powertools.utilities.data_classes.sns_event",
    "aws_lambda_powertools.utilities.data_classes.sqs_event",
    "aws_lambda_powertools.utilities.data_classes.transfer_family_event",
)
"""Resolvers and events of services that are no source of an HTTP request; the first of them loads asyncio."""

NOT_NEEDED = (
    "cohere.core.http_sse",
    "cohere.types.chat_messages",
    "cohere.types.citation_options",
    "cohere.types.parse_document",
    "cohere.types.parse_response",
    "cohere.types.response_format_v2",
    "cohere.types.thinking",
    "cohere.types.tool_v2",
    "cohere.v2.types.v2chat_request_documents_item",
    "cohere.v2.types.v2chat_response",
    "cohere.v2.types.v2chat_stream_request_documents_item",
    "cohere.v2.types.v2chat_stream_response",
    "fastavro",
    "google",
    "grpc",
    "httpcore._async",
    "numpy",
    "qdrant_client.async_qdrant_client",
    "qdrant_client.conversions.common_types",
    "qdrant_client.conversions.conversion",
    "qdrant_client.grpc",
    "qdrant_client.local",
    "qdrant_client.migrate",
    "qdrant_client.parallel_processor",
    "qdrant_client.qdrant_client",
    "qdrant_client.uploader",
    "requests",
    "tokenizers",
)
"""What the SDKs import for what Passage never calls: gRPC, local and asynchronous clients, inference, chat, uploads."""

NOT_NEEDED_BUT_BY_BOTO3 = ("asyncio", "multiprocessing", "urllib3")

ABSENT = ("anyio", "h2", "httpx._main", "trio")
"""What is used when it is installed and done without when it is not: HTTP/2, a command line, asynchronous calls."""


def load_sources(services: "Services") -> None:
    """Import what every HTTP event needs. What is wrong with the settings for HTTP is for the first request to say."""
    try:
        with stand_ins(NOT_NEEDED_OF_POWERTOOLS):
            http = import_module("handler.entrypoints.http.handler")
        with suppress(ConfigurationError):
            http.rehearse(services)
    except Exception:  # noqa: BLE001 - as in `warm`
        telemetry.logger.warning("lean imports failed; importing plainly", exc_info=True)
        _forget(
            (
                "aws_lambda_powertools.event_handler",
                "aws_lambda_powertools.utilities.data_classes",
                "handler.entrypoints",
            )
        )


def warm(services: "Services") -> None:
    """Do at INIT what the first question would otherwise wait for: INIT has a full CPU, whatever memory is configured.

    A wrong setting does not fail INIT, which Lambda would repeat and then hide behind an error of its own: it is logged
    here and answered to every question. So is a profile that is not usable, to the questions that name it.
    """
    if _INSTEAD_OF_NOTHING not in sys.meta_path:
        sys.meta_path.append(_INSTEAD_OF_NOTHING)
    for broken in services.broken_profiles():
        _report(broken)
    try:
        with no_collection():
            with (
                sdk_models.lean(),
                stand_ins(NOT_NEEDED, ABSENT),
                stand_ins(NOT_NEEDED_BUT_BY_BOTO3, until=("boto3", "botocore")),
            ):
                services.load()
            services.warm()
    except ConfigurationError as error:
        _report(error)
    except Exception:  # noqa: BLE001 - whatever a new release of an SDK trips over, the plain way is still open
        telemetry.logger.warning("lean imports failed; importing plainly", exc_info=True)
        services.unload()
        _forget(("cohere", "qdrant_client", "httpx", "httpcore", "handler.adapters"))
        _warm_plainly(services)


def _report(error: ConfigurationError) -> None:
    telemetry.logger.error(str(error), extra={"code": error.code, "detail": error.detail})


def _warm_plainly(services: "Services") -> None:
    try:
        services.warm()
    except Exception as error:  # noqa: BLE001 - a failed INIT would hide the reason from every caller
        telemetry.logger.error("warm-up failed; the first question will try again", exc_info=error)


def _forget(packages: Sequence[str]) -> None:
    for name in list(sys.modules):
        if any(name == package or name.startswith(f"{package}.") for package in packages):
            del sys.modules[name]


_INSTEAD_OF_NOTHING = StandInFinder(NOT_NEEDED)
"""Asked last, when no package of the name is installed, for as long as the container lives: an import after INIT, as
after a setting that was wrong at INIT, needs stand-ins no less."""
