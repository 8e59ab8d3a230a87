# SPDX-License-Identifier: MIT
"""A headless Firefox, spoken to through Marionette, its own protocol: standard library alone.

    with Firefox() as page:
        page.open("play.html")
        page.run("document.title")            # the value of an expression, awaited if it is a promise

https://firefox-source-docs.mozilla.org/testing/marionette/Protocol.html
"""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

PREFERENCES = {"marionette.port": 0, "browser.shell.checkDefaultBrowser": False, "app.update.auto": False}


def find():
    """The browser's path, or None."""
    return os.environ.get("FIREFOX") or shutil.which("firefox-esr") or shutil.which("firefox")


class Firefox:
    def __init__(self, seconds=120):
        self.folder = tempfile.TemporaryDirectory(prefix="firefox-", ignore_cleanup_errors=True)
        profile = pathlib.Path(self.folder.name)
        lines = [
            f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in PREFERENCES.items()
        ]
        (profile / "user.js").write_text("\n".join(lines) + "\n", encoding="utf-8")
        command = [find(), "--headless", "--marionette", "--no-remote", "--profile", profile, "about:blank"]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, env={**os.environ, "HOME": self.folder.name}, **quiet)
        port, end = profile / "MarionetteActivePort", time.monotonic() + seconds
        while not port.exists() or not port.read_text():
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError("Firefox does not start")
            time.sleep(0.1)
        self.socket = socket.create_connection(("127.0.0.1", int(port.read_text())), timeout=seconds)
        self.stream = self.socket.makefile("rb")
        self.number = 0
        self._message()  # it introduces itself
        self.send("WebDriver:NewSession", capabilities={})
        self.send("WebDriver:SetTimeouts", script=1000 * seconds, pageLoad=1000 * seconds)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.process.terminate()
        self.process.wait(30)
        self.folder.cleanup()

    def _message(self):
        size = b""
        while (digit := self.stream.read(1)) != b":":
            if not digit:
                raise RuntimeError("Firefox has ended")
            size += digit
        return json.loads(self.stream.read(int(size)))

    def send(self, command, **params):
        self.number += 1
        text = json.dumps([0, self.number, command, params]).encode()
        self.socket.sendall(b"%d:%s" % (len(text), text))
        while True:
            kind, number, error, result = self._message()
            if (kind, number) == (1, self.number):
                if error:
                    raise RuntimeError(f"{command}: {error['message']}")
                return result

    def open(self, path):
        self.send("WebDriver:Navigate", url=pathlib.Path(path).resolve().as_uri())

    def run(self, expression):
        script = (
            f"const done = arguments[0]; Promise.resolve({expression}).then(done, (e) => done(String(e)));"
        )
        return self.send("WebDriver:ExecuteAsyncScript", script=script, args=[])["value"]
