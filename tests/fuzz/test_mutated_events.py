"""No event of any shape raises or gives INTERNAL_ERROR. `make fuzz EVENTS=1000000` runs more of them."""

from collections import Counter

from fuzz.findings import findings
from handler.entrypoints.detect import Source


def test_mutated_events_have_no_findings() -> None:
    seen: Counter[str] = Counter()
    assert list(findings(20_000, 1, seen)) == []
    reached = {source for source in Source for kind in seen if kind.startswith(source)}
    assert reached >= set(Source) - {Source.AGENT_CORE}, "every source is among them"


def test_same_seed_makes_the_same_events() -> None:
    first, second = Counter[str](), Counter[str]()
    assert list(findings(200, 7, first)) == list(findings(200, 7, second))
    assert first == second
