"""A headless Chromium, driven over the WebDriver protocol: chromedriver speaks plain JSON over HTTP."""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
CHROMEDRIVER = shutil.which("chromedriver")

KEYS = {
    "Down": "\ue015",
    "Up": "\ue013",
    "Left": "\ue012",
    "Right": "\ue014",
    "Enter": "\ue007",
    "Esc": "\ue00c",
}
_ARGUMENTS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
]
_WAIT_MS = 20_000
# Answers as soon as the condition holds; looks again whenever the page changes.
_UNTIL = """
const done = arguments[0];
const look = () => { const found = %s; if (found) { observer.disconnect(); done(found); } };
const observer = new MutationObserver(look);
observer.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
look();
"""


class Browser:
    """One tab."""

    def __init__(self) -> None:
        self._driver = subprocess.Popen([CHROMEDRIVER, "--port=0"], stdout=subprocess.PIPE, text=True)
        port = next(
            found[1]
            for line in self._driver.stdout
            if (found := re.search(r"started successfully on port (\d+)", line))
        )
        self._http = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False)
        options = {"binary": CHROMIUM, "args": _ARGUMENTS}
        wanted = {"alwaysMatch": {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}}
        self._path = ""
        session = self._ask("/session", {"capabilities": wanted})["sessionId"]
        self._path = f"/session/{session}"
        self._ask("/timeouts", {"script": _WAIT_MS})

    def _ask(self, path: str, body: dict[str, Any] | None = None) -> Any:
        answer = self._http.request("GET" if body is None else "POST", self._path + path, json=body)
        value = answer.json()["value"]
        assert answer.status_code == 200, value
        return value

    def open(self, url: str) -> None:
        """Load a page anew, even if only what is behind the # differs."""
        for address in ("about:blank", url):
            self._ask("/url", {"url": address})

    def prefer(self, scheme: str) -> None:
        """Ask for a `light` or a `dark` page."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.command("Emulation.setEmulatedMedia", {"features": features})

    def resize(self, width: int, height: int) -> None:
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.command("Emulation.setDeviceMetricsOverride", metrics)

    def command(self, name: str, parameters: dict[str, Any]) -> Any:
        """Send a command of the DevTools protocol."""
        return self._ask("/goog/cdp/execute", {"cmd": name, "params": parameters})

    def run(self, script: str) -> Any:
        """Return what an expression of JavaScript yields."""
        return self._ask("/execute/sync", {"script": f"return {script};", "args": []})

    def until(self, condition: str) -> Any:
        """Wait for an expression of JavaScript to become true, and return what it yields."""
        return self._ask("/execute/async", {"script": _UNTIL % condition, "args": []})

    def press(self, *keys: str) -> None:
        """Press keys one by one, wherever the focus is: names of `KEYS`, or text to type."""
        typed = [key for name in keys for key in KEYS.get(name, name)]
        strokes = [{"type": kind, "value": key} for key in typed for kind in ("keyDown", "keyUp")]
        self._ask("/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": strokes}]})

    def errors(self) -> list[str]:
        """Return what the page complained of since it was last asked."""
        logged = self._ask("/se/log", {"type": "browser"})
        return [entry["message"] for entry in logged if entry["level"] == "SEVERE"]

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self._ask("/screenshot")))

    def close(self) -> None:
        try:
            self._http.delete(self._path)
        finally:
            self._http.close()
            self._driver.terminate()
            self._driver.wait()
            self._driver.stdout.close()
