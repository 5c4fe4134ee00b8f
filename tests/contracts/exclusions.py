"""What the OpenAPI document rules out in words: schemathesis sends no question that has it."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import schemathesis

MOST_QUERY = 7_500
"""API Gateway answers a longer URL itself, and so does `passage serve`."""


@schemathesis.hook
def filter_case(context: Any, case: Any) -> bool:
    """Whether a case is one that the words allow."""
    sent = case.body if case.method == "POST" else case.query
    if not case.operation.path.endswith("/query") or not isinstance(sent, Mapping):
        return True
    if case.method == "GET" and len(urlencode(sent)) > MOST_QUERY:
        return False
    given = {name: value for name, value in sent.items() if value is not None}
    filters = given.get("filters")
    if isinstance(filters, str):
        try:
            filters = json.loads(filters)
        except ValueError:
            filters = None
    if isinstance(filters, Mapping) and any(name in filters and name in given for name in ("language", "version")):
        return False
    if "search" in given and given.keys() & {"threshold", "score_threshold", "query_vector"}:
        return False  # a search by words has no similarities
    return "vector-search" not in case.operation.path or len(given.keys() & {"query_text", "query_vector"}) == 1
