"""The questions as events, and the comparison of the functions' answers."""

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
K = 5
COLLECTION = "rag_embeddings"
MODEL, DIMENSION = "embed-multilingual-v3.0", 1024
"""The settings of most live collections. The default profile's model has 768 dimensions."""

MODEL_VARIABLES = {"EMBEDDING_MODEL": MODEL, "EMBEDDING_DIMENSION": str(DIMENSION), "SEARCH_MODE": "dense"}
"""The search is dense, as that of the other functions. `benchmarks.hybrid` compares it with a hybrid one."""


class Questions:
    """The plain questions of the textbook's suite, in its order; no two are alike, however many are taken."""

    def __init__(self) -> None:
        suite = tomllib.loads((ROOT / "samples" / "textbook" / "suite.toml").read_text(encoding="utf-8"))
        self._texts = [str(question["text"]) for question in suite["questions"] if "plain" in question["tags"]]
        self._event = json.loads((ROOT / "events" / "http-api-query.json").read_text(encoding="utf-8"))

    def texts(self) -> Iterator[str]:
        yield from self._texts
        for turn in range(2, 1_000_000):
            yield from (f"{text} ({turn})" for text in self._texts)

    def http(self, text: str) -> str:
        """The question as API Gateway sends it."""
        return json.dumps({**self._event, "body": json.dumps({"text": text, "k": K})})

    def direct(self, *texts: str) -> str:
        """One question, or a list of them, as a direct invocation's payload."""
        questions = [{"text": text, "k": K} for text in texts]
        return json.dumps(questions if len(questions) > 1 else questions[0])


def passages(answer: Any) -> list[tuple[str, str, float]]:
    """Text, URL and score of each passage of an HTTP answer, in any function's shape."""
    results = json.loads(answer["body"]).get("results", [])
    return [
        (found.get("text", found.get("chunk_text")), found["url"], found.get("score", found.get("relevance_score")))
        for found in results
    ]


def alike(one: list[tuple[str, str, float]], other: list[tuple[str, str, float]]) -> bool:
    """Whether two answers name the same passages in the same order, with the same scores to four digits."""
    return [found[:2] for found in one] == [found[:2] for found in other] and all(
        abs(left[2] - right[2]) < 1e-4 for left, right in zip(one, other, strict=True)
    )
