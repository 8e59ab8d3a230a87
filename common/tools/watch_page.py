# SPDX-License-Identifier: MIT
"""The page of ./lab watch --page. It is served on the loopback interface alone, and only to a browser that
asks for it by a name of this computer (another site's page could otherwise ask for it through the visitor's
browser)."""

import http.server
import json
import pathlib
import subprocess
import tempfile
import threading
import urllib.parse

STYLE = pathlib.Path(__file__).resolve().parents[2] / "grader/page/style.css"
HOSTS = ("127.0.0.1", "localhost")

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>./lab watch</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,"><style>
STYLE
td.points { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.dim { color: var(--quiet); } pre.table { white-space: pre; }
@media (max-width: 40rem) {
  thead { display: none; } tbody tr { display: flex; flex-wrap: wrap; border-bottom: 1px solid var(--line); }
  td.dim.before::before { content: "before: "; } td { border: 0; } td:empty { display: none; } td:first-child { flex: 1 1 50%; } td.points { flex: 0 0 auto; }
}
iframe { width: 100%; height: 32rem; border: 1px solid var(--edge); } h2, summary { margin-top: 1rem; }
</style></head><body><main><h1 id="lab">./lab watch</h1><p id="running" role="status"></p>
<div class="wide"><table><thead><tr><th>task</th><th class="number">points</th><th>verdict</th><th>before</th><th>look closer</th></tr></thead><tbody id="tasks"></tbody></table></div>
<div id="messages"></div><details id="trace"><summary>Trace, step by step</summary><p><label>Task <select></select></label></p><iframe title="trace"></iframe></details>
<h2>History</h2><pre id="history"></pre></main>
<script>
const cell = (row, text, name) => { const td = row.insertCell(); td.textContent = text; if (name) td.className = name; return td; };
const link = (td, what, task) => { const a = document.createElement("a"); a.href = "/" + what + "?task=" + encodeURIComponent(task); a.target = "_blank";
  a.textContent = what; td.append(a, " "); };
let seen = "";
// The trace is made when it is looked at, and again when the task has been graded again.
const trace = document.getElementById("trace"), choice = trace.querySelector("select"), frame = trace.querySelector("iframe");
let chosen = false, shown = "", version = "";
function show_trace() {
  const wanted = choice.value && trace.open ? "/trace?task=" + encodeURIComponent(choice.value) + "&version=" + encodeURIComponent(version) : "";
  if (wanted && wanted !== shown) frame.src = shown = wanted;
}
function offer_traces(state) {
  const written = Object.entries(state.tasks).filter(([, task]) => !["NOT_IMPLEMENTED", "COMPILE_ERROR"].includes(task.verdict));
  const names = written.map(([id]) => id), wrong = written.find(([, task]) => task.verdict !== "OK"), before = choice.value;
  trace.hidden = names.length === 0;
  choice.replaceChildren(...names.map((id) => new Option(id)));
  choice.value = chosen && names.includes(before) ? before : wrong ? wrong[0] : names[0] || "";
  if (!state.running) version = String(state.history.length);
  show_trace();
}
choice.addEventListener("change", () => { chosen = true; show_trace(); });
trace.addEventListener("toggle", show_trace);
async function refresh() {
  let text;
  try { text = await (await fetch("/state")).text(); } catch { document.getElementById("running").textContent = "./lab watch has ended."; return; }
  if (text === seen) return;
  seen = text;
  const state = JSON.parse(text);
  document.getElementById("lab").textContent = state.file;
  document.getElementById("running").textContent = state.running ? "Running: " + state.running : "Waiting for the file to be saved.";
  const tasks = document.getElementById("tasks"), messages = document.getElementById("messages");
  tasks.replaceChildren(); messages.replaceChildren();
  for (const [id, task] of Object.entries(state.tasks)) {
    const row = tasks.insertRow(), good = task.verdict === "OK";
    cell(row, id); cell(row, task.max_points === undefined ? "" : task.points + "/" + task.max_points, "points");
    cell(row, task.verdict + (task.partial ? " (first operator and type)" : ""), good ? "good" : task.verdict === "NOT_IMPLEMENTED" ? "dim" : "bad");
    cell(row, task.before ? task.before[0] + " " + task.before[1] + "/" + task.before[2] : "", "dim before");
    const more = row.insertCell(); link(more, "trace", id); link(more, "profile", id);
    // The lines of a message may be broken, but not those of a table.
    for (const [words, kind] of [[good || task.verdict === "NOT_IMPLEMENTED" ? "" : task.message, ""], [good ? "" : task.smallest, "table"]]) {
      if (!words) continue;
      const pre = document.createElement("pre"); pre.textContent = words; pre.className = kind; messages.append(pre);
    }
  }
  offer_traces(state);
  document.getElementById("history").textContent = state.history.join("\\n");
}
refresh(); setInterval(refresh, 500);
</script></body></html>
""".replace("STYLE", STYLE.read_text(encoding="utf-8"))


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
            url = urllib.parse.urlsplit(self.path)
            if host not in HOSTS:
                return self.answer(403, "text/plain", "This page is for this computer alone.\n")
            if url.path == "/":
                return self.answer(200, "text/html", PAGE)
            if url.path == "/state":
                with watch.lock:
                    state = json.dumps(watch.state)
                return self.answer(200, "application/json", state)
            task = urllib.parse.parse_qs(url.query).get("task", [""])[0]
            if url.path in ("/trace", "/profile") and task in watch.tasks:
                return self.answer(*made(watch, url.path[1:], task))
            return self.answer(404, "text/plain", "There is no such page.\n")

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def made(watch, command, task):
    """What ./lab trace or profile shows of the file as it is now: (status, kind, text)."""
    with tempfile.TemporaryDirectory(prefix="lab-watch-") as folder:
        page = pathlib.Path(folder) / "page.html"  # the command replaces it as a whole
        words = [watch.labcli, command, watch.lab, task]
        if command == "trace":
            with watch.lock:
                case = watch.state["tasks"].get(task, {}).get("case")
            words += [*(["--case", case] if case else []), "--html", page]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        text = page.read_text(encoding="utf-8") if page.is_file() else ""
    return (200, "text/html", text) if text else (200, "text/plain", done.stdout or done.stderr)


def serve(watch, port):
    """Serves in the background; the address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler(watch))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_address[1]}/"
