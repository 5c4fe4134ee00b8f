"""Seed 001's TestCase and TestSuiteResult: the values, their rules, and JSON."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import Enum
from typing import Any, ClassVar

from pydantic import TypeAdapter, ValidationError

from passage.evaluation.suite import STRICT


class CaseError(ValueError):
    """A rule of the seed is broken; the message names the test case and the rule."""


WRONG: Mapping[str, str] = {
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "a number"),
    **dict.fromkeys(("tuple_type", "list_type"), "a list"),
    "string_type": "text",
}
"""What a value must be, by pydantic's type of the error. The message of others says it well."""


class TestStatus(Enum):
    """The five statuses. A test case moves from pending to running, and from there to one of the other three."""

    __test__ = False  # for pytest: this is no test

    PENDING = "pending"
    RUNNING = "running"
    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"


NEXT: Mapping[TestStatus, tuple[TestStatus, ...]] = {
    TestStatus.PENDING: (TestStatus.RUNNING,),
    TestStatus.RUNNING: (TestStatus.PASSED, TestStatus.FAILED, TestStatus.ERROR),
    TestStatus.PASSED: (),
    TestStatus.FAILED: (),
    TestStatus.ERROR: (),
}


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """One retrieved point.

    Attributes:
        score: 0 to 1.
        retrieval_time_ms: the search, where the target reports it; else the whole answer.
    """

    id: int | str
    score: float
    payload: dict[str, Any]
    vector: list[float] | None = None
    retrieval_time_ms: float = 0.0

    __pydantic_config__ = STRICT


@dataclass(frozen=True, slots=True)
class TestCase:
    """One question with what is expected of its answer.

    Raises:
        CaseError: from the constructor, when a rule of the seed is broken.
    """

    __test__: ClassVar[bool] = False
    __pydantic_config__ = STRICT

    name: str
    query_text: str
    collection_name: str
    expected_doc_ids: tuple[str, ...] = ()
    expected_keywords: tuple[str, ...] = ()
    relevance_threshold: float = 0.0
    top_k: int = 10
    status: TestStatus = TestStatus.PENDING
    actual_results: tuple[RetrievalResult, ...] | None = None
    error_message: str | None = None

    def __post_init__(self) -> None:
        if not self.name.strip():
            raise CaseError("A test case needs a name.")
        if not self.query_text.strip():
            raise CaseError(f"{self.name}: query_text must not be empty.")
        if not 0.0 <= self.relevance_threshold <= 1.0:
            raise CaseError(f"{self.name}: relevance_threshold must be 0 to 1, not {self.relevance_threshold:g}.")
        if self.top_k <= 0:
            raise CaseError(f"{self.name}: top_k must be above 0, not {self.top_k}.")

    def move(
        self,
        status: TestStatus,
        results: Sequence[RetrievalResult] | None = None,
        error_message: str | None = None,
    ) -> "TestCase":
        """This test case in its next status.

        Raises:
            CaseError: the status does not follow the current one.
        """
        if status not in NEXT[self.status]:
            allowed = ", ".join(each.value for each in NEXT[self.status]) or "nothing"
            raise CaseError(f"{self.name}: {status.value} cannot follow {self.status.value}; allowed: {allowed}.")
        kept = self.actual_results if results is None else tuple(results)
        return replace(self, status=status, actual_results=kept, error_message=error_message)


_case: TypeAdapter[TestCase] = TypeAdapter(TestCase)


def check_names(cases: Sequence[TestCase]) -> None:
    """Raise CaseError when two test cases have one name."""
    seen: set[str] = set()
    for case in cases:
        if case.name in seen:
            raise CaseError(f"{case.name}: the name occurs twice; names must be unique in a suite.")
        seen.add(case.name)


def to_json(case: TestCase) -> dict[str, Any]:
    """A test case as JSON values, with the seed's names."""
    return {**asdict(case), "status": case.status.value}


