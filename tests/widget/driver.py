"""Drives the widget in a page: the few things a reader does with it, and what a test looks at."""

import re
import time
from html import escape
from typing import Any

from playwright.sync_api import Locator, Page

from widget.servers import WEB

AXE = WEB / "node_modules" / "axe-core" / "axe.min.js"


def html(
    options: dict[str, str] | None = None,
    *,
    body: str = "<main><h1>Guide</h1><p>Words of the page.</p></main>",
    head: str = "",
    root: str = "lang=en",
    src: str = "/web/passage-chat.js",
) -> str:
    """A page with the widget's script tag; None for `options` leaves it out."""
    given = "".join(f' data-{name}="{escape(value)}"' for name, value in (options or {}).items())
    script = "" if options is None else f'<script src="{src}"{given}></script>'
    return (
        f"<!doctype html><html {root}><head><meta charset=utf-8><title>Guide</title><link rel=icon href=data:,>"
        f'<meta name=viewport content="width=device-width,initial-scale=1">{head}</head>'
        f"<body>{body}{script}</body></html>"
    )


ASK = """(input, question) => {
    input.focus();
    input.value = question;
    const options = {bubbles: true, cancelable: true, composed: true};
    input.dispatchEvent(new InputEvent('input', options));
    input.dispatchEvent(new KeyboardEvent('keydown', {...options, key: 'Enter'}));
}"""


class Widget:
    """The widget of a page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.host = page.locator("passage-chat")
        self.dialog = page.locator("passage-chat dialog")
        self.input = page.locator("passage-chat input")
        self.launcher = page.locator("passage-chat .launcher")
        self.body = page.locator("passage-chat .body")
        self.status = page.locator("passage-chat [role=status]")
        self.hits = page.locator("passage-chat .hit")
        self.options = page.locator("passage-chat [role=option]")
        self.first = page.locator("passage-chat .state .first")
        self.then = page.locator("passage-chat .state .then")
        self.retry = page.get_by_role("button", name="Try again")

    def open(self) -> "Widget":
        self.launcher.click()
        return self

    def ask(self, question: str) -> "Widget":
        """Writes a question and asks it with Enter, in one task: a machine's pause between them would ask, too."""
        self.input.evaluate(ASK, question)
        return self

    def type(self, text: str, *, every: int) -> "Widget":
        """Types a key every so many milliseconds of the page's own clock, then pauses until it asks.

        The clock stands while keys are sent: on a slow machine, the time between them would be a pause, too.
        """
        self.page.clock.install()
        self.page.clock.pause_at(time.time() + 60)
        for key in text:
            self.input.press_sequentially(key)
            self.page.clock.run_for(every)
        self.page.clock.run_for(400)
        self.page.clock.resume()
        return self

    def tool(self, name: str, index: int = 0) -> Locator:
        """A button of the passage at `index`. Its name ends with the passage's title."""
        named = re.compile(rf"^{re.escape(name)}(: |$)")
        return self.page.locator("passage-chat .more").nth(index).get_by_role("button", name=named)

    @property
    def is_open(self) -> bool:
        return bool(self.dialog.evaluate("dialog => dialog.open"))

    @property
    def focus(self) -> str:
        """What has the focus, inside the widget or in the page: its class, else its id, else its tag."""
        return str(
            self.page.evaluate(
                """() => {
                    let at = document.activeElement;
                    while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
                    return at.getAttribute('class') || at.id || at.localName;
                }"""
            )
        )

    def violations(self) -> list[Any]:
        """What axe-core finds in the page: each rule with the elements that break it."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE.read_text("utf-8"))
        found: list[Any] = self.page.evaluate(
            """async () => {
                const { violations } = await axe.run(document, { resultTypes: ['violations'] });
                return violations.map(({ id, nodes }) =>
                    [id, nodes.map(({ html, failureSummary }) => [html, failureSummary])]);
            }"""
        )
        return found
