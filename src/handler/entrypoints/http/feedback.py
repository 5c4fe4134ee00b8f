"""Takes a reader's thumbs up or down for a passage: checks, counts and logs it. Imported at the first request."""

import re
from collections.abc import Mapping
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, StrictBool, WithJsonSchema
from pydantic_core import PydanticCustomError

from handler import telemetry
from handler.contracts.faults import OURS
from handler.contracts.fields import Text, as_whole, validate_fields
from handler.core.errors import NotFound
from handler.entrypoints.http.call import Call
from handler.entrypoints.http.status import failure_response
from handler.service.failures import failure
from handler.service.services import Served

WEB_ADDRESS = r"^https?://[^\x00-\x20\x7f]"
"""The start of a URL that a browser can open."""

EXAMPLE = '{"url": "https://example.com/docs/digital-twin", "helpful": true}'


def _web_address(value: str) -> str:
    if not re.match(WEB_ADDRESS, value):
        raise PydanticCustomError(OURS, "must be the URL of a web page, as in https://example.com/docs")
    return value


Url = Annotated[
    Annotated[Text, Field(max_length=2_048)],
    AfterValidator(_web_address),
    WithJsonSchema({"type": "string", "maxLength": 2_048, "pattern": WEB_ADDRESS}),
]


def _id_text(value: object) -> object:
    """A whole number as text: `vector_search` answers with point ids, which can be numbers."""
    number = as_whole(value)
    return str(number) if isinstance(number, int) and not isinstance(number, bool) else value


MOST_ID_CHARACTERS = 200
ChunkId = Annotated[
    Annotated[Text, Field(min_length=1, max_length=MOST_ID_CHARACTERS)] | None,
    BeforeValidator(_id_text),
    WithJsonSchema({"type": ["string", "integer", "null"], "minLength": 1, "maxLength": MOST_ID_CHARACTERS}),
]


class Feedback(BaseModel):
    """Whether a passage answered its question. Unknown fields are ignored, as in a question."""

    url: Url = Field(description="The passage's URL, as the answer has it.")
    helpful: StrictBool = Field(description="True for thumbs up, false for thumbs down.")
    profile: Text | None = Field(None, max_length=100, description="The profile that answered; else the default one.")
    chunk_id: ChunkId = Field(None, description="The passage's id, as the answer has it.")
    query_id: Text | None = Field(None, max_length=200, description="The caller's id of the question.")
    question: Text | None = Field(
        None, max_length=10_000, description="The question. Logged only where the deployment logs question text."
    )
    comment: Text | None = Field(
        None, max_length=1_000, description="The reader's words. Logged only where the deployment logs question text."
    )


def take(call: Call) -> Response[str]:
    """Answer `POST /feedback`: 204, or an error of the default profile's contract (400, 404)."""
    fields: Mapping[str, Any] = {}
    try:
        if not call.services.settings.feedback:
            raise NotFound("This deployment takes no feedback.")
        fields = call.body_fields(EXAMPLE)
        feedback = validate_fields(fields, Feedback)
        _record(feedback, call.services.served(feedback.profile))
    except Exception as error:  # noqa: BLE001 - hides the reader's words in the log, which an outer handler cannot
        return failure_response(failure(error, call.services.served, fields=fields))
    return Response(204, body="")


def _record(feedback: Feedback, served: Served) -> None:
    """Log and count. A reader's own words are logged only where question text is."""
    words = {"query_text": feedback.question, "comment": feedback.comment} if served.settings.log_query_text else {}
    ids = {"url": feedback.url, "chunk_id": feedback.chunk_id, "query_id": feedback.query_id}
    known = {name: value for name, value in {**ids, **words}.items() if value is not None}
    telemetry.log_feedback(served.profile.name, {"helpful": feedback.helpful, **known}, helpful=feedback.helpful)
