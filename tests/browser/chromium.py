"""A headless Chromium that reaches only this machine, driven over the Chrome DevTools Protocol."""

import asyncio
import itertools
import json
import os
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
FLAGS = (
    "--headless",
    "--no-sandbox",  # CI runs as root in a container, which is sandbox enough for pages of our own
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-extensions",
    "--no-first-run",
    "--no-default-browser-check",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    "--remote-debugging-port=0",
    "--window-size=1280,2000",
)


def find(*preferred: str) -> str | None:
    """The browser's path: PASSAGE_BROWSER, or a usual place. Names in `preferred` come first."""
    chosen = os.environ.get("PASSAGE_BROWSER")
    if chosen:
        return chosen
    found = (shutil.which(name) for name in (*preferred, *NAMES))
    installed = (place for place in PLACES if Path(place).exists())
    return next((path for path in (*found, *installed) if path), None)


class Page:
    """One tab: its content, its console errors and its requests."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._ids = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.complaints: list[str] = []
        self.requests: list[str] = []

    async def open(self, url: str) -> None:
        for domain in ("Page", "Runtime", "Log", "Network"):
            await self._send(f"{domain}.enable")
        await self._send("Page.navigate", url=url)

    async def until(self, expression: str) -> Any:
        """The value of a JavaScript expression as soon as it is a true one; the test fails after 20 seconds."""
        waiting = (
            f"new Promise(done => {{ const look = () => {{ const found = {expression};"
            " found ? done(found) : requestAnimationFrame(look); }; look(); })"
        )
        async with asyncio.timeout(20):
            while True:  # a page that is being replaced takes what was asked of it along
                answer = await self._send("Runtime.evaluate", expression=waiting, awaitPromise=True, returnByValue=True)
                if "exceptionDetails" in answer:
                    raise AssertionError(answer["exceptionDetails"])
                if "result" in answer:
                    return answer["result"].get("value")

    async def click(self, selector: str) -> None:
        await self.until(
            f"(() => {{ const at = document.querySelector({json.dumps(selector)});"
            " if (at) at.click(); return !!at; })()"
        )

    async def _send(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._ids)
        self._waiting[number] = asyncio.get_running_loop().create_future()
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        return await self._waiting[number]

    async def listen(self) -> None:
        async for message in self._socket:
            event = json.loads(message.data)
            if "id" in event:
                self._waiting.pop(event["id"]).set_result(event.get("result", {}))
                continue
            told = event["params"]
            match event["method"]:
                case "Network.requestWillBeSent":
                    self.requests.append(told["request"]["url"])
                case "Runtime.exceptionThrown":
                    self.complaints.append(json.dumps(told["exceptionDetails"]))
                case "Runtime.consoleAPICalled" if told["type"] in ("error", "assert"):
                    self.complaints.append(json.dumps(told["args"]))
                case "Log.entryAdded" if told["entry"]["level"] == "error":
                    self.complaints.append(f"{told['entry']['text']} ({told['entry'].get('url', '')})")


@asynccontextmanager
async def browsing(browser: str, profile: Path) -> AsyncIterator[Page]:
    """A tab of a browser of its own, with nothing kept but in the folder `profile`."""
    process = await asyncio.create_subprocess_exec(
        browser,
        *FLAGS,
        f"--user-data-dir={profile}",
        "about:blank",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    draining: list[asyncio.Task[Any]] = []
    try:
        port = await _port(process)
        draining.append(asyncio.create_task(process.stderr.read()))  # or it would stop writing, and running
        async with aiohttp.ClientSession() as session:
            async with session.get(f"http://127.0.0.1:{port}/json/list") as answer:
                tab = next(target for target in await answer.json() if target["type"] == "page")
            async with session.ws_connect(tab["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                page = Page(socket)
                draining.append(asyncio.create_task(page.listen()))
                yield page
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()
        for task in draining:
            task.cancel()
        await asyncio.gather(*draining, return_exceptions=True)


async def _port(process: asyncio.subprocess.Process) -> str:
    assert process.stderr is not None
    said = b""
    async with asyncio.timeout(30):
        while line := await process.stderr.readline():
            said += line
            found = re.search(rb"DevTools listening on ws://127\.0\.0\.1:(\d+)/", line)
            if found:
                return found[1].decode()
    raise AssertionError(f"the browser did not start: {said.decode(errors='replace')}")