def from_json(values: Mapping[str, Any]) -> TestCase:
    """The test case of JSON values.

    Raises:
        CaseError: a field is missing, unknown or wrong.
    """
    try:
        return _case.validate_json(json.dumps(values), strict=True)
    except ValidationError as error:
        raise CaseError(first_fault(error, str(values.get("name", "A test case")))) from None


def first_fault(error: ValidationError, name: str) -> str:
    """The first fault in one line. A broken rule of the seed has its own message."""
    fault = error.errors()[0]
    if fault["type"] == "value_error":
        return str(fault["msg"]).removeprefix("Value error, ")
    field = ".".join(str(part) for part in fault["loc"])
    what = WRONG.get(fault["type"])
    if what is None:
        return f"{name}: {field}: {fault['msg'][:1].lower()}{fault['msg'][1:]}."
    return f"{name}: {field} must be {what}, not {fault['input']!r}."


@dataclass(frozen=True, slots=True)
class PerformanceMetrics:
    """Milliseconds over all test cases with an answer; 0 without one."""

    avg_retrieval_time_ms: float = 0.0
    p95_retrieval_time_ms: float = 0.0
    max_retrieval_time_ms: float = 0.0

    @classmethod
    def of(cls, milliseconds: Sequence[float]) -> "PerformanceMetrics":
        """The 95th percentile is the smallest time that at least 95 % of the times do not exceed (nearest rank)."""
        if not milliseconds:
            return cls()
        ordered = sorted(milliseconds)
        average = min(max(math.fsum(ordered) / len(ordered), ordered[0]), ordered[-1])  # rounding may leave the range
        return cls(average, ordered[math.ceil(0.95 * len(ordered)) - 1], ordered[-1])


@dataclass(frozen=True, slots=True)
class TestSuiteResult:
    """All test cases of a suite, executed.

    Raises:
        CaseError: from the constructor: two test cases have one name, or the numbers do not add up.
    """

    __test__: ClassVar[bool] = False

    total_tests: int
    passed: int
    failed: int
    errors: int
    execution_time_ms: float
    test_results: tuple[TestCase, ...]
    performance_metrics: PerformanceMetrics
    timestamp: str

    def __post_init__(self) -> None:
        check_names(self.test_results)
        counted = _count(self.test_results)
        if counted != (self.passed, self.failed, self.errors):
            raise CaseError("passed, failed and errors must be the numbers of test_results with these statuses.")
        if sum(counted) != self.total_tests or self.total_tests != len(self.test_results):
            raise CaseError("total_tests must be passed, failed and errors together, and the length of test_results.")

    @classmethod
    def of(
        cls, executed: Sequence[TestCase], milliseconds: Sequence[float], execution_time_ms: float, timestamp: str
    ) -> "TestSuiteResult":
        """Count executed test cases.

        Args:
            milliseconds: the retrieval times of the test cases that have an answer.
            timestamp: ISO 8601.
        """
        passed, failed, errors = _count(executed)
        metrics = PerformanceMetrics.of(milliseconds)
        return cls(len(executed), passed, failed, errors, execution_time_ms, tuple(executed), metrics, timestamp)

    @property
    def pass_rate(self) -> float:
        """Per cent of all test cases; 0 without one."""
        return self._share(self.passed)

    @property
    def failure_rate(self) -> float:
        """Per cent of all test cases, without errors; 0 without one."""
        return self._share(self.failed)

    def _share(self, number: int) -> float:
        return number / self.total_tests * 100 if self.total_tests else 0.0


def _count(executed: Sequence[TestCase]) -> tuple[int, int, int]:
    statuses = [case.status for case in executed]
    return (statuses.count(TestStatus.PASSED), statuses.count(TestStatus.FAILED), statuses.count(TestStatus.ERROR))


def result_to_json(result: TestSuiteResult) -> dict[str, Any]:
    """A result as JSON values, with the seed's names and its calculated fields."""
    return {
        **asdict(result),
        "test_results": [to_json(case) for case in result.test_results],
        "pass_rate": result.pass_rate,
        "failure_rate": result.failure_rate,
    }
