# SPDX-License-Identifier: MIT
"""The debugger as a Debug Adapter (./lab debug --dap): VS Code, Neovim and Emacs drive it by messages on
standard input and output.

A thread of the protocol is a warp. Its stack and variables are those of the lane that has stopped, or, after the
expression "lane N" in the console and until the next stop, of lane N. Source: Debug Adapter Protocol 1.70,
microsoft.github.io/debug-adapter-protocol.
"""

import itertools
import json
import os
import pathlib
import queue
import signal
import sys
import threading
from collections.abc import Callable

from debugger import Debugger, Ended, Refused, reason_text

CAPABILITIES = {
    "supportsConfigurationDoneRequest": True,
    "supportsConditionalBreakpoints": True,
    "supportsFunctionBreakpoints": True,
    "supportsStepBack": True,
    "supportsEvaluateForHovers": True,
    "supportsDataBreakpoints": True,
    "supportTerminateDebuggee": True,
    "supportsExceptionInfoRequest": True,
    "exceptionBreakpointFilters": [
        {"filter": "findings", "label": "Findings of checkers, and faults", "default": True}
    ],
}
REASONS = {
    "breakpoint": "breakpoint",
    "watch": "data breakpoint",
    "finding": "exception",
    "fault": "exception",
    "interrupt": "pause",
    "launch": "entry",
    "wrong store": "exception",
    "no store": "exception",
}
LANE_WARPS = 1 << 20  # warps of a block, in thread ids


