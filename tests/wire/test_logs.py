"""Log lines of requests: JSON with the request's id, and with the question only if LOG_QUERY_TEXT is set."""

import json
from typing import Any

import pytest

from handler import telemetry
from handler.core.embedding import normalise
from handler.core.errors import InvalidRequest
from passage.local.environment import LocalContext
from tools.doubles import EmulatorServer, Fault
from wire.function import QUESTION, Function, Output, Start


def answers(function: Function, context: Any) -> list[int]:
    return [function.post(fields, context=context).status for fields in ({"text": QUESTION}, {"text": ""})]


def test_invocation_without_a_context_is_answered(start: Start) -> None:
    function = start()
    assert answers(function, None) == [200, 400]
    assert function.invoke({"text": QUESTION}, None)["total_results"] == 5


def test_every_log_line_is_json_with_the_requests_id(
    cohere: EmulatorServer, start: Start, output: Output, sleeps: list[float]
) -> None:
    cohere.faults.add(Fault("drop"))
    function = start()
    assert answers(function, LocalContext(aws_request_id="request-1")) == [200, 400]
    assert function.invoke({}, LocalContext(aws_request_id="request-2"))["code"] == "INVALID_INPUT"
    assert [(line["request_id"], line["level"]) for line in output.logs] == [
        ("request-1", "WARNING"),
        ("request-1", "INFO"),
        ("request-1", "WARNING"),
        ("request-2", "WARNING"),
    ]
    assert all(line.keys() >= {"message", "timestamp", "service"} for line in output.logs)


def test_success_is_logged_with_its_figures(start: Start, output: Output) -> None:
    answer = start().ask(k=4)
    (line,) = output.logs
    assert (line["message"], line["profile"]) == ("retrieved", "query-response")
    assert (line["top_k"], line["result_count"]) == (4, 4)
    assert line["top_score"] == pytest.approx(answer.results[0]["relevance_score"], abs=1e-4)
    assert {"embedding_ms", "search_ms", "total_ms"} <= line.keys()


@pytest.mark.parametrize("setting", [None, "", "false", "0"])
def test_question_is_not_logged_by_default(setting: str | None, start: Start, output: Output) -> None:
    function = start(LOG_QUERY_TEXT=setting)
    assert function.ask("Is zebra-7731 a twin?").status == 200
    assert function.post({"text": "Is zebra-7731 a twin?", "k": 0}).status == 400
    assert function.invoke({"text": "Is zebra-7731 a twin?"})["total_results"] == 5
    assert "zebra-7731" not in output.text


def test_question_is_logged_when_asked_for_but_is_never_a_metric(start: Start, output: Output) -> None:
    assert start(LOG_QUERY_TEXT="true").ask("Is zebra-7731 a twin?").status == 200
    (line,) = output.logs
    assert line["query_text"] == "Is zebra-7731 a twin?"
    assert "zebra-7731" not in str(output.metrics)


@pytest.mark.parametrize("body", ['{"texts": ["zebra-7731"], "embed', '{"texts": ["zebra-7731"], "embeddings": "x"}'])
def test_question_echoed_by_a_bad_embedding_is_not_logged(
    body: str, cohere: EmulatorServer, start: Start, output: Output, sleeps: list[float]
) -> None:
    cohere.faults.add(Fault("malformed", body=body, times=0))
    assert start().ask("Is zebra-7731 a twin?").status == 503
    assert "zebra-7731" not in output.text


@pytest.mark.parametrize("text", ["Is  zebra-7731\na twin?", "zebra-7731 e\u0301", "\tzebra-7731  "])
def test_stripped_question_is_not_logged_either(
    text: str, cohere: EmulatorServer, start: Start, output: Output
) -> None:
    """An upstream repeats the normalised question, which can differ from the caller's."""
    sent = normalise(text)
    cohere.faults.add(Fault("status", status=400, body=f'{{"message": "cannot embed: {sent}"}}', times=0))
    assert start().ask(text).status == 500
    assert cohere.requests[-1].json()["texts"] == [sent]
    assert "cannot embed" in output.text
    assert "zebra-7731" not in output.text


