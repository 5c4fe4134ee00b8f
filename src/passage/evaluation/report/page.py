"""Renders the report's page by its Jinja2 template."""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined

from passage.evaluation.measured_run import differences
from passage.evaluation.report.facts import Facts, cut, grade_of, quantile
from passage.evaluation.thresholds import Verdict

NO_TEXT = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters, which HTML does not allow even when escaped, and lone surrogates."""

NAMES = {"SHOWN": 60, "HITS": 10, "QUESTION": 160, "grade_of": grade_of}
"""The most questions of a section and passages of an answer, the characters of a question, and a function."""


def render(facts: Facts, verdicts: Sequence[Verdict] = ()) -> str:
    """The whole page. The verdicts are on the run's thresholds."""
    page = _environment().get_template("report.html")
    changed = differences(facts.run, facts.baseline.run) if facts.baseline else []
    return NO_TEXT.sub("\N{REPLACEMENT CHARACTER}", page.render(facts=facts, verdicts=verdicts, differences=changed))


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("passage.evaluation", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_number,
    )
    environment.globals.update(NAMES)
    environment.filters.update(cut=cut, quantile=quantile, settings=_settings, whole="{:,.0f}".format)
    environment.tests["web_address"] = _is_web_address
    return environment


def _number(value: Any) -> Any:
    """Two decimals are enough for a place in a plot."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else value


def _settings(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _is_web_address(url: str) -> bool:
    try:
        return urlsplit(url).scheme in ("http", "https")
    except ValueError:
        return False