class Adapter:
    """`start` compiles what the launch request names, and gives a running Debugger."""

    def __init__(self, start: Callable[[dict], Debugger], source=None, sink=None):
        self.start = start
        self.input, self.output = source or sys.stdin.buffer, sink or sys.stdout.buffer
        self.sequence = 0
        self.running: Debugger | None = None
        self.arguments: dict = {}
        self.findings = True
        self.placed: dict[str, list[int]] = {}  # breakpoints, by their file; those at functions: by ""
        self.references: dict[int, dict] = {}  # frames and variables of this stop
        # Of references: never used again, so that an old one is known as such.
        self.numbers = itertools.count(1)
        self.lane = 0
        self.chosen_lane: int | None = None
        self.requests: queue.Queue[dict | None] = queue.Queue()

    @property
    def debugger(self) -> Debugger:
        if self.running is None:
            raise Refused("nothing has been launched")
        return self.running

    # --- messages

    def send(self, message: dict) -> None:
        self.sequence += 1
        body = json.dumps({"seq": self.sequence, **message}).encode()
        self.output.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.output.flush()

    def event(self, name: str, **body: object) -> None:
        self.send({"type": "event", "event": name, "body": body})

    def read(self) -> dict | None:
        """The next request; None at the end. What is no request is passed over."""
        length = 0
        while line := self.input.readline():
            line = line.strip()
            try:
                if not line and length:
                    body, length = self.input.read(length), 0
                    request = json.loads(body)
                    if isinstance(request, dict) and request.get("type", "request") == "request":
                        return request
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            except ValueError:
                length = 0
        return None

    def read_all(self) -> None:
        while request := self.read():
            # The program may be running: it is interrupted at once, and then the request has its turn.
            if request.get("command") in ("pause", "disconnect", "terminate") and self.running:
                try:
                    os.kill(self.running.live_pid, signal.SIGUSR1)
                except ProcessLookupError:
                    pass
            self.requests.put(request)
        self.requests.put(None)

    def serve(self) -> None:
        threading.Thread(target=self.read_all, daemon=True).start()
        try:
            while request := self.requests.get():
                if not self.handle(request):
                    break
        finally:
            if self.running:
                self.running.close()

    def handle(self, request: dict) -> bool:
        command = str(request.get("command", ""))
        reply = {
            "type": "response",
            "request_seq": request.get("seq", 0),
            "command": command,
            "success": True,
        }
        handler = getattr(self, "do_" + command, None)
        after = None
        try:
            if handler is None:
                raise Refused(f"this debugger does not know the request {command}")
            result = handler(request.get("arguments") or {})
            if callable(result):
                after = result  # runs the program, once the request is answered
            elif result is not None:
                reply["body"] = result
        except Refused as error:
            reply.update(success=False, message=str(error))
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            # Of the arguments: the adapter goes on.
            reply.update(success=False, message=f"{command} cannot be answered: {error!r} in its arguments")
        except Ended:
            reply.update(success=False, message="the program has crashed, or was killed")
            self.send(reply)
            self.event("terminated")
            return command not in ("disconnect", "terminate")
        self.send(reply)
        if command == "launch" and reply["success"]:
            self.event("initialized")
        if after:
            self.run(after)
        return command not in ("disconnect", "terminate")

    # --- running

    def run(self, move: Callable[[], dict]) -> None:
        try:
            move()
        except Refused as error:
            self.say(f"{error}\n")
        except Ended:
            self.show_output()
            self.say("The program has crashed, or was killed.\n", "stderr")
            self.event("terminated")
            return
        self.report_stop()

    def show_output(self) -> None:
        if text := self.debugger.output():
            self.say(text, "stdout")

    def say(self, text: str, category: str = "console") -> None:
        self.event("output", category=category, output=text)

    def report_stop(self) -> None:
        self.show_output()
        self.references = {}
        stop = self.debugger.stop
        if "focus" not in stop and "exited" not in stop:
            # A launch has ended: there is no warp to show.
            self.say(f"Kernel {stop['kernel']} has ended.\n")
            return self.run(lambda: self.debugger.run(launches=True, **self.stops()))
        if "exited" in stop:
            self.event("exited", exitCode=0)
            self.event("terminated")
            return None
        focus = stop["focus"]
        self.lane = focus["lane"] if self.chosen_lane is None else self.chosen_lane
        why = stop["why"]
        said = [w for w in why if REASONS.get(w["kind"]) in ("exception", "data breakpoint")]
        texts = [reason_text(w) for w in said]
        reason = next((REASONS[w["kind"]] for w in why if w["kind"] in REASONS), "step")
        more = {"text": " ".join(texts)} if texts else {}
        self.event("stopped", reason=reason, threadId=self.thread_id(focus), allThreadsStopped=True, **more)
        for text in texts:
            self.say(text + "\n")
        return None

    def stops(self) -> dict:
        return {"breakpoints": True, "watches": True, "findings": self.findings}

    @staticmethod
    def thread_id(focus: dict) -> int:
        return focus["block"] * LANE_WARPS + focus["warp"] + 1

    def scene(self, thread: int, frame: int = 0) -> dict:
        block, warp = divmod(thread - 1, LANE_WARPS)
        return {"block": block, "warp": warp, "lane": self.lane, "frame": frame}

    def lane_of(self, thread: int) -> int:
        """The lane to show of a warp: the one that has stopped, else its first that has not ended."""
        scene = self.scene(thread)
        for block in self.debugger.ask({"do": "threads"})["blocks"]:
            if block["block"] == scene["block"]:
                live = block["warps"][scene["warp"]]["live"]
                if not live >> self.lane & 1 and live:
                    return (live & -live).bit_length() - 1
        return self.lane

    def step(self, arguments: dict, forwards: bool, depth: int | None) -> Callable[[], dict]:
        thread = self.scene(arguments["threadId"])
        return lambda: self.debugger.step(forwards, thread, depth, self.findings)

    # --- requests

    def do_initialize(self, arguments: dict) -> dict:
        return CAPABILITIES

    def do_launch(self, arguments: dict) -> None:
        self.arguments = arguments
        self.running = self.start(arguments)
        self.show_output()

    def do_setBreakpoints(self, arguments: dict) -> dict:
        path = str(pathlib.Path(arguments["source"]["path"]).resolve())
        wished = arguments.get("breakpoints", [])
        return self.place(path, [{"file": path, "line": one["line"], **one} for one in wished])

    def do_setFunctionBreakpoints(self, arguments: dict) -> dict:
        return self.place("", [{"function": one["name"], **one} for one in arguments.get("breakpoints", [])])

    def place(self, where: str, wished: list[dict]) -> dict:
        """Breakpoints instead of those that were placed for this file, or "" at functions."""
        for number in self.placed.pop(where, []):
            del self.debugger.breakpoints[number]
        wanted = self.placed[where] = [self.debugger.add_breakpoint(**one) for one in wished]
        self.debugger.is_set_up = False
        found = {} if "exited" in self.debugger.stop else self.debugger.set_up()
        made = []
        for number in wanted:
            line = found.get(str(number), {}).get("line", 0)
            shown = line or self.debugger.breakpoints[number]["line"]
            made.append({"id": number, "verified": line > 0, "line": shown})
        return {"breakpoints": made}

    def do_setExceptionBreakpoints(self, arguments: dict) -> None:
        self.findings = "findings" in arguments.get("filters", [])

    def do_exceptionInfo(self, arguments: dict) -> dict:
        """Emacs asks for this at each exception, whatever the capabilities are."""
        why = [w for w in self.debugger.stop["why"] if REASONS.get(w["kind"]) == "exception"]
        if not why:
            raise Refused("no finding or fault has stopped the program")
        return {"exceptionId": why[0]["kind"], "description": reason_text(why[0]), "breakMode": "always"}

    def do_dataBreakpointInfo(self, arguments: dict) -> dict:
        # An editor names a variable by its place in a list of variables, or an expression.
        name = arguments["name"]
        listed = self.reference(arguments) if arguments.get("variablesReference") else {}
        if listed.get("kind") == "array":
            name = listed["expression"] + name
        scene = listed.get("scene") or self.scene(self.thread_id(self.debugger.stop["focus"]))
        if arguments.get("frameId"):
            scene = self.reference(arguments, "frameId")["scene"]
        try:
            where = self.debugger.ask({"do": "address", "expression": name, **scene})
        except Refused as error:
            return {"dataId": None, "description": str(error)}
        data = json.dumps({**where, "text": name})
        return {"dataId": data, "description": name, "accessTypes": ["write"]}

    def do_setDataBreakpoints(self, arguments: dict) -> dict:
        self.debugger.watches.clear()
        for one in arguments["breakpoints"]:
            self.debugger.add(self.debugger.watches, json.loads(one["dataId"]))
        self.debugger.is_set_up = False
        return {"breakpoints": [{"verified": True} for _ in arguments["breakpoints"]]}

    def do_configurationDone(self, arguments: dict) -> Callable[[], dict]:
        if self.arguments.get("stopAtWrongStore") and "exited" not in self.debugger.stop:
            return self.debugger.first_wrong_store
        if self.arguments.get("stopOnEntry", True) or "exited" in self.debugger.stop:
            return lambda: self.debugger.stop
        return lambda: self.debugger.run(**self.stops())

    def do_threads(self, arguments: dict) -> dict:
        if "focus" not in self.debugger.stop:
            return {"threads": []}
        blocks = self.debugger.ask({"do": "threads"})["blocks"]
        live = [{"block": b["block"], "warp": w["warp"]} for b in blocks for w in b["warps"] if w["live"]]
        names = [f"block {one['block']}, warp {one['warp']}" for one in live]
        return {"threads": [{"id": self.thread_id(one), "name": name} for one, name in zip(live, names)]}

    def do_stackTrace(self, arguments: dict) -> dict:
        thread = arguments["threadId"]
        scene = {**self.scene(thread), "lane": self.lane_of(thread)}
        frames = [
            {
                "id": self.refer({"kind": "frame", "scene": {**scene, "frame": k}}),
                "name": f"{f['function']} (lane {scene['lane']})",
                "line": f["line"],
                "column": 1,
                "source": {"name": pathlib.Path(f["file"]).name, "path": f["file"]},
            }
            for k, f in enumerate(self.debugger.ask({"do": "frames", **scene})["frames"])
        ]
        return {"stackFrames": frames, "totalFrames": len(frames)}

    def refer(self, what: dict) -> int:
        number = next(self.numbers)
        self.references[number] = what
        return number

    def reference(self, arguments: dict, name: str = "variablesReference") -> dict:
        """What a number stands for that this stop has given out."""
        known = self.references.get(arguments[name])
        if known is None:
            earlier = "is of an earlier stop, or of none: ask for the stack again"
            raise Refused(f"{name} {arguments[name]} {earlier}")
        return known

    def do_scopes(self, arguments: dict) -> dict:
        scene = self.reference(arguments, "frameId")["scene"]
        scopes = [
            {"name": "Variables of the lane", "expensive": False},
            {"name": "All lanes", "expensive": True},
        ]
        for one, kind in zip(scopes, ("locals", "lanes")):
            one["variablesReference"] = self.refer({"kind": kind, "scene": scene})
        return {"scopes": scopes}

    def do_variables(self, arguments: dict) -> dict:
        what = self.reference(arguments)
        scene, kind = what["scene"], what["kind"]

        def variable(name: str, value: str, reference: int = 0, **more: object) -> dict:
            return {"name": name, "value": value, "variablesReference": reference, **more}

        def refer(kind: str, expression: str) -> int:
            return self.refer({"kind": kind, "scene": scene, "expression": expression})

        found, of = [], what.get("expression", "")
        if kind == "array":
            values = self.debugger.ask({"do": "array", "expression": of, "count": 256, **scene})["elements"]
            found = [variable(f"[{k}]", v, evaluateName=f"{of}[{k}]") for k, v in enumerate(values)]
        elif kind == "lane values":
            values = self.debugger.ask({"do": "value", "lanes": True, "expression": of, **scene})["lanes"]
            found = [variable(f"lane {k}", v) for k, v in enumerate(values) if v is not None]
        else:
            for v in self.debugger.ask({"do": "locals", **scene})["locals"]:
                name, text, type_ = v["name"], v.get("text", "(no value here)"), v["type"]
                if kind == "locals":
                    is_list = type_.endswith(("]", "*")) and "text" in v and type_.count("[") < 2
                    reference = refer("array", name) if is_list else 0
                    found.append(variable(name, text, reference, type=type_, evaluateName=name))
                elif "text" in v:
                    found.append(variable(name, text, refer("lane values", name), type=type_))
        return {"variables": found}

    def do_evaluate(self, arguments: dict) -> dict:
        text = arguments["expression"].strip()
        words = text.split()
        if len(words) == 2 and words[0] == "lane" and words[1].isdigit() and int(words[1]) < 32:
            self.chosen_lane = int(words[1])
            result = f"The variables of lane {self.chosen_lane} are shown from the next stop on."
            return {"result": result, "variablesReference": 0}
        if arguments.get("frameId"):
            scene = self.reference(arguments, "frameId")["scene"]
        else:
            scene = self.scene(self.thread_id(self.debugger.stop["focus"]))
        reply = self.debugger.ask({"do": "value", "expression": text, **scene})
        return {"result": reply["text"], "type": reply["type"], "variablesReference": 0}

    def do_continue(self, arguments: dict) -> Callable[[], dict]:
        return lambda: self.debugger.run(**self.stops())

    def do_reverseContinue(self, arguments: dict) -> Callable[[], dict]:
        return lambda: self.debugger.run_back(**self.stops())

    def do_stepIn(self, arguments: dict) -> Callable[[], dict]:
        return self.step(arguments, True, None)

    def do_next(self, arguments: dict) -> Callable[[], dict]:
        return self.step(arguments, True, self.debugger.stop.get("depth", 0))

    def do_stepOut(self, arguments: dict) -> Callable[[], dict]:
        return self.step(arguments, True, self.debugger.stop.get("depth", 0) - 1)

    def do_stepBack(self, arguments: dict) -> Callable[[], dict]:
        return self.step(arguments, False, self.debugger.stop.get("depth", 0))

    def do_pause(self, arguments: dict) -> None:
        return None  # read_all has interrupted the program

    do_disconnect = do_terminate = do_pause
