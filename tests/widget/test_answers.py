"""The widget against `passage serve` from another origin."""

import pytest

from handler.config import profiles
from widget.conftest import Visit

TWIN = "What is a digital twin?"


@pytest.mark.parametrize("profile", profiles.names())
def test_passages_of_every_contract_are_shown(profile: str, api: str, visit: Visit) -> None:
    widget = visit({"endpoint": api, "profile": profile}).open().ask(TWIN)
    first = widget.hits.first
    assert first.locator(".title").inner_text() in ("Model, shadow, twin", "Model shadow twin")
    assert first.locator(".path").inner_text().casefold().endswith("what is a digital twin")
    assert first.locator(".fit").inner_text() == "Best match"
    assert first.locator("mark").first.inner_text().casefold() in ("twin", "twins", "digital")
    href = first.get_attribute("href") or ""
    assert href.startswith(
        "https://physical-ai.example/digital-twins/what-is-a-digital-twin/#model-shadow-twin:~:text="
    )
    assert widget.violations() == []
