"""What an API says about itself: the profile to ask, its contract, the names of its fields, and its limits."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from passage.api import Api, Request, Unreachable


class SetupError(Exception):
    """The run cannot start. The message names the setting that is wrong."""


@dataclass(frozen=True, slots=True)
class RemoteProfile:
    """One profile of an API.

    Attributes:
        text, count: the names of the request's fields for the question and the number of passages.
        most: the largest number of passages; None where the API sets a larger number to its limit.
        fields: every field of a request, with its schema, in which no reference is left.
    """

    profile: str
    contract: str
    collection: str
    model: str
    text: str
    count: str
    most: int | None
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def path(self) -> str:
        return f"/profiles/{self.profile}"

    def clamp(self, passages: int) -> int:
        """This number of passages, or the limit if that is smaller."""
        return passages if self.most is None else min(passages, self.most)

    @property
    def rejects_counts(self) -> bool:
        """Whether a number of passages out of range is an error."""
        return self.most is not None


def find_profile(api: Api, name: str | None, named_by: str = "--profile") -> RemoteProfile:
    """A profile as the API serves it; its default one where `name` is None.

    Args:
        named_by: what names the profile, for the message.

    Raises:
        SetupError: the API cannot be read, or has no such profile.
    """
    listed = _read(api, "/profiles")
    try:
        known = {profile["name"]: profile for profile in listed["profiles"]}
        wanted = name or listed["default"]
        if wanted not in known:
            raise SetupError(
                f"{named_by}: the target has no profile '{wanted}', or no index for it. It has {', '.join(known)}."
            )
        profile = known[wanted]
        document = _read(api, "/openapi.json")
        asked = document["paths"][f"/profiles/{wanted}/query"]["post"]["requestBody"]["content"]["application/json"]
        fields = _without_references(asked["schema"], document["components"]["schemas"])["properties"]
        text, count = list(fields)[:2]  # the document's order
        return RemoteProfile(
            profile=wanted,
            contract=profile["contract"],
            collection=profile["collection"],
            model=profile["embedding_model"],
            text=text,
            count=count,
            most=fields[count].get("maximum"),
            fields=fields,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SetupError(f"--target: its /profiles and /openapi.json are not those of Passage ({error!r}).") from None


def _without_references(schema: Any, named: Mapping[str, Any]) -> Any:
    """A schema with the schemas that it refers to in their places; none of them refers to itself."""
    if isinstance(schema, list):
        return [_without_references(each, named) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _without_references(named[schema["$ref"].rpartition("/")[2]], named)
    return {key: _without_references(value, named) for key, value in schema.items()}


def collection(api: Api, served: RemoteProfile) -> dict[str, Any]:
    """The collection's metadata (CollectionInfo of seed 001).

    Raises:
        SetupError: the collection cannot be read.
    """
    return dict(_read(api, f"{served.path}/collection"))


def _read(api: Api, path: str) -> dict[str, Any]:
    try:
        reply = api.ask(Request("GET", path))
    except Unreachable as error:
        raise SetupError(f"--target: {error}.") from None
    body = reply.json()
    if reply.status != 200 or not isinstance(body, dict):
        raise SetupError(f"--target: GET {path} gives {reply.fault}{_hint(reply.status)}")
    return body


def _hint(status: int) -> str:
    if status in (401, 403):
        return " Set PASSAGE_API_KEY or --api-key-file to the API's key."
    return (
        " Is it the URL of a Passage API, with its stage, as in https://….amazonaws.com/prod?" if status == 404 else ""
    )
