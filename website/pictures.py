"""Takes the picture in the README: the textbook, the widget with an answer, and the panel beside it.

python -m website.pictures URL    URL is where `make run` serves
"""

import sys
import time
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from playwright.sync_api import sync_playwright

from browser import chromium

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "pictures" / "demo.png"
QUESTION = "What is a digital twin?"
SIZE = {"width": 1280, "height": 760}


def wait_for(url: str, seconds: float = 60) -> None:
    """Return when `passage serve` answers, which has just been started.

    Raises:
        URLError: it does not answer in time.
    """
    ends = time.monotonic() + seconds
    while True:
        try:
            urlopen(f"{url}health", timeout=5).close()  # noqa: S310 - our own server
            return
        except URLError:
            if time.monotonic() > ends:
                raise
            time.sleep(0.2)


def take(url: str) -> None:
    """Ask the question on the demo page and write the picture."""
    wait_for(url)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.find(), args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, locale="en-GB")
        page.goto(url)
        page.request.get(f"{url}query?question=warm")  # the first question also loads the emulator's model
        page.locator("passage-chat .launcher").click()
        page.locator("passage-chat input").fill(QUESTION)
        page.keyboard.press("Enter")
        page.locator("passage-chat .hit").first.wait_for()
        page.wait_for_timeout(1_000)  # the panel beside it is drawn
        PICTURE.parent.mkdir(exist_ok=True)
        page.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    take(sys.argv[1])
