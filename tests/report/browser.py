"""A headless Chromium driven over a pipe (Chrome DevTools Protocol), with nothing but the standard library."""

import json
import os
import shutil
import subprocess
import tempfile
from base64 import b64decode
from pathlib import Path
from types import TracebackType
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SECONDS = 120  # after which a silent browser is given up


def executable() -> str:
    """The browser. Its absence is a failure: what the report looks like is not left untested."""
    for name in (os.environ.get("CHROMIUM", ""), *NAMES):
        path = shutil.which(name) if name else None
        if path:
            return path
    raise AssertionError("no Chromium found: apt-get install chromium, or name one with CHROMIUM=/path/to/chrome")


class Browser:
    """One page of a headless Chromium. `problems` collects console errors, exceptions and policy violations."""

    def __init__(self, width: int, height: int = 900, dark: bool = False) -> None:
        self.width, self.height, self.dark = width, height, dark
        self.problems: list[str] = []
        self.requests: list[str] = []
        self.number = 0
        self.waiting = b""

    def __enter__(self) -> "Browser":
        self.profile = tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
        from_us, to_browser = os.pipe()
        self.read_end, from_browser = os.pipe()

        def take_pipes() -> None:  # the browser reads descriptor 3 and writes 4
            a, b = os.dup(from_us), os.dup(from_browser)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [
                executable(),
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
                "--no-first-run",
                "--disable-background-networking",
                "--remote-debugging-pipe",
                f"--user-data-dir={self.profile.name}",
                f"--window-size={self.width},{self.height}",
                "about:blank",
            ],
            preexec_fn=take_pipes,
            close_fds=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(from_us)
        os.close(from_browser)
        self.write_end = to_browser
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self.call(f"{domain}.enable")
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=self.width,
            height=self.height,
            deviceScaleFactor=1,
            mobile=self.width < 600,
        )
        scheme = "dark" if self.dark else "light"
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self.write_end)
        os.close(self.read_end)
        self.process.kill()
        self.process.wait()
        self.profile.cleanup()

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Calls a method and returns its result; events that arrive meanwhile are looked at."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if hasattr(self, "session"):
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            reply = self._message()
            if reply.get("id") == self.number:
                assert "error" not in reply, f"{method}: {reply['error']}"
                result: dict[str, Any] = reply["result"]
                return result
            self._event(reply)

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self.waiting:
            data = os.read(self.read_end, 1 << 16)
            assert data, "the browser ended"
            self.waiting += data
        line, _, self.waiting = self.waiting.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def _event(self, message: dict[str, Any]) -> None:
        method, about = message.get("method"), message.get("params", {})
        if method == "Runtime.consoleAPICalled" and about["type"] in ("error", "warning", "assert"):
            self.problems.append(" ".join(str(part.get("value", part.get("description"))) for part in about["args"]))
        elif method == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(about["exceptionDetails"])[:500])
        elif method == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            self.problems.append(about["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(about["request"]["url"])

    def open(self, path: Path) -> None:
        """Opens a file and waits until its script says that all charts are drawn."""
        self.call("Page.navigate", url=path.resolve().as_uri())
        self.wait("document.readyState === 'complete' && document.documentElement.dataset.ready !== undefined")

    def wait(self, condition: str) -> None:
        """Waits in the page until a JavaScript condition holds."""
        script = f"""new Promise((resolve, reject) => {{
            const end = Date.now() + {SECONDS * 1000};
            (function look() {{
                if ({condition}) resolve(true);
                else if (Date.now() > end) reject(new Error('waited in vain'));
                else setTimeout(look, 20);
            }})();
        }})"""
        for _ in range(50):  # a navigation ends the promise of the page before
            answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
            if answer["result"].get("value") is True:
                return
        raise AssertionError(f"waited in vain for {condition}: {answer}")

    def value(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        answer = self.call(
            "Runtime.evaluate",
            expression=expression,
            returnByValue=True,
            awaitPromise=True,
            allowUnsafeEvalBlockedByCSP=False,
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def screenshot(self, path: Path, height: int | None = None) -> None:
        """The page from its top as a PNG, `height` pixels of it (default: all)."""
        full = self.value("document.documentElement.scrollHeight")
        clip = {"x": 0, "y": 0, "width": self.width, "height": min(full, height or full), "scale": 1}
        answer = self.call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
        path.write_bytes(b64decode(answer["data"]))
