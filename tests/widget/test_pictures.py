"""Pictures of the widget for a person to look at, in .passage/pictures: each look in one file."""

from typing import Any

import pytest

from conftest import ROOT
from widget.conftest import Visit

PICTURES = ROOT / ".passage" / "pictures"
DESKTOP = {"viewport": {"width": 1200, "height": 850}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
STYLE = "<style>body { font: 17px/1.6 Georgia, serif; max-width: 700px; margin: 40px auto; padding: 0 20px }</style>"
BODY = f"<main><h1>Physical AI</h1>{'<p>' + 'A robot senses, decides and acts. ' * 14 + '</p>'}</main>" * 3
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"context": DESKTOP},
    "dark": {"context": {**DESKTOP, "color_scheme": "dark"}},
    "phone": {"context": PHONE},
    "right-to-left": {
        "context": DESKTOP,
        "root": "lang=ar dir=rtl",
        "head": f"{STYLE}<script src=/web/languages/ar.js></script>",
    },
    "forced colours": {"context": {**DESKTOP, "forced_colors": "active"}},
}


@pytest.mark.parametrize("look", LOOKS)
def test_picture_of_each_look(look: str, api: str, visit: Visit) -> None:
    options = {
        "endpoint": api,
        "profile": "ranked",
        "questions": "What is a digital twin?|How do I calibrate a camera?",
    }
    widget = visit(options, body=BODY, **{"head": STYLE, **LOOKS[look]})
    PICTURES.mkdir(parents=True, exist_ok=True)
    widget.open()
    widget.page.screenshot(path=PICTURES / f"{look}, start.png")
    widget.options.first.click()
    widget.hits.first.wait_for()
    widget.page.keyboard.press("ArrowDown")
    widget.page.screenshot(path=PICTURES / f"{look}, passages.png")
    assert (PICTURES / f"{look}, passages.png").stat().st_size > 10_000
