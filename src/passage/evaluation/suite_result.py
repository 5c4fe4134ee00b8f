"""Seed 001's TestSuiteResult: counts, rates and times of executed test cases, as JSON, too."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from passage.evaluation import cases
from passage.evaluation.cases import CaseError, TestCase, TestStatus


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
        cases.check_names(self.test_results)
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


CALCULATED = ("pass_rate", "failure_rate")


def to_json(result: TestSuiteResult) -> dict[str, Any]:
    """A result as JSON values, with the seed's names and its calculated fields."""
    return {
        **asdict(result),
        "test_results": [cases.to_json(case) for case in result.test_results],
        **{name: getattr(result, name) for name in CALCULATED},
    }
