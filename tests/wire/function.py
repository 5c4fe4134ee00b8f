"""The function as its callers meet it: an event in through its entry point, an answer out."""

import json
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self

import pytest

from handler import app
from handler.bootstrap.container import Container
from handler.core import errors
from handler.core.errors import PassageError
from handler.entrypoints.detect import Source
from passage.local.http_event import http_api_event
from tools.doubles import EmulatorServer, RecordedRequest

EVENTS = Path(__file__).parents[2] / "events"
ORIGIN = "http://localhost:3000"
QUESTION = "What is a digital twin?"
COHERE_KEY = "cohere-key-7f3a9c51"

CODES = {kind.code for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, PassageError)}

both_gateways = pytest.mark.parametrize("gateway", [Source.REST_API, Source.HTTP_API], ids=["rest", "http"])
"""Runs a test once for each kind of API; it then takes the argument `gateway`."""


@dataclass(frozen=True)
class Answer:
    """An HTTP answer as a browser sees it. Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    text: str

    @classmethod
    def of(cls, response: Mapping[str, Any]) -> Self:
        """Read a Lambda proxy response of either format; a header given twice fails the test."""
        headers = {name.lower(): value for name, value in (response.get("headers") or {}).items()}
        for name, values in (response.get("multiValueHeaders") or {}).items():
            assert len(values) == 1, f"{name} is sent {len(values)} times"
            assert name.lower() not in headers
            headers[name.lower()] = values[0]
        assert not response.get("isBase64Encoded")
        return cls(response["statusCode"], headers, response["body"])

    @property
    def json(self) -> Any:
        return json.loads(self.text, parse_constant=_not_json)

    @property
    def results(self) -> list[dict[str, Any]]:
        assert self.status == 200, self.text
        found: list[dict[str, Any]] = self.json["results"]
        return found


def _not_json(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


class Function:
    """One container of the function behind one kind of API."""

    def __init__(self, environ: Mapping[str, str], gateway: Source) -> None:
        self.container = Container(environ)
        self._gateway = gateway

    def invoke(self, event: Any, context: Any = None) -> Any:
        """The function's result, as Lambda gets it."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(app, "services", self.container)
            return app.lambda_handler(event, context)

    def send(self, event: Mapping[str, Any], context: Any = None) -> Answer:
        return Answer.of(self.invoke(event, context))

    def request(
        self,
        method: str,
        path: str,
        *,
        query: str = "",
        body: str | bytes | None = None,
        origin: str | None = ORIGIN,
        context: Any = None,
    ) -> Answer:
        raw = body.encode() if isinstance(body, str) else body
        headers = {} if origin is None else {"origin": origin}
        event = http_api_event(method, path, query=query, headers=headers, body=raw)
        return self.send(rest_api_event(event) if self._gateway is Source.REST_API else event, context)

    def post(self, fields: Any, path: str = "/query", *, context: Any = None) -> Answer:
        return self.request("POST", path, body=json.dumps(fields), context=context)

    def get(self, path: str, query: str = "") -> Answer:
        return self.request("GET", path, query=query)

    def ask(self, text: str = QUESTION, k: int = 3) -> Answer:
        return self.post({"text": text, "k": k})


Start = Callable[..., Function]
"""Starts a container, given variables to set beside the usual ones (None to leave one out)."""

MakeCollection = Callable[..., str]
"""Makes a collection on the server; gives its name."""


class Output:
    """The function's standard output, where Lambda collects the log."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self._text = ""

    @property
    def text(self) -> str:
        self._text += self._capsys.readouterr().out
        return self._text

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Every line; each is a JSON object, or the test fails."""
        return [json.loads(line) for line in self.text.splitlines()]

    @property
    def logs(self) -> list[dict[str, Any]]:
        return [line for line in self.lines if "_aws" not in line]

    @property
    def metrics(self) -> list[dict[str, Any]]:
        """The records in CloudWatch's Embedded Metric Format."""
        return [line for line in self.lines if "_aws" in line]


@cache
def _sample(name: str) -> dict[str, Any]:
    event: dict[str, Any] = json.loads((EVENTS / name).read_text(encoding="utf-8"))
    return event


def rest_api_event(event: Mapping[str, Any]) -> dict[str, Any]:
    """The same request as a REST API passes it on (payload format 1.0), after the pattern of the sample event."""
    sample = deepcopy(_sample("rest-api-query.json"))
    method, path = event["requestContext"]["http"]["method"], event["rawPath"]
    parameters = event.get("queryStringParameters")
    sample.update(
        path=path,
        httpMethod=method,
        headers=dict(event["headers"]),
        multiValueHeaders={name: [value] for name, value in event["headers"].items()},
        queryStringParameters=parameters,
        multiValueQueryStringParameters=parameters and {name: [value] for name, value in parameters.items()},
        pathParameters={"proxy": path.lstrip("/")},
        body=event.get("body"),
        isBase64Encoded=event["isBase64Encoded"],
    )
    sample["requestContext"].update(httpMethod=method, path=f"/prod{path}")
    return sample


def asked(emulator: EmulatorServer, path: str = "") -> list[RecordedRequest]:
    """The requests an emulator got whose path holds `path`."""
    return [request for request in emulator.requests if path in request.path]


def assert_for_browser(answer: Answer) -> None:
    """Check that an allowed origin may read the JSON, and that caches keep origins apart."""
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["access-control-allow-origin"] == ORIGIN
    assert answer.headers["vary"] == "Origin"
    assert answer.json


def assert_error(answer: Answer, status: int, code: str) -> str:
    """Check an error of the default contract. Returns its message."""
    assert (answer.status, answer.json["code"]) == (status, code), answer.text
    assert answer.json.keys() == {"error", "code", "timestamp"}
    assert answer.json["timestamp"].endswith("Z")
    assert answer.headers["x-error-code"] in CODES
    assert ("retry-after" in answer.headers) == (status in (429, 503))
    assert_for_browser(answer)
    assert "Traceback" not in answer.text
    assert "127.0.0.1" not in answer.text, "an upstream's URL"
    message: str = answer.json["error"]
    return message
