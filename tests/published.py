"""The published JSON Schema of a profile's request, answer or error."""

from typing import Any, Literal

from handler.config.profiles import Profile
from handler.entrypoints.http.openapi.schemas import component, components, ref

Kind = Literal["Request", "Response", "Error"]


def published_schema(profile: Profile, kind: Kind) -> dict[str, Any]:
    """One of the profile's schemas, with all that it refers to."""
    return {"$ref": ref(component(profile, kind)), "components": {"schemas": components(profile)}}
