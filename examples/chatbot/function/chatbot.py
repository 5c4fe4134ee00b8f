"""The chatbot's function: asks Passage, has Cohere's chat answer from the passages, and checks each citation.

`POST /passages` takes {"question"} and returns {"passages", "notes"}. `POST /answer` also returns "answer": pieces of
text, each with the numbers of its passages, from 1; null without a supported answer. An error is {"error": a sentence}.
"""

import json
import logging
import os
import re
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from typing import Any

import boto3
import cohere
from botocore.config import Config

INSTRUCTION = (
    "Answer from the given documents alone, in their language, in their words where you can, in at most five sentences "
    "of plain text without Markdown. If the documents do not answer the question, say only that."
)
REASONS: dict[object, str] = {  # by an error's status or name
    401: "the chat model has no valid key",
    429: "too many questions at the moment",
    "ConditionalCheckFailedException": "this month's answers are used up",
}
# Letters and digits; of Chinese, Japanese and Korean each sign, because nothing divides their words.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")


class Told(Exception):
    """A status and a sentence for the reader. With 200, the question gets the passages alone."""


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """An HTTP API's event (payload 2.0) to its response."""
    status, body = 200, dict[str, Any]()
    try:
        body["passages"], body["notes"] = _search(question := _question(event))
        if event["routeKey"] == "POST /answer":
            body["answer"], notes = _answer(question, body["passages"])
            body["notes"] += notes
    except Told as told:
        status, sentence = told.args
        body = body | {"answer": None, "notes": [*body["notes"], sentence]} if body else {"error": sentence}
    return {"statusCode": status, "headers": {"Content-Type": "application/json"}, "body": json.dumps(body)}


def _question(event: dict[str, Any]) -> str:
    with suppress(ValueError, LookupError, TypeError):
        if 1 <= len(question := str(json.loads(event["body"])["question"]).strip()) <= 1000:
            return question
    raise Told(400, "Ask a question of 1 to 1,000 characters.")


def _search(question: str) -> tuple[list[dict[str, Any]], list[str]]:
    """The passages, best first, and Passage's warnings, by the contract `context`."""
    found, asked = dict[str, Any](), json.dumps({"profile": "context", "text": question, "k": 5, "fit": True})
    try:
        invoked = _aws("lambda").invoke(FunctionName=os.environ["PASSAGE_FUNCTION"], Payload=asked)
        found = json.loads(invoked["Payload"].read())
        return found["chunks"], found.get("warnings") or []
    except Exception as error:
        logging.error("no passages: %s %s", type(error).__name__, found.get("code", ""))
        raise Told(503, "The search does not work at the moment. Try again in a minute.") from error


def _answer(question: str, passages: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[str]]:
    """The answer's pieces and notes on it. Whatever fails, the reader has the passages."""
    if not passages or passages[0].get("fit") == "none":
        raise Told(200, "The documentation has no clear answer.")
    documents = [{"id": str(n), "data": {"title": p["title"], "text": p["text"]}} for n, p in enumerate(passages, 1)]
    messages = [{"role": "system", "content": INSTRUCTION}, {"role": "user", "content": question}]
    asked: Any = {"messages": messages, "documents": documents, "max_tokens": 600, "temperature": 0}
    try:
        _count()
        with cohere.ClientV2(_key(), base_url=os.environ.get("CO_API_URL"), timeout=20, max_retries=0) as model:
            answered = model.chat(model=os.environ["MODEL"], **asked)
        text = next(item.text for item in answered.message.content or [] if item.type == "text")
        pieces, left_out = cited(text, answered.message.citations or [], passages)
    except Exception as error:
        _key.cache_clear()  # it may have been rotated
        status = getattr(error, "status_code", None) or type(error).__name__
        logging.error("no answer: %s", status)
        reason = REASONS.get(status, "the chat model cannot be used at the moment")
        raise Told(200, f"No answer was written: {reason}.") from error
    if not any(piece["passages"] for piece in pieces):
        raise Told(200, "No answer was written that the passages support.")
    notes = [f"Citations that their passages do not support were left out: {left_out}."] if left_out else []
    return pieces, notes + (["The answer is cut."] if answered.finish_reason == "MAX_TOKENS" else [])


def cited(text: str, citations: list[Any], passages: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], int]:
    """The answer's pieces, each with the numbers of its passages, and how many citations are not supported.

    A citation is kept if its text is at its place in the answer and a passage that it names supports that text.
    """
    spans, left_out, pieces, position = [], 0, list[dict[str, Any]](), 0
    for one in citations:
        start, end, said = one.start or 0, one.end or 0, one.text or ""
        named = {source.id for source in one.sources or []}
        numbers = [n for n, passage in enumerate(passages, 1) if str(n) in named and supports(passage, said)]
        if numbers and start >= 0 and text[start:end] == said:
            spans.append((start, end, numbers))
        elif one.type in (None, "TEXT_CONTENT"):  # others are of the model's thinking
            left_out += 1
    for start, end, numbers in [*sorted(spans), (len(text), len(text), [])]:
        for piece, support in ((text[position:start], []), (text[max(start, position) : end], numbers)):
            pieces += [{"text": piece, "passages": support}] if piece else []
        position = max(position, end)
    return pieces, left_out


def supports(passage: dict[str, Any], said: str) -> bool:
    """Whether a passage has all numbers of a text and two thirds of its words. Short words count if all are short."""
    there = set(_WORD.findall(f"{passage['title']} {passage['text']}".casefold()))
    words = _WORD.findall(said.casefold())
    numbers = {word for word in words if any(sign.isdigit() for sign in word)}
    words = [word for word in words if len(word) > 3] or words
    return bool(words) and numbers <= there and 3 * sum(word in there for word in words) >= 2 * len(words)


def _count() -> None:
    """Count an answer of this month (UTC), which DynamoDB refuses above the month's number."""
    if "ANSWERS_TABLE" in os.environ:  # unset on a developer's machine
        _aws("dynamodb").update_item(
            TableName=os.environ["ANSWERS_TABLE"],
            Key={"month": {"S": f"{datetime.now(UTC):%Y-%m}"}},
            UpdateExpression="ADD answers :one",
            ConditionExpression="attribute_not_exists(answers) OR answers < :most",
            ExpressionAttributeValues={":one": {"N": "1"}, ":most": {"N": os.environ["MONTHLY_ANSWERS"]}},
        )


@cache
def _aws(service: str) -> Any:
    return boto3.client(service, config=Config(connect_timeout=3, read_timeout=15, retries={"total_max_attempts": 1}))


@cache
def _key() -> str | None:
    """Cohere's key; None without COHERE_API_KEY_SECRET: the SDK then reads CO_API_KEY."""
    arn, _, field = os.environ.get("COHERE_API_KEY_SECRET", "").partition("#")
    if ":ssm:" in arn:
        key: str | None = _aws("ssm").get_parameter(Name=arn, WithDecryption=True)["Parameter"]["Value"]
    else:
        key = _aws("secretsmanager").get_secret_value(SecretId=arn)["SecretString"] if arn else None
    return str(json.loads(key)[field]) if key and field else key
