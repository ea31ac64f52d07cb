"""A headless Chromium, driven by the DevTools protocol over two pipes: no port and no package."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

WAIT_S = 60.0  # for one reply or condition, on a busy machine


def find_chromium() -> str | None:
    """The browser: HONE_CHROMIUM, or the first of the usual names."""
    named = os.environ.get("HONE_CHROMIUM")
    return named or next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def high(descriptor: int) -> int:
    """The same file with a number that is not one of the two that the browser expects."""
    moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 20)
    os.close(descriptor)
    return moved


class Browser:
    """One browser with one page. `messages` has what its console said and its exceptions."""

    def __init__(self, program: str, folder: Path, *arguments: str) -> None:
        to_browser, self.to = map(high, os.pipe())
        self.back, from_browser = map(high, os.pipe())
        command = [program, "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={folder}", "--disable-gpu"]
        command += ["--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-sync"]
        command += ["--disable-component-update", "--disable-dev-shm-usage", "--mute-audio", "--hide-scrollbars"]
        if os.geteuid() == 0:
            command.append("--no-sandbox")  # Chromium's own does not start as root
        script = f'exec "$@" 3<&{to_browser} 4>&{from_browser} {to_browser}<&- {from_browser}>&-'
        self.log = folder.with_suffix(".log")
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                ["bash", "-c", script, "chromium", *command, *arguments, "about:blank"],
                pass_fds=(to_browser, from_browser),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.number = 0
        self.session = ""
        self.messages: list[str] = []
        self.requests: list[str] = []
        self.dialogs = 0
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=page["targetId"], flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Runtime", "Log", "Page", "Network"):
            self.call(f"{domain}.enable")

    def close(self) -> None:
        os.close(self.to)  # Chromium ends when the pipe closes
        os.close(self.back)
        try:
            self.process.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def read(self, until_s: float) -> dict[str, Any]:
        while b"\0" not in self.buffer:
            left_s = until_s - time.monotonic()
            ready = left_s > 0 and select.select([self.back], [], [], left_s)[0]
            assert ready, f"the browser did not reply; its log: {self.log.read_text(errors='replace')[-2000:]}"
            got = os.read(self.back, 1 << 20)
            assert got, f"the browser ended; its log: {self.log.read_text(errors='replace')[-2000:]}"
            self.buffer += got
        message, _, self.buffer = self.buffer.partition(b"\0")
        value: dict[str, Any] = json.loads(message)
        return value

    def note(self, event: dict[str, Any]) -> None:
        """Keeps what a test asserts about."""
        method, about = event.get("method"), event.get("params", {})
        if method == "Runtime.consoleAPICalled":
            self.messages.append(" ".join(str(one.get("value", one.get("description"))) for one in about["args"]))
        elif method == "Runtime.exceptionThrown":
            self.messages.append(str(about["exceptionDetails"].get("exception", {}).get("description")))
        elif method == "Log.entryAdded":
            self.messages.append(f"{about['entry']['text']} {about['entry'].get('url', '')}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])
        elif method == "Page.javascriptDialogOpening":
            self.dialogs += 1
            self.send("Page.handleJavaScriptDialog", accept=True)

    def send(self, method: str, **parameters: Any) -> int:
        self.number += 1
        asked: dict[str, Any] = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            asked["sessionId"] = self.session
        os.write(self.to, json.dumps(asked).encode() + b"\0")
        return self.number

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        number, until_s = self.send(method, **parameters), time.monotonic() + WAIT_S
        while True:
            message = self.read(until_s)
            if message.get("id") != number:
                self.note(message)
                continue
            assert "error" not in message, (method, message)
            result: dict[str, Any] = message["result"]
            return result

    def value(self, expression: str) -> Any:
        """The value of a JavaScript expression, after its promise."""
        said = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in said, (expression, said["exceptionDetails"])
        return said["result"].get("value")

    def wait(self, expression: str) -> Any:
        """The first true value of an expression. Exceptions count as false, because a page may just be loading."""
        until_s = time.monotonic() + WAIT_S
        while True:
            number = self.send("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
            while (message := self.read(until_s + WAIT_S)).get("id") != number:
                self.note(message)
            value = message.get("result", {}).get("result", {}).get("value")
            if value:
                return value
            assert time.monotonic() < until_s, (expression, self.value("document.body.innerText")[:1000], self.messages)
            select.select([], [], [], 0.03)

    def open(self, url: str, ready: str) -> None:
        """Loads a page and waits until it shows the view with this title ("error": a complaint)."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        self.wait(f"document.documentElement.dataset.ready === {json.dumps(ready)}")

    def go(self, hash_of_view: str, ready: str) -> None:
        """As a click on a link within the page."""
        self.value(f"(delete document.documentElement.dataset.ready, location.hash = {json.dumps(hash_of_view)}, 0)")
        self.wait(f"document.documentElement.dataset.ready === {json.dumps(ready)}")

    def text(self, selector: str = "body") -> str:
        return str(self.value(f"document.querySelector({json.dumps(selector)}).innerText"))

    def window(self, width: int, height: int, dark: bool) -> None:
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme)

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
