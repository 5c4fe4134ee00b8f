"""An example question of each contract, the answer that the contract renders to it, and an example of feedback."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from handler.config.profiles import Profile
from handler.contracts.base import Contract
from handler.contracts.fields import to_json
from handler.core.errors import InvalidRequest
from handler.core.model import Passage, Retrieval, Timings

TEXT = "A digital twin is a virtual representation of a physical asset, kept in step with it by data."
URL = "https://example.com/docs/digital-twin"
QUESTION = "What is a digital twin?"
ASKED_AT = datetime(2026, 1, 15, 10, 30, tzinfo=UTC)

FEEDBACK = {"url": URL, "helpful": True, "chunk_id": "123456789_0", "question": QUESTION}

QUESTIONS: dict[str, dict[str, Any]] = {
    "query_response": {"text": QUESTION, "k": 5},
    "vector_search": {"query_text": QUESTION, "top_k": 5, "filters": {"source_url": URL}},
    "context": {"text": QUESTION, "k": 5},
    "ranked": {"text": QUESTION, "query_id": "q_1", "top_k": 5},
    "chunks": {"query_text": QUESTION, "top_k": 5, "threshold": 0.3, "include_metadata": True},
}

PASSAGE = Passage(
    id=123456789,
    score=0.72,
    text=TEXT,
    url=URL,
    title=QUESTION,
    index=0,
    chapter="digital-twins",
    section="Definition",
    headings=(QUESTION, "Definition"),
    tokens=22,
    created_at=ASKED_AT,
    payload={"content": TEXT, "source_url": URL, "chunk_index": 0},
)


def question(contract: Contract, profile: Profile) -> dict[str, Any]:
    """The contract's question, with the profile's names for its text and its number of passages."""
    names = {contract.text: profile.query.text.names[0], contract.count: profile.query.count.names[0]}
    return {names.get(field, field): value for field, value in QUESTIONS[contract.name].items()}


def answer(contract: Contract, profile: Profile) -> Mapping[str, Any]:
    """The contract's answer with one passage; empty where the profile's limits do not allow the question."""
    asked = {field: value for field, value in question(contract, profile).items() if field != "filters"}
    try:
        request = contract.parse(asked, profile)
    except InvalidRequest:
        return {}
    retrieval = Retrieval(
        request=request,
        passages=(PASSAGE,),
        skipped=0,
        timings=Timings(embedding_ms=80.1, search_ms=12.5, total_ms=93.0),
        collection=profile.collection.name,
        model=profile.embedding.model,
        asked_at=ASKED_AT,
    )
    body: dict[str, Any] = json.loads(to_json(contract.render(retrieval)))
    return body
