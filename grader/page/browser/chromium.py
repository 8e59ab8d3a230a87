# SPDX-License-Identifier: MIT
"""A headless Chromium, spoken to through its DevTools protocol over two pipes: standard library alone.

    with Browser() as browser:
        page = browser.open("report.html", width=360)
        page.run("document.title")            # the value of an expression
        page.problems                         # console errors, exceptions, refused loads

https://chromedevtools.github.io/devtools-protocol/
"""

import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

CODES = {"ArrowRight": 39, "ArrowLeft": 37, "ArrowUp": 38, "ArrowDown": 40, "Home": 36, "End": 35, "Tab": 9}
CODES |= {"PageUp": 33, "PageDown": 34, "Enter": 13}
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find():
    """The browser's path, or None."""
    return os.environ.get("CHROMIUM") or next((path for path in map(shutil.which, NAMES) if path), None)


class Browser:
    def __init__(self, seconds=60):
        self.seconds = seconds
        self.folder = tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
        to_child, self.out = os.pipe()
        self.into, from_child = os.pipe()
        # Descriptors 3 and 4 are where --remote-debugging-pipe listens and answers.
        shell = f'exec 3<&{to_child} 4>&{from_child}; exec "$@"'
        flags = (
            "--headless=new --remote-debugging-pipe --no-sandbox --disable-gpu --hide-scrollbars "
            "--no-first-run --disable-dev-shm-usage --disable-background-networking"
        ).split()
        command = [find(), *flags, f"--user-data-dir={self.folder.name}"]
        self.process = subprocess.Popen(
            ["bash", "-c", shell, "bash", *command, "about:blank"],
            pass_fds=(to_child, from_child),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_child)
        os.close(from_child)
        self.buffer = b""
        self.number = 0
        self.pages = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.send("Browser.close")
        except (OSError, RuntimeError):
            pass
        os.close(self.out)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.into)
        self.folder.cleanup()

    def _message(self):
        end = time.monotonic() + self.seconds
        while b"\0" not in self.buffer:
            if not select.select([self.into], [], [], max(0, end - time.monotonic()))[0]:
                raise RuntimeError("the browser does not answer")
            piece = os.read(self.into, 1 << 20)
            if not piece:
                raise RuntimeError("the browser has ended")
            self.buffer += piece
        text, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(text)

    def post(self, method, session=None, **params):
        """Asks for it and waits for no answer; returns the number that the answer will bear."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        return self.number

    def send(self, method, session=None, **params):
        number = self.post(method, session, **params)
        while True:
            answer = self._message()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self._event(answer)

    def _event(self, message):
        page = self.pages.get(message.get("sessionId"))
        if page and "method" in message:  # an answer that nobody waits for has none
            page.event(message["method"], message["params"])

    def wait(self, ready):
        while not ready():
            self._event(self._message())

    def open(self, path, width=1440, height=900, dark=False, still=False):
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session, target)
        self.pages[session] = page
        for domain in ("Page", "Runtime", "Log"):
            page.send(f"{domain}.enable")
        page.look(width, height, dark, still=still)
        page.loaded = False
        page.send("Page.navigate", url=path if "://" in str(path) else pathlib.Path(path).resolve().as_uri())
        self.wait(lambda: page.loaded)
        return page


class Page:
    def __init__(self, browser, session, target):
        self.browser, self.session, self.target = browser, session, target
        self.problems = []
        self.loaded = False

    def send(self, method, **params):
        return self.browser.send(method, self.session, **params)

    def event(self, method, params):
        if method == "Page.loadEventFired":
            self.loaded = True
        elif method == "Runtime.exceptionThrown":
            self.problems.append(
                params["exceptionDetails"].get("exception", {}).get("description", "exception")
            )
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert"):
            self.problems.append(" ".join(str(a.get("value", "")) for a in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.problems.append(params["entry"]["text"] + " " + params["entry"].get("url", ""))
        elif (
            method == "Page.javascriptDialogOpening"
        ):  # our pages open no dialogs, so a quoted text was run as a script
            self.problems.append(f"{params['type']}({params['message']!r})")
            self.browser.post("Page.handleJavaScriptDialog", self.session, accept=False)

    def look(self, width, height=900, dark=False, media="", still=False):
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.send("Emulation.setDeviceMetricsOverride", **size)
        scheme, motion = "dark" if dark else "light", "reduce" if still else "no-preference"
        features = {"prefers-color-scheme": scheme, "prefers-reduced-motion": motion}.items()
        features = [{"name": name, "value": value} for name, value in features]
        self.send("Emulation.setEmulatedMedia", media=media, features=features)

    def run(self, expression):
        done = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise RuntimeError(done["exceptionDetails"].get("exception", {}).get("description", expression))
        return done["result"].get("value")

    def press(self, key, shift=False):
        text = {"Enter": "\r", " ": " "}.get(key, key if len(key) == 1 else "")
        typed = {"type": "keyDown", "text": text} if text else {"type": "rawKeyDown"}
        for kind in (typed, {"type": "keyUp"}):
            code = CODES.get(key) or ord(key)
            event = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": 8 * shift}
            self.send("Input.dispatchKeyEvent", **event, **kind)

    def screenshot(self, path, whole=True):
        size = self.send("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 4000), "scale": 1}
        how = {"format": "png", "captureBeyondViewport": True} | ({"clip": clip} if whole else {})
        shot = self.send("Page.captureScreenshot", **how)
        pathlib.Path(path).write_bytes(base64.b64decode(shot["data"]))

    def close(self):
        self.browser.send("Target.closeTarget", targetId=self.target)
        self.browser.pages.pop(self.session, None)
