"""With any payload and any request: the published shape, and a 5xx only for a named failure of a service."""

import io
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from handler import telemetry
from handler.config import profiles
from handler.core.errors import UpstreamUnavailable
from handler.entrypoints import direct
from handler.entrypoints.http.gateways import LAMBDA_RESPONSE_BYTES
from passage.local.http_event import http_api_event
from unit.asking import CONTAINER, NAMES, ask, assert_published, every_profile, post, send
from unit.strategies import anything, at_most, bodies, bounded, hits, requests, wild, words


def question(name: str) -> dict[str, str]:
    return {profiles.load(name).query.text.names[0]: "What is a digital twin?"}


@every_profile
@given(data=st.data())
@settings(bounded, max_examples=at_most(50))
def test_any_payload_and_score_give_the_published_shape(name: str, data: st.DataObject) -> None:
    answer = ask(name, question(name), data.draw(hits(profiles.load(name))))
    assert answer.status == 200
    assert_published(name, answer)


@every_profile
@given(data=st.data())
@settings(bounded, max_examples=at_most(50))
def test_any_json_is_answered_or_refused_in_the_published_shape(name: str, data: st.DataObject) -> None:
    fields = data.draw(requests(profiles.load(name)))
    answer = ask(name, fields, data.draw(hits(profiles.load(name), max_size=2)))
    assert answer.status in (200, 400, 404), answer.text
    assert_published(name, answer)
    assert answer.status == 200 or not answer.embedded, "a bad request is refused before anyone is asked"


@every_profile
@given(data=st.data())
@settings(bounded, max_examples=at_most(40), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_a_body_of_any_bytes_is_answered_or_refused(name: str, data: st.DataObject) -> None:
    answer = post(name, data.draw(bodies(profiles.load(name))))
    assert answer.status in (200, 400, 404), answer.text
    assert_published(name, answer)


@every_profile
@given(text=wild, encoded=st.booleans())
@bounded
def test_arbitrary_body_text_is_400(name: str, text: str, encoded: bool) -> None:
    event = http_api_event("POST", f"/profiles/{name}/query") | {"body": text, "isBase64Encoded": encoded}
    answer = send(event)
    assert answer.status == 400
    assert_published(name, answer)


@every_profile
@given(data=st.data())
@bounded
def test_any_query_string_is_answered_or_refused(name: str, data: st.DataObject) -> None:
    fields = data.draw(requests(profiles.load(name)))
    literal = st.sampled_from(["5", "true", "NaN", "1e400", "[", "{}", "null", "-1"])
    parameters = {key: value if isinstance(value, str) else json.dumps(value) for key, value in fields.items()}
    parameters |= data.draw(st.dictionaries(st.sampled_from([*fields, "k", "top_k", "threshold"]), literal | wild))
    event = http_api_event("GET", f"/profiles/{name}/query") | {"queryStringParameters": parameters}
    answer = send(event, data.draw(hits(profiles.load(name), max_size=2)))
    assert answer.status in (200, 400, 404), answer.text
    assert_published(name, answer)


@given(
    path=wild | st.sampled_from([f"/profiles/{name}/chunks/" for name in NAMES]).flatmap(lambda p: wild.map(p.__add__))
)
@bounded
def test_any_path_has_an_answer(path: str) -> None:
    answer = send(http_api_event("GET", f"/{path.lstrip('/')}"))
    assert answer.status in (200, 400, 404, 405), answer.text
    answer.text.encode("utf-8")


@every_profile
@given(data=st.data())
@bounded
def test_any_direct_invocation_gets_the_contracts_body(name: str, data: st.DataObject) -> None:
    fields = data.draw(requests(profiles.load(name)))
    CONTAINER.hold(data.draw(hits(profiles.load(name), max_size=2)))
    body = direct.handle({**fields, "profile": data.draw(st.just(name) | anything)}, None, CONTAINER)
    json.dumps(body, allow_nan=False, ensure_ascii=False).encode("utf-8")
    assert body
    assert "INTERNAL_ERROR" not in json.dumps(body)


@every_profile
@pytest.mark.parametrize("character", ["a", '"', "\x00", "é", "🤖"])
def test_error_fits_lambdas_limit_however_large_the_request(name: str, character: str) -> None:
    sent = character * (5_500_000 // len(json.dumps(character)))
    everything = dict.fromkeys(profiles.load(name).query.text.names[:1], sent) | {
        "query_id": sent,
        "collection_name": sent,
    }
    answer = ask(name, everything)
    assert answer.status in (400, 404)
    assert_published(name, answer)
    assert len(json.dumps(answer.text)) < LAMBDA_RESPONSE_BYTES // 10


@pytest.mark.parametrize("fields", [{"query_vector": ["x"] * 50_000}, {"filters": {str(n): {} for n in range(20_000)}}])
def test_a_request_with_very_many_faults_names_the_first_of_them(fields: dict[str, Any]) -> None:
    answer = ask("vector-search", fields)
    assert answer.status == 400
    assert len(answer.text) < 5_000


@every_profile
@given(key=wild, value=wild)
@example(key="\ud800", value="\ud800")
@bounded
def test_an_error_never_repeats_a_key_or_value_that_was_sent(name: str, key: str, value: str) -> None:
    marked = f"marked-{value}"
    answer = ask(name, {"filters": {f"marked-{key}": {f"marked-{key}": marked}}, "k": marked, "query_vector": [marked]})
    assert answer.status == 400
    assert_published(name, answer)
    assert "marked-" not in answer.text


@given(text=words)
@example(text="ERROR")
@example(text="true")
@example(text="code")
@example(text="0\x85")
@example(text="00\r")
@example(text='":{')
@bounded
def test_failure_is_logged_as_json_without_the_question(text: str) -> None:
    lines = io.StringIO()
    detail = f"could not embed <{text}> nor {text!r} nor {json.dumps(text)}"
    down = UpstreamUnavailable("down", upstream="embedding", retry_after=100, detail=detail)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(telemetry.logger.registered_handler, "stream", lines)
        ask("query-response", {"text": text}, embedding_failure=down)
    (line,) = map(json.loads, lines.getvalue().strip().split("\n"))
    assert (line["level"], line["code"], line["profile"]) == ("ERROR", down.code, "query-response")
    assert len(text.strip()) <= 2 or f"<{text}>" not in line["detail"]
