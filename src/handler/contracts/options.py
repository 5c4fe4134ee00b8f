"""The options of a question: the same in every contract, off unless asked for. Imported when a request has one."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt

from handler.config.profiles import Profile
from handler.contracts.base import Contract
from handler.contracts.fields import MINIMUM, NOISE, WHOLE, Text, Threshold, number_of, validate_fields
from handler.contracts.filter_values import FilterValue, conditions
from handler.core.errors import InvalidRequest
from handler.core.model import Filters, RetrievalRequest, Selection, TextSearch
from handler.core.selection import LAST

SHORTHANDS = ("language", "version")
"""Options that stand for a filter on the field of their name."""

Label = Annotated[Text, Field(min_length=1, max_length=100)]


class Options(BaseModel):
    """The options, as a request names them. A null counts as absent."""

    model_config = ConfigDict(frozen=True)

    filters: dict[Text, FilterValue] | None = Field(
        None, description="What each field must be: a value, one of a list, within bounds, or text with a prefix."
    )
    language: Label | None = Field(None, description="The language that passages must have, as in `en`.")
    version: Label | None = Field(None, description="The version of the site that passages must have, as in `2.1`.")
    score_threshold: Threshold | None = Field(None, description=MINIMUM.format("passage"))
    offset: Annotated[StrictInt, Field(ge=0, le=LAST - 1), WHOLE] | None = Field(
        None, description="How many of the best passages to skip. Send it with every page of a list, also 0."
    )
    max_per_page: Annotated[StrictInt, Field(ge=1, le=100), WHOLE] | None = Field(
        None, description="The most passages of one page: a URL without its fragment."
    )
    diversity: Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0, le=1)] | None = Field(
        None, description="How much a passage's similarity to better ones counts against it."
    )
    unique: StrictBool | None = Field(None, description="Whether passages with the same text are returned once.")
    by_section: StrictBool | None = Field(
        None, description="Whether each section is returned once: its best passage stands for the others."
    )
    neighbors: Annotated[StrictInt, Field(ge=0, le=3), WHOLE] | None = Field(
        None,
        description="How many chunks before and after each passage, on its page, `text_with_neighbors` has.",
    )
    titles: StrictBool | None = Field(
        None, description="Whether each passage has its page's `title` and its `headings`."
    )
    order: Literal["relevance", "score"] | None = Field(
        None, description="Whether results come as the search ranks them, or by descending score."
    )
    search: TextSearch | None = Field(
        None,
        description="`words` searches by words alone, `titles` in titles by what was typed so far. Scores are then 0.",
    )
    fit: StrictBool | None = Field(
        None, description="Whether each passage has its `fit`: how well it fits, beside other subjects' questions."
    )
    debug: StrictBool | None = Field(
        None, description="Whether the answer explains itself in `debug`. The deployment must allow it."
    )


def apply_options(
    request: RetrievalRequest, fields: Mapping[str, Any], contract: Contract, profile: Profile, *, debug: bool
) -> RetrievalRequest:
    """The request with the options among the caller's fields.

    Args:
        debug: whether the deployment allows `debug`.

    Raises:
        InvalidRequest: an option's value is wrong, or the profile or the deployment does not have the option.
    """
    own = contract.request_model.model_fields
    _check_one_threshold(fields, own)
    given = {name: fields[name] for name in Options.model_fields if name in fields and name not in own}
    options = validate_fields(given, Options, profile.filters)
    if options.debug and not debug:
        raise InvalidRequest("'debug' is off in this deployment: DEBUG_ANSWERS turns it on.")
    if options.neighbors and not profile.payload.keys("index"):
        raise InvalidRequest("'neighbors' needs a chunk's position, and this profile names no payload key for it.")
    search = request.search
    above_noise = request.above_noise if options.score_threshold is None else options.score_threshold == NOISE
    threshold = search.score_threshold if options.score_threshold is None else number_of(options.score_threshold)
    changed = replace(
        search,
        filters={**search.filters, **_filters(options, fields, profile)},
        score_threshold=threshold,
        by=options.search,
        explain=bool(options.debug),
    )
    return replace(
        request,
        search=changed,
        selection=_selection(options),
        order=options.order or request.order,
        titles=bool(options.titles) or options.search == "titles",
        fit=bool(options.fit),
        above_noise=above_noise,
    )


def _check_one_threshold(fields: Mapping[str, Any], own: Mapping[str, Any]) -> None:
    """Check that the minimum score is sent once: seed 004 calls it `threshold`."""
    if "threshold" in own and None not in (fields.get("threshold"), fields.get("score_threshold")):
        raise InvalidRequest("'threshold' and 'score_threshold' mean the same: send one of them.")


def _filters(options: Options, fields: Mapping[str, Any], profile: Profile) -> Filters:
    """The filters, those of the shorthands included."""
    by_field: dict[str, Any] = dict(options.filters or {})
    filtered = fields.get("filters")
    for name in SHORTHANDS:
        value = getattr(options, name)
        if value is None:
            continue
        if name not in profile.filters:
            raise InvalidRequest(
                f"'{name}' is not a field of this profile: its [filters] must declare it, with the payload's key."
            )
        if isinstance(filtered, Mapping) and name in filtered:
            raise InvalidRequest(f"'{name}' and 'filters.{name}' mean the same: send one of them.")
        by_field[name] = value
    return conditions(by_field, profile)


def _selection(options: Options) -> Selection | None:
    chosen = Selection(
        offset=options.offset,
        max_per_page=options.max_per_page,
        diversity=options.diversity or 0.0,
        unique=bool(options.unique),
        by_section=bool(options.by_section),
        neighbors=options.neighbors or 0,
    )
    return None if chosen == Selection() else chosen
