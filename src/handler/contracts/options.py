"""The options of a question, and what they add to its answer: the same in every contract. Imported when one is sent."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt

from handler.config.profiles import Profile
from handler.contracts.base import Answer, Contract, Expandable
from handler.contracts.fields import MINIMUM, WHOLE, Text, Threshold, json_id, json_safe, validate_fields
from handler.contracts.filter_values import FilterValue, conditions
from handler.core.errors import InvalidRequest
from handler.core.model import Filters, Passage, PointId, Retrieval, RetrievalRequest, Selection, TextSearch
from handler.core.selection import LAST

MOST_SHOWN = 100
"""The most passages that `debug` lists: a response has a limit."""

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
        None, description="How many chunks before and after each passage, on its page, `text_with_neighbors` has."
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
    """The request with the options among the caller's fields. `debug` says whether the deployment allows that one.

    Raises:
        InvalidRequest: an option's value is wrong, or the profile or the deployment does not have the option.
    """
    own = contract.request_model.model_fields
    if "threshold" in own and None not in (fields.get("threshold"), fields.get("score_threshold")):
        raise InvalidRequest("'threshold' and 'score_threshold' mean the same: send one of them.")  # seed 004's name
    given = {name: fields[name] for name in Options.model_fields if name in fields and name not in own}
    options = validate_fields(given, Options, profile.filters)
    if options.debug and not debug:
        raise InvalidRequest("'debug' is off in this deployment: DEBUG_ANSWERS turns it on.")
    if options.neighbors and not profile.payload.keys("index"):
        raise InvalidRequest("'neighbors' needs a chunk's position, and this profile names no payload key for it.")
    filters = {**request.search.filters, **_filters(options, fields, profile)}
    return replace(
        request,
        search=replace(request.search, filters=filters, by=options.search, explain=bool(options.debug)),
        score_threshold=request.score_threshold if options.score_threshold is None else options.score_threshold,
        selection=_selection(options),
        order=options.order or request.order,
        titles=bool(options.titles) or options.search == "titles",
        fit=bool(options.fit),
    )


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
    given = {name: value for name in Selection._fields if (value := getattr(options, name)) is not None}
    chosen = Selection(**given)
    return None if chosen == Selection() else chosen


def add_option_fields(body: Answer, contract: Contract, profile: Profile, retrieval: Retrieval) -> Answer:
    """The answer with what its options add: each result's title, headings, neighbors and fit, and `debug`."""
    results: list[Expandable] = getattr(body, contract.results)
    changes: dict[str, Any] = {
        contract.results: [
            result.model_copy(update=_result_fields(passage, titles=retrieval.request.titles))
            for result, passage in zip(results, retrieval.passages, strict=False)
        ]
    }
    # An answer that had to be shortened has no room for it.
    if retrieval.request.search.explain and not retrieval.left_out:
        changes["debug"] = explain(profile, retrieval)
    return body.model_copy(update=changes)


def _result_fields(passage: Passage, *, titles: bool) -> dict[str, Any]:
    return {
        **({"title": passage.title or "", "headings": list(passage.headings)} if titles else {}),
        **({} if passage.expanded is None else {"text_with_neighbors": passage.expanded}),
        **({} if passage.fit is None else {"fit": passage.fit}),
    }


def explain(profile: Profile, retrieval: Retrieval) -> dict[str, Any]:
    """How an answer came about: its settings, its times, and each passage's rank and score in every stage."""
    times = {name.removesuffix("_ms"): spent for name, spent in retrieval.timings._asdict().items()}
    return {
        "profile": profile.name,
        "collection": retrieval.collection,
        "model": retrieval.model,
        "mode": retrieval.request.search.by or ("hybrid" if "fused" in retrieval.stages else "dense"),
        **({} if retrieval.balance is None else {"balance": retrieval.balance}),
        "embedding_cached": retrieval.embedding_cached,
        "times_ms": {name: round(spent, 3) for name, spent in times.items() if spent is not None},
        "found": {name: len(stage) for name, stage in retrieval.stages.items()},
        "passages": _passages(retrieval)[:MOST_SHOWN],
    }


def _passages(retrieval: Retrieval) -> list[dict[str, Any]]:
    """Every passage that a stage found: those of the answer first, then the other candidates, then the rest."""
    stages = retrieval.stages
    places: dict[PointId, dict[str, dict[str, float]]] = {passage.id: {} for passage in retrieval.passages}
    places |= {passage.id: {} for passage in retrieval.candidates if passage.id not in places}
    for name, stage in stages.items():
        for rank, (point, scores) in enumerate(stage, start=1):
            shown = {part: round(score, 6) for part, score in scores.items()}
            places.setdefault(point, {})[name] = {"rank": rank, **shown}
    urls = {passage.id: passage.url for passage in retrieval.candidates}
    chosen = {passage.id for passage in retrieval.passages}
    return [
        {
            "id": json_id(point),
            **({"url": json_safe(urls[point])} if point in urls else {}),
            **({} if point in chosen else {"dropped": retrieval.dropped.get(point) or _why(ranks, retrieval)}),
            "stages": ranks,
        }
        for point, ranks in places.items()
    ]


def _why(ranks: Mapping[str, Any], retrieval: Retrieval) -> str:
    """Why a passage that a stage of the search found was never a candidate."""
    request = retrieval.request
    least = request.score_threshold
    if least == "noise":
        least = retrieval.noise.p90 if retrieval.noise else None
    if least and "dense" in ranks and ranks["dense"]["score"] < least:
        return "below the minimum score"
    return "not among the candidates, the same text of its section again, or it cannot be shown"
