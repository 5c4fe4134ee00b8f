"""The profiles that a deployment serves. Any other is the caller's mistake, and costs nothing."""

import pytest

from handler.config import profiles
from tools.doubles import EmulatorServer, Fault
from wire.function import QUESTION, MakeCollection, Output, Start

OTHERS = [name for name in profiles.names() if name != "query-response"]


@pytest.mark.parametrize("name", [*OTHERS, "nothing", "..%2Fcontext"])
def test_profile_that_is_not_named_is_404_and_costs_nothing(
    name: str, start: Start, output: Output, cohere: EmulatorServer, qdrant: EmulatorServer
) -> None:
    function = start(PROFILES=None)
    answers = [
        function.post({"text": QUESTION}, f"/profiles/{name}/query"),
        function.get(f"/profiles/{name}/query", "text=twin"),
        function.get(f"/profiles/{name}/collection"),
        function.get(f"/profiles/{name}/chunks/1"),
        function.post({"url": "https://a.example/", "helpful": True, "profile": name}, "/feedback"),
    ]
    assert [answer.status for answer in answers] == [404] * 5
    assert function.invoke({"profile": name, "text": QUESTION})["code"] == "INVALID_INPUT"
    assert (cohere.requests, qdrant.requests) == ([], [])
    assert {name for record in output.metrics for name in record if "Failed" in name} == {"Failed.Caller"}
    if name in OTHERS:
        assert "The profiles are: query-response." in answers[0].text


def test_named_profiles_are_served_and_described(start: Start) -> None:
    function = start(PROFILES="context, ranked")
    listed = function.get("/profiles").json["profiles"]
    assert [profile["name"] for profile in listed] == ["context", "query-response", "ranked"]
    # Named, but never indexed: the operator has to act.
    assert function.post({"text": QUESTION}, "/profiles/context/query").json["code"] == "COLLECTION_NOT_FOUND"
    described = {path.split("/")[2] for path in function.get("/openapi.json").json["paths"] if "/profiles/" in path}
    assert described == {"context", "query-response", "ranked"}


def test_profile_that_does_not_exist_names_the_setting(start: Start) -> None:
    answer = start(PROFILES="context,nothing").ask()
    assert answer.status == 500
    assert "PROFILES names 'nothing', which is no profile. The profiles are: chunks, context" in answer.text


@pytest.mark.parametrize(("mode", "paid"), [("hybrid", 0), ("dense", 1)])
def test_missing_collection_is_known_before_a_text_is_embedded(
    mode: str, paid: int, start: Start, cohere: EmulatorServer, qdrant: EmulatorServer, make_collection: MakeCollection
) -> None:
    function = start(COLLECTION_NAME="later", SEARCH_MODE=mode)
    assert [function.ask(f"What is twin {number}?").status for number in range(3)] == [500] * 3
    assert len(cohere.requests) == paid
    make_collection("later")
    assert function.ask().status == 200
    qdrant.requests.clear()
    assert function.ask("What is a robot?").status == 200
    assert {request.path.rpartition("/points/")[2] for request in qdrant.requests} <= {"query", "query/batch"}


@pytest.mark.parametrize("mode", ["hybrid", "dense"])
def test_collection_that_a_caller_chose_is_looked_for_first(mode: str, start: Start, cohere: EmulatorServer) -> None:
    function = start(DEFAULT_PROFILE="vector-search", SEARCH_MODE=mode, ALLOWED_COLLECTIONS="later")
    answer = function.post({"query_text": QUESTION, "collection_name": "later"})
    assert (answer.status, cohere.requests) == (500, []), answer.text
    assert "no collection 'later'" in answer.text


@pytest.mark.parametrize("body", ["{}", '{"result": {}}', '{"result": {"status": "green", "payload_schema": null}}'])
def test_collection_whose_metadata_is_hidden_is_searched(
    body: str, start: Start, qdrant: EmulatorServer, make_collection: MakeCollection
) -> None:
    """A search by vectors reads no metadata: all that is asked before it is whether the collection exists."""
    make_collection("later", 1024)
    qdrant.faults.add(Fault("malformed", body=body, times=1, path="/collections/later"))
    function = start(DEFAULT_PROFILE="vector-search", SEARCH_MODE="dense", ALLOWED_COLLECTIONS="later")
    answer = function.post({"query_text": QUESTION, "collection_name": "later"})
    assert answer.status == 200, answer.text
