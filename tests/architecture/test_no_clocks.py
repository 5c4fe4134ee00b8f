"""No property fails because a busy machine made its examples slowly."""

import re
from pathlib import Path

from hypothesis import HealthCheck, settings

TESTS = Path(__file__).resolve().parents[1]
SUPPRESSED = re.compile(r"suppress_health_check=\[([^]]*)\]")


def test_every_property_has_the_time_it_needs() -> None:
    assert settings.default.deadline is None
    assert HealthCheck.too_slow in settings.default.suppress_health_check


def test_own_lists_of_suppressed_checks_name_too_slow() -> None:
    files = [path for path in TESTS.rglob("*.py") if "node_modules" not in path.parts]
    lists = {path.name: SUPPRESSED.findall(path.read_text(encoding="utf-8")) for path in files}
    assert sum(map(len, lists.values())) > 3
    assert [name for name, found in lists.items() for each in found if "too_slow" not in each] == []
