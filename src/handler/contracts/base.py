"""What a contract is, and how its request model is applied to whatever a source brought."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, TypeVar

from aws_lambda_powertools.utilities.parser import ValidationError, parse
from pydantic import AfterValidator, BaseModel, StrictStr
from pydantic_core import PydanticKnownError

from handler.core.errors import InvalidRequest, PassageError
from handler.core.model import Retrieval, RetrievalRequest
from handler.profiles import Profile

Model = TypeVar("Model", bound=BaseModel)


def _encodable(value: str) -> str:
    """JSON can escape half of a surrogate pair, which no encoder downstream can carry; pydantic itself lets it pass."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise PydanticKnownError("string_unicode") from None
    return value


Text = Annotated[StrictStr, AfterValidator(_encodable)]
"""What a caller wrote: a string, never something made into one."""


@dataclass(frozen=True, slots=True)
class Contract:
    """A shape of question and answer.

    Attributes:
        request_model: what a caller sends, by the contract's own field names.
        response_model, error_model: what a caller gets.
        parse: the caller's fields to a checked request. Raises InvalidRequest.
        render: an answer to `response_model`.
        render_error: an error, and when it happened (UTC), to `error_model`.
    """

    name: str
    request_model: type[BaseModel]
    response_model: type[BaseModel]
    error_model: type[BaseModel]
    parse: Callable[[Mapping[str, Any], Profile], RetrievalRequest]
    render: Callable[[Retrieval], BaseModel]
    render_error: Callable[[PassageError, datetime], BaseModel]


def validated(fields: Mapping[str, Any], model: type[Model]) -> Model:
    """`fields` as `model`.

    Raises:
        InvalidRequest: names each field that is wrong and what it takes; never repeats what was sent.
    """
    try:
        return parse(event=dict(fields), model=model)
    except ValidationError as error:
        raise InvalidRequest("; ".join(_explain(item) for item in error.errors(include_input=False))) from None


def _explain(item: Any) -> str:
    field = ".".join(str(part) for part in item["loc"])
    if item["type"] == "missing":
        return f"'{field}' is required"
    if item["type"] == "string_unicode":
        return f"'{field}' holds an unpaired surrogate: it takes text that UTF-8 can carry"
    return f"'{field}': {str(item['msg'])[:1].lower()}{str(item['msg'])[1:]}"


def named(fields: Mapping[str, Any], aliases: Mapping[str, tuple[str, ...]]) -> dict[str, Any]:
    """`fields` under the contract's own names, where a profile lets a request use others (`query` for `text`).

    Args:
        aliases: the contract's name of a field to the names a request may use.

    Raises:
        InvalidRequest: a field is there under two names.
    """
    renamed: dict[str, Any] = {}
    for name, allowed in aliases.items():
        given = [alias for alias in allowed if alias in fields]
        if len(given) > 1:
            raise InvalidRequest(f"{' and '.join(repr(alias) for alias in given)} mean the same: send one of them")
        if given:
            renamed[name] = fields[given[0]]
    taken = {alias for allowed in aliases.values() for alias in allowed}
    return {**{name: value for name, value in fields.items() if name not in taken}, **renamed}


def zulu(moment: datetime) -> str:
    """UTC as ISO 8601 ending in Z, to the second."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
