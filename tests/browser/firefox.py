"""A headless Firefox, driven over WebDriver BiDi. Playwright drives none that a system installs."""

import asyncio
import itertools
import json
import os
import re
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp

FLAGS = ("--headless", "--no-remote", "--remote-debugging-port=0", "--width=1200", "--height=800")
KEYS = {"Enter": "\ue007", "ArrowDown": "\ue015"}


def find() -> str | None:
    """The browser's path: PASSAGE_FIREFOX, or a usual place."""
    return os.environ.get("PASSAGE_FIREFOX") or shutil.which("firefox-esr") or shutil.which("firefox")


class Tab:
    """One tab. A call ends when the browser has done it."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, runner: asyncio.Runner) -> None:
        self._socket = socket
        self._runner = runner
        self._ids = itertools.count(1)
        self._send("session.new", capabilities={})
        self._context = self._send("browsingContext.getTree")["contexts"][0]["context"]

    def open(self, url: str) -> None:
        self._send("browsingContext.navigate", context=self._context, url=url, wait="complete")

    def until(self, expression: str) -> Any:
        """The value of a JavaScript expression as soon as it is a true one; the test fails after 20 seconds."""
        waiting = (
            "new Promise((done, fail) => { const ends = Date.now() + 20000; const look = () => {"
            f" const found = {expression}; if (found) done(JSON.stringify(found));"
            " else if (Date.now() > ends) fail('not within 20 s'); else setTimeout(look, 20); }; look(); })"
        )
        answer = self._send("script.evaluate", expression=waiting, awaitPromise=True, target={"context": self._context})
        assert answer["type"] == "success", f"{expression}: {answer['exceptionDetails']['text']}"
        return json.loads(answer["result"]["value"])

    def click(self, element: str) -> None:
        """Clicks the middle of what a JavaScript expression gives."""
        x, y = self.until(
            f"(() => {{ const at = ({element})?.getBoundingClientRect();"
            " return at?.width && [at.x + at.width / 2, at.y + at.height / 2].map(Math.round); })()"
        )
        down, up = ({"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp"))
        self._act({"type": "pointer", "id": "mouse"}, {"type": "pointerMove", "x": x, "y": y}, down, up)

    def press(self, *keys: str) -> None:
        """Presses keys one after another: signs, or names of `KEYS`."""
        actions = ({"type": kind, "value": KEYS.get(key, key)} for key in keys for kind in ("keyDown", "keyUp"))
        self._act({"type": "key", "id": "keys"}, *actions)

    def _act(self, source: dict[str, Any], *actions: dict[str, Any]) -> None:
        self._send("input.performActions", context=self._context, actions=[{**source, "actions": list(actions)}])

    def _send(self, method: str, **parameters: Any) -> dict[str, Any]:
        async def exchange() -> dict[str, Any]:
            number = next(self._ids)
            await self._socket.send_json({"id": number, "method": method, "params": parameters})
            async with asyncio.timeout(60):
                while (answer := await self._socket.receive_json()).get("id") != number:
                    pass  # an event
            assert answer["type"] == "success", answer
            result: dict[str, Any] = answer["result"]
            return result

        return self._runner.run(exchange())


@contextmanager
def browsing(browser: str, profile: Path) -> Iterator[Tab]:
    """A tab of a browser of its own, with nothing kept but in the folder `profile`."""
    with asyncio.Runner() as runner:
        connection = _connected(browser, profile)
        try:
            yield Tab(runner.run(anext(connection)), runner)
        finally:
            runner.run(connection.aclose())


async def _connected(browser: str, profile: Path) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    log = profile / "browser.log"
    with log.open("wb") as said:
        process = await asyncio.create_subprocess_exec(
            browser, *FLAGS, "--profile", str(profile), stdout=said, stderr=said
        )
    try:
        async with aiohttp.ClientSession() as session:
            url = await _address(log, process)
            async with session.ws_connect(f"{url}/session", max_msg_size=0) as socket:
                yield socket
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _address(log: Path, process: asyncio.subprocess.Process) -> str:
    async with asyncio.timeout(60):
        while not (found := re.search(r"WebDriver BiDi listening on (ws://\S+)", log.read_text(errors="replace"))):
            assert process.returncode is None, f"the browser did not start: {log.read_text(errors='replace')}"
            await asyncio.sleep(0.05)
    return found[1]