def test_bad_input_logs_a_warning_and_our_fault_an_error(start: Start, output: Output) -> None:
    assert start().post({"text": ""}).status == 400
    assert start(COLLECTION_NAME="absent").ask().status == 500
    mistake, ours = output.logs
    assert (mistake["level"], ours["level"]) == ("WARNING", "ERROR")
    assert (mistake["code"], ours["code"]) == ("BLANK_TEXT", "COLLECTION_NOT_FOUND")
    assert "404" in ours["detail"]
    assert "exception" not in {*mistake, *ours}, "a traceback is for what was not foreseen"


@pytest.mark.parametrize(
    "fields",
    [
        {"text": "   ", "f0": "   ", "f1": "   ", "f2": "   "},
        {"text": " ", **dict.fromkeys(("f0", "f1", "f2", "f3"), "\u3000\t\n")},
        {"text": "***", "k": 0, **dict.fromkeys(("f0", "f1", "f2", "f3"), " * ")},
        {"text": "aaa", "k": 0, **{f"f{count}": "a" * count for count in range(100)}},
    ],
    ids=["blank", "other blanks", "marks", "repeated"],
)
def test_odd_values_do_not_grow_the_log(fields: dict[str, Any], start: Start, output: Output) -> None:
    """Each blank once put a mark between all characters of the line: 54 bytes became 906 MB."""
    assert start().post(fields).status == 400
    assert len(output.text) < 1_000


def test_failed_batch_logs_none_of_its_questions(cohere: EmulatorServer, start: Start, output: Output) -> None:
    """One call embeds all of them, so its error may repeat them all."""
    texts = [f"Is zebra-{number} a twin?" for number in range(3)]
    cohere.faults.add(Fault("status", status=400, body=json.dumps({"message": f"cannot embed: {texts}"}), times=0))
    replies = start().invoke([{"text": text} for text in texts])
    assert [reply["code"] for reply in replies] == ["INTERNAL_ERROR"] * 3
    assert "cannot embed" in output.text
    assert "zebra" not in output.text


@pytest.mark.parametrize("text", ["x" * 1_000_000, '\n"' * 10_000, "🤖" * 10_000, "\ud800" * 10_000])
def test_long_line_is_cut_at_8_kb(text: str) -> None:
    fields = {"level": "ERROR", "message": f"start {text}", "exception": f"{text} end", "figures": [text, 5]}
    line = telemetry.logger.registered_formatter.serialize(fields)
    assert 7_000 < len(line.encode()) <= 8_192
    read = json.loads(line)
    assert (read["level"], read["message"][:6], read["message"][-1]) == ("ERROR", "start ", "…")
    assert (read["exception"][0], read["exception"][-4:], read["figures"][-1]) == ("…", " end", "…")


@pytest.mark.parametrize("message", ['{"texts": ["zebra-7731"]}', '["zebra-7731"]', "[" * 5_000])
def test_message_that_is_json_is_logged_as_text(message: str, output: Output) -> None:
    with telemetry.hiding(["zebra-7731", "   "]):
        telemetry.log_failure("context", InvalidRequest(message))
    (line,) = output.logs
    assert line["message"].startswith(message[:2])
    assert "zebra" not in output.text


@pytest.mark.parametrize(("url", "told"), [("http://qdrant.example:6333", 1), ("http://127.0.0.1:6333", 0)])
def test_key_over_http_is_told_once_a_container(url: str, told: int, start: Start, output: Output) -> None:
    function = start(QDRANT_URL=url, QDRANT_API_KEY="qdrant-7f3a")
    function.container.warm()
    function.container.warm()
    assert [line["message"] for line in output.logs] == ["QDRANT_URL is http: the key is sent unencrypted."] * told


@pytest.mark.parametrize(
    "number", ["CLKm8HEMDoEEPUQ=", "Root=1-674f1a2b-3c4d", "Is zebra-7731 a twin?", "", 7, ["zebra"], "z" * 129]
)
def test_request_id_is_logged_only_if_it_is_one(number: object, output: Output) -> None:
    """A direct invocation in the shape of an HTTP event may have any text there."""
    with telemetry.invocation("request-1"):
        telemetry.correlate(number)
        telemetry.logger.info("x")
    (line,) = output.logs
    assert line.get("api_request_id") == (number if number in ("CLKm8HEMDoEEPUQ=", "Root=1-674f1a2b-3c4d") else None)
