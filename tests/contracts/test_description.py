"""The published OpenAPI document is valid, complete and up to date."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV30SpecValidator, OpenAPIV31SpecValidator

from conftest import ROOT
from handler.bootstrap.container import Container
from handler.config import profiles
from handler.config.profiles import CountLimit, Profile
from handler.config.settings import Settings
from handler.contracts import options, registry
from handler.contracts.base import Contract
from handler.core.errors import InvalidRequest
from handler.entrypoints.detect import Source
from handler.entrypoints.http import handler as http
from handler.entrypoints.http import routes
from handler.entrypoints.http.openapi.version_3_0 import as_3_0
from handler.entrypoints.http.routes import ROUTES, document
from passage.local.http_event import http_api_event
from published import Kind, published_schema

DEFAULT = "query-response"
DOCUMENT = document(DEFAULT)

each_profile = pytest.mark.parametrize(
    "profile", [profiles.load(name) for name in profiles.names()], ids=profiles.names()
)


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            yield path, method.upper(), operation


def valid(schema: dict[str, Any], value: Any) -> bool:
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema).is_valid(value)


def asked(profile: Profile, **fields: Any) -> bool:
    return valid(published_schema(profile, "Request"), fields)


@pytest.mark.parametrize(
    ("name", "described", "validator"),
    [
        ("openapi.json", DOCUMENT, OpenAPIV31SpecValidator),
        ("openapi-3.0.json", as_3_0(DOCUMENT), OpenAPIV30SpecValidator),
    ],
    ids=["3.1", "3.0"],
)
def test_committed_descriptions_are_valid_and_the_codes(name: str, described: dict[str, Any], validator: Any) -> None:
    committed = (ROOT / "docs" / name).read_text(encoding="utf-8")
    assert committed == json.dumps(described, indent=2) + "\n", f"docs/{name} is out of date: run `make openapi`"
    assert described["openapi"] == {"openapi.json": "3.1.0", "openapi-3.0.json": "3.0.3"}[name]
    assert [error.message for error in validator(described).iter_errors()] == []


def test_description_in_3_0_has_plain_types_alone() -> None:
    described = as_3_0(DOCUMENT)
    for part in parts({"paths": described["paths"], "components": described["components"]}):
        assert not part.keys() & {"anyOf", "oneOf", "allOf", "not", "const", "contains"}, part
        assert isinstance(part.get("type", ""), str | dict), part  # a field may be called type
        assert part.get("type") != "null", part
        assert "nullable" not in part or "type" in part, part
        assert "$ref" not in part or len(part) == 1, part
    schemas = described["components"]["schemas"]
    for name, profile in ((name, profiles.load(name)) for name in profiles.names()):
        request = schemas[f"{_pascal(profile)}Request"]
        assert request.get("required", []) == ([] if name == "vector-search" else [profile.query.text.names[0]])
        assert request["properties"]["filters"] == {"$ref": f"#/components/schemas/{_pascal(profile)}Filters"}
        assert all(f"{field}" in schemas[f"{_pascal(profile)}Filters"]["description"] for field in profile.filters)
    assert request["properties"]["offset"]["nullable"] is True


@pytest.mark.parametrize("access", ["open", "key", "iam", "jwt"])
def test_description_names_how_a_caller_is_known(access: str) -> None:
    described = document(DEFAULT, access=access)
    assert described["security"] == ([] if access == "open" else [{access: []}])
    assert list(described["components"].get("securitySchemes", ())) == ([] if access == "open" else [access])
    assert not list(OpenAPIV31SpecValidator(described).iter_errors())


def parts(value: Any) -> Iterator[dict[str, Any]]:
    """Every object of a document, but for examples."""
    if isinstance(value, dict):
        yield value
    inner = [item for key, item in value.items() if key != "example"] if isinstance(value, dict) else value
    for item in inner if isinstance(inner, list) else ():
        yield from parts(item)


def test_routes_and_descriptions_match() -> None:
    described = {(path, method) for path, method, _ in operations()}
    routes = [route for route in ROUTES if route.handler.__name__ != "mcp"]  # MCP describes itself
    assert described == {
        (route.path.format(profile=name, id="{id}"), route.method) for route in routes for name in profiles.names()
    }


def test_operations_are_named_once() -> None:
    names = [operation["operationId"] for _, _, operation in operations()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("path", "operation"),
    [pytest.param(path, operation, id=f"{method} {path}") for path, method, operation in operations()],
)
def test_examples_are_valid_against_their_schemas(path: str, operation: dict[str, Any]) -> None:
    bodies = [operation["requestBody"]] if "requestBody" in operation else []
    media = [kind for body in (*bodies, *operation["responses"].values()) for kind in body.get("content", {}).values()]
    examples = [kind for kind in media if "example" in kind]
    assert bool(examples) == path.endswith(("/query", "/feedback"))
    for kind in examples:
        schema = {**kind["schema"], "components": DOCUMENT["components"]}
        Draft202012Validator(schema).validate(kind["example"])


@each_profile
def test_each_profile_has_its_own_three_schemas(profile: Profile) -> None:
    operation = DOCUMENT["paths"][f"/profiles/{profile.name}/query"]["post"]
    own = "".join(part.capitalize() for part in profile.name.split("-"))
    request = operation["requestBody"]["content"]["application/json"]["schema"]
    answers = {status: answer["content"]["application/json"] for status, answer in operation["responses"].items()}
    assert request == {"$ref": f"#/components/schemas/{own}Request"}
    assert answers.pop("200")["schema"] == {"$ref": f"#/components/schemas/{own}Response"}
    assert {answer["schema"]["$ref"] for answer in answers.values()} == {f"#/components/schemas/{own}Error"}


@each_profile
def test_profile_schema_references_resolve_in_the_schema(profile: Profile) -> None:
    kinds: tuple[Kind, ...] = ("Request", "Response", "Error")
    for schema in (published_schema(profile, kind) for kind in kinds):
        Draft202012Validator.check_schema(schema)
        for name in re.findall(r'"#/components/schemas/(\w+)"', json.dumps(schema)):
            assert name in schema["components"]["schemas"]
            assert DOCUMENT["components"]["schemas"][name] == schema["components"]["schemas"][name]


@each_profile
def test_request_schema_has_the_profiles_text_limits(profile: Profile) -> None:
    limit, name = profile.query.text, profile.query.text.names[0]
    assert asked(profile, **{name: "x" * limit.min})
    assert asked(profile, **{name: "x" * limit.max})
    for wrong in ("x" * (limit.min - 1), "x" * (limit.max + 1), " " * limit.min, "\x1c" * limit.min, 5):
        assert not asked(profile, **{name: wrong}), repr(wrong)[:20]
    assert asked(profile) == asked(profile, **{name: None}) == (profile.contract == "vector_search")


@each_profile
def test_generators_find_one_plain_name_for_each_field(profile: Profile) -> None:
    schema = published_schema(profile, "Request")["components"]["schemas"][f"{_pascal(profile)}Request"]
    (text, *others), (count, *more) = profile.query.text.names, profile.query.count.names
    assert list(schema["properties"])[:2] == [text, count]
    assert not schema["properties"].keys() & {*others, *more}
    assert not schema.keys() & {"oneOf", "anyOf", "allOf", "not"}
    assert all("default" not in field for field in schema["properties"].values())
    for name, names in ((text, others), (count, more)):
        assert all(f"`{other}`" in schema["properties"][name]["description"] for other in names)


@each_profile
def test_request_schema_has_the_profiles_count_limits(profile: Profile) -> None:
    text, count = profile.query.text.names[0], profile.query.count
    name = count.names[0]
    inside = [count.min, count.default, count.max, float(count.max), None]
    assert all(asked(profile, **{text: "twin", name: number}) for number in inside)
    for number in (count.min - 1, count.max + 1):
        assert asked(profile, **{text: "twin", name: number}) == (count.outside == "clamp")
    assert not any(asked(profile, **{text: "twin", name: wrong}) for wrong in (2.5, "5", True, [5]))


@each_profile
def test_request_schema_lets_unknown_fields_pass(profile: Profile) -> None:
    assert asked(profile, **{profile.query.text.names[0]: "twin", "session": {"id": 1}})


@each_profile
def test_request_schema_and_contract_agree(profile: Profile) -> None:
    """On the fields besides question and count: null, other types, both ends of each range and one step beyond."""
    contract = registry.find(profile)
    limited = published_schema(profile, "Request")["components"]["schemas"][f"{_pascal(profile)}Request"]["properties"]
    own = set(limited) - {*profile.query.text.names, *profile.query.count.names, "collection_name", "query_vector"}
    values = (None, True, "true", "", "x" * 200, "x" * 201, 0, 1, 1.0, -1, 1.5, 0.5, -0.1, 2**63, 10**9, [], {}, [1])
    filters = (
        *({"source_url": "a"}, {"source_url": ["a", 1]}, {"source_url": []}, {"chunk_index": 1.5}, {"other": "a"}),
        *({"language": {"prefix": "e"}}, {"language": {"prefix": ""}}, {"version": {"gt": 1}}, {"version": {}}),
        *({"chunk_index": {"gte": 1, "lt": 3.5}}, {"chunk_index": {"prefix": "a"}}, {"chunk_index": {"gt": None}}),
        *({"timestamp": {"gt": "2026-01-31T12:00:00Z"}}, {"created_at": {"gt": 5}}, {"created_at": {"above": 5}}),
    )
    for name in own:
        for value in (*values, *filters):
            fields = {profile.query.text.names[0]: "twin", name: value}
            assert asked(profile, **fields) == _parses(contract, fields, profile), (name, value)


def test_vector_may_stand_for_the_question() -> None:
    profile = profiles.load("vector-search")
    contract = registry.find(profile)
    whole, short = [0.1] * profile.collection.dimension, [0.1]
    for fields, described, right in (
        ({"query_vector": whole}, True, True),
        ({"query_vector": whole, "query_text": None, "query": None}, True, True),
        ({"query_vector": None, "query": "twin"}, True, True),
        ({"query_vector": whole, "query_text": "twin"}, True, False),  # excluded in words
        ({"query_vector": None, "query_text": None}, True, False),
        ({"query_vector": short}, False, False),
        ({"query_vector": ["0.1"] * len(whole)}, False, False),
    ):
        assert (asked(profile, **fields), _parses(contract, fields, profile)) == (described, right), str(fields)[:80]


def test_profile_without_filters_takes_none() -> None:
    profile = profiles.load("vector-search").model_copy(update={"filters": {}})
    assert asked(profile, query_text="twin", filters={})
    assert not asked(profile, query_text="twin", filters={"source_url": "a"})


def test_profiles_own_names_and_range_are_described() -> None:
    shipped = profiles.load("context")
    text = shipped.query.text.model_copy(update={"names": ("prompt",)})
    count = CountLimit(names=("limit",), default=2, min=1, max=4)
    profile = shipped.model_copy(update={"query": shipped.query.model_copy(update={"text": text, "count": count})})
    assert asked(profile, prompt="twin", limit=4)
    assert not asked(profile, prompt="twin", limit=5)
    assert not asked(profile, text="twin")


def test_description_has_the_settings_and_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def make(default: str, *find: Any, **settings: Any) -> dict[str, Any]:
        made.append(default)
        return document(default, *find, **settings)

    monkeypatch.setattr(routes, "document", make)
    changed = {"DEFAULT_PROFILE": "vector-search", "EMBEDDING_DIMENSION": "384"}
    container = Container({"COHERE_API_KEY": "x", "QDRANT_URL": "http://127.0.0.1:9", **changed})
    for _ in range(2):
        answer = http.handle(http_api_event("GET", "/openapi.json"), None, container, Source.HTTP_API)
        request = json.loads(answer["body"])["components"]["schemas"]["VectorSearchRequest"]
        assert request["properties"]["query_vector"]["maxItems"] == 384
    assert made == ["vector-search"]


def test_settings_name_every_profile_that_may_be_the_default() -> None:
    for name in profiles.names():
        assert document(name)["paths"]["/query"]["post"]["summary"] == f"Ask the profile {name}."
    assert Settings.model_fields["default_profile"].default == DEFAULT


def _pascal(profile: Profile) -> str:
    return "".join(part.capitalize() for part in profile.name.split("-"))


def _parses(contract: Contract, fields: dict[str, Any], profile: Profile) -> bool:
    try:
        options.apply_options(contract.parse(fields, profile), fields, contract, profile, debug=True)
    except InvalidRequest:
        return False
    return True
