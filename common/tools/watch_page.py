# SPDX-License-Identifier: MIT
"""The page of ./lab watch --page: the report of the last grade, which takes the place of the one before. It is
served on the loopback interface alone, and only to a browser that asks for it by a name of this computer
(another site's page could otherwise ask for it through the visitor's browser)."""

import http.server
import threading

HOSTS = ("127.0.0.1", "localhost")

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>./lab watch</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,"><style>
:root { color-scheme: light dark; } body { margin: 0; display: flex; flex-direction: column; height: 100vh; }
p { margin: 0; padding: 0.4rem 1rem; font: 0.9rem system-ui, sans-serif; } iframe { flex: 1; border: 0; }
</style></head><body><p role="status"></p><iframe title="report"></iframe>
<script>
const status = document.querySelector("p"), report = document.querySelector("iframe");
let shown = "";
async function refresh() {
  try {
    const [version, ...words] = (await (await fetch("/now")).text()).split(" ");
    status.textContent = words.join(" ");
    if (version !== shown) report.src = "/report?" + (shown = version);
  } catch {
    status.textContent = "./lab watch has ended.";
  }
}
refresh(); setInterval(refresh, 500);
</script></body></html>
"""


def handler(watch):
    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self, status: int, kind: str, body: str) -> None:
            data = body.encode()
            self.send_response(status)
            self.send_header("Content-Type", kind + "; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            host = self.headers.get("Host", "").rsplit(":", 1)[0]
            path = self.path.partition("?")[0]
            if host not in HOSTS:
                return self.answer(403, "text/plain", "This page is for this computer alone.\n")
            if path == "/":
                return self.answer(200, "text/html", PAGE)
            if path == "/now":
                return self.answer(200, "text/plain", f"{watch.report_version()} {watch.said}")
            if path == "/report" and watch.report_version():
                return self.answer(200, "text/html", watch.report.read_text(encoding="utf-8"))
            if path == "/report":
                return self.answer(200, "text/plain", "Nothing has been graded yet.\n")
            return self.answer(404, "text/plain", "There is no such page.\n")

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def serve(watch, port):
    """Serves in the background; the address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler(watch))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/"
