"""The error map's 500s: our own configuration is wrong, asking again cannot help, the answer says what to change."""

import json

import pytest

from handler.adapters.qdrant.server import QdrantServerStore
from tools.doubles import EmulatorServer, Fault, cohere_emulator
from tools.qdrant.emulator import qdrant_emulator
from wire.function import COHERE_KEY, MakeCollection, Output, Start, asked, assert_error, both_gateways

pytestmark = pytest.mark.usefixtures("dense")

insecure = pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")


@both_gateways
@pytest.mark.parametrize(
    ("setting", "parts", "embedded", "searched"),
    [
        ({"COLLECTION_NAME": "absent"}, ("'absent'", "COLLECTION_NAME"), 1, 1),
        (
            {"COLLECTION_NAME": "small"},
            ("'small'", "dimension 4", "768", "EMBEDDING_DIMENSION", "EMBEDDING_MODEL"),
            1,
            1,
        ),
        ({"COLLECTION_NAME": "named"}, ("'body'", "VECTOR_NAME"), 1, 1),
        ({"VECTOR_NAME": "dense"}, ("'dense'", "unnamed", "VECTOR_NAME"), 1, 1),
        (
            {"EMBEDDING_MODEL": "embed-multilingual-v3.0"},
            ("embed-multilingual-v3.0", "dimension 1024", "768", "EMBEDDING_MODEL", "EMBEDDING_DIMENSION"),
            *(0, 0),
        ),
        (
            {"EMBEDDING_MODEL": "embed-retired-v1.0"},
            ("'embed-retired-v1.0'", "EMBEDDING_MODEL", "768", "embed-v5.0-pro or embed-v5.0-fast"),
            *(1, 0),
        ),
    ],
)
def test_setting_that_does_not_fit_is_500_after_one_attempt(
    *,
    setting: dict[str, str],
    parts: tuple[str, ...],
    embedded: int,
    searched: int,
    cohere: EmulatorServer,
    qdrant: EmulatorServer,
    start: Start,
    make_collection: MakeCollection,
    sleeps: list[float],
) -> None:
    """Only the store's own 404 means that the collection is missing."""
    make_collection("small", 4)
    make_collection("named", vector="body")
    message = assert_error(start(**setting).ask(), 500, "INTERNAL_ERROR")
    assert [part for part in parts if part not in message] == []
    assert (len(cohere.requests), len(asked(qdrant, "/points/query"))) == (embedded, searched)
    assert searched or qdrant.requests == []
    assert sleeps == []


def test_named_vector_is_searched_when_the_name_is_set(start: Start, make_collection: MakeCollection) -> None:
    make_collection("named", vector="body")
    assert start(COLLECTION_NAME="named", VECTOR_NAME="body").ask().results == []


@both_gateways
@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize(("service", "variable"), [("cohere", "COHERE_API_KEY"), ("qdrant", "QDRANT_API_KEY")])
def test_refused_key_is_500_after_one_attempt(
    service: str, variable: str, status: int, request: pytest.FixtureRequest, start: Start, sleeps: list[float]
) -> None:
    emulator: EmulatorServer = request.getfixturevalue(service)
    emulator.faults.add(Fault("status", status=status, times=0))
    message = assert_error(start().ask(), 500, "INTERNAL_ERROR")
    assert variable in message
    assert len(emulator.requests) == 1
    assert sleeps == []


TRIAL = (
    "You are using a Trial key, which is limited to 1000 API calls / month. You can continue to use the Trial key for "
    "free or upgrade to a Production key with higher rate limits at 'https://dashboard.cohere.com/api-keys'."
)


@pytest.mark.parametrize(
    ("status", "said", "words"),
    [
        (402, "Please add or update your payment method at https://dashboard.cohere.com", "billing of the account"),
        (429, TRIAL, "trial key in COHERE_API_KEY has used up its calls of this month"),
    ],
)
def test_account_without_calls_left_is_500_after_one_attempt(
    status: int, said: str, words: str, cohere: EmulatorServer, start: Start, sleeps: list[float]
) -> None:
    cohere.faults.add(Fault("status", status=status, body=json.dumps({"message": said}), times=0))
    message = assert_error(start().ask(), 500, "INTERNAL_ERROR")
    assert words in message
    assert "dashboard" not in message
    assert (len(cohere.requests), sleeps) == (1, [])


@insecure
@pytest.mark.parametrize("key", [None, "not-the-key"])
def test_missing_or_wrong_qdrant_key_is_refused_by_qdrant(
    key: str | None, start: Start, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with qdrant_emulator(tmp_path_factory.mktemp("locked"), api_key="the-key") as locked:
        message = assert_error(start(QDRANT_URL=locked.url, QDRANT_API_KEY=key).ask(), 500, "INTERNAL_ERROR")
        assert "QDRANT_API_KEY" in message
        assert ("none is set" in message) is (key is None)
        assert len(locked.requests) == 1


@insecure
def test_right_keys_are_sent_to_the_services_they_belong_to(
    start: Start, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with (
        cohere_emulator(api_key="for-cohere") as cohere,
        qdrant_emulator(tmp_path_factory.mktemp("locked"), api_key="for-qdrant") as qdrant,
    ):
        function = start(
            COHERE_BASE_URL=cohere.url,
            COHERE_API_KEY="for-cohere",
            QDRANT_URL=qdrant.url,
            QDRANT_API_KEY="for-qdrant",
        )
        assert "no collection" in assert_error(function.ask(), 500, "INTERNAL_ERROR")
        assert [request.headers["authorization"] for request in cohere.requests] == ["Bearer for-cohere"]
        assert [request.headers["api-key"] for request in qdrant.requests] == ["for-qdrant"]
        assert "for-cohere" not in str(qdrant.requests)
        assert "for-qdrant" not in str(cohere.requests)


@pytest.mark.parametrize("status", [400, 404, 422])
def test_store_that_refuses_the_request_is_500_after_one_search(
    status: int, qdrant: EmulatorServer, start: Start, sleeps: list[float]
) -> None:
    qdrant.faults.add(Fault("status", status=status, path="/points/query", times=0))
    assert_error(start().ask(), 500, "INTERNAL_ERROR")
    assert len(asked(qdrant, "/points/query")) == 1
    assert sleeps == []


@both_gateways
@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("COHERE_API_KEY", None),
        ("QDRANT_URL", None),
        ("QDRANT_URL", "db.example.org"),
        ("STORE", "postgres"),
        ("REQUEST_TIMEOUT_MS", "soon"),
        ("DEFAULT_PROFILE", "nowhere"),
    ],
)
def test_wrong_variable_is_named_in_a_500(
    variable: str, value: str | None, cohere: EmulatorServer, start: Start, sleeps: list[float]
) -> None:
    assert variable in assert_error(start(**{variable: value}).ask(), 500, "INTERNAL_ERROR")
    assert cohere.requests == []


@both_gateways
def test_unexpected_exception_is_500_without_details(
    start: Start, monkeypatch: pytest.MonkeyPatch, output: Output
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(QdrantServerStore, "search", broken)
    answer = start().ask()
    assert_error(answer, 500, "INTERNAL_ERROR")
    assert "secret" not in answer.text
    assert "RuntimeError" not in answer.text
    assert any("secret detail" in line.get("exception", "") for line in output.logs), "an engineer needs it"
    assert COHERE_KEY not in output.text
