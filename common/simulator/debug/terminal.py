# SPDX-License-Identifier: MIT
"""The debugger's line-oriented front end: reads commands like gdb's, prints at most 80 columns. From a script
as well as by hand."""

import linecache
import pathlib
import re
import string
import sys
import textwrap

from debugger import Debugger, Ended, Refused, reason_text

HELP = """\
forwards                       backwards
  continue, c                    reverse-continue, rc     to the next stop
  step, s [N]                    reverse-step, rs [N]     to the next line
  next, n [N]                    reverse-next, rn [N]     the same, over calls
  finish                         reverse-finish           out of the function
  barrier                        reverse-barrier          to a barrier's end
  launch                         reverse-launch           to a kernel's start
  goto TIME, restart             to a time, to the first launch

stops
  break [FILE:]LINE [if COND]    at a line, if COND holds in some lane
  break FUNCTION [if COND]       at the first line of a function or kernel
  watch EXPR                     when this value in shared or global memory
                                 changes, whoever writes it
  delete N                       removes a breakpoint or watch; info breakpoints
  findings on|off                at a checker's finding (on)
  wrong                          at the store that made a lab's output wrong

looking
  print, p EXPR                  a value in the current thread
  lanes EXPR, EXPR …             values in all lanes of the warp
  array, x EXPR [FIRST [COUNT]]  elements; * marks those that have changed
  written EXPR                   who wrote this memory last, and when
  info locals|threads|launch     variables; where all threads are
  where, bt; up, down            the calls; the frame to look at
  list, l [LINE]                 the source
  thread T [B], lane N, warp N, block N      the thread to look at

EXPR: C, with threadIdx, blockIdx, blockDim, gridDim, and lane, warp, thread,
block as numbers. An empty line repeats the last command. quit ends."""


def ranges(mask: int) -> str:
    """ "0-15,18" of a mask of lanes."""
    parts: list[list[int]] = []
    for lane in range(32):
        if mask >> lane & 1:
            if parts and parts[-1][-1] == lane - 1:
                parts[-1][1:] = [lane]
            else:
                parts.append([lane])
    return ",".join("-".join(map(str, part)) for part in parts) or "none"


def plural(n: int, word: str) -> str:
    return f"{n} {word}" + ("" if n == 1 else "es" if word.endswith("ch") else "s")


def at(place: dict) -> str:
    """ "file.cu:12"."""
    return f"{pathlib.Path(place['file']).name}:{place['line']}"


class Terminal:
    def __init__(self, debugger: Debugger, out=sys.stdout):
        self.debugger, self.out = debugger, out
        self.focus: dict = {}
        self.frame = 0
        self.findings = True
        self.seen_arrays: dict[str, list[str]] = {}
        self.last_command = ""
        self.listed = 0
        self.complained = False

    # --- printing

    def say(self, text: str = "") -> None:
        for line in text.split("\n"):
            parts = [line]
            if len(line) > 80:
                parts = textwrap.wrap(line, 80, drop_whitespace=False, break_on_hyphens=False)
            for k, part in enumerate(parts):
                print(part.strip() if k > 0 else part.rstrip(), file=self.out)
        self.out.flush()

    def show_output(self) -> None:
        for line in self.debugger.output().splitlines():
            self.say("program: " + line)

    def show_stop(self) -> None:
        stop = self.debugger.stop
        self.show_output()
        self.frame = 0
        if "exited" in stop:
            self.say(
                f"The program has ended, at time {stop['time']} after {plural(stop['launch'], 'launch')}."
            )
            return
        self.focus = dict(stop.get("focus", {}))
        for why in stop["why"]:
            self.show_reason(why)
        if not self.focus:
            self.say(f"Kernel {stop['kernel']} has ended, at time {stop['time']}.")
            return
        active = ranges(stop.get("mask", 0))
        self.say(f"{self.position()}; active lanes {active}; time {stop['time']}")
        place = stop["place"]
        if place["line"]:
            self.say(f"{at(place)}  {linecache.getline(place['file'], place['line']).strip()}")
            self.listed = 0
        else:
            self.say("at an instruction without a source line (compile with -G or -lineinfo)")
        if stop.get("complaint") and not self.complained:
            self.say("Note: " + stop["complaint"] + ".")
            self.complained = True

    def position(self) -> str:
        return "block {block}, warp {warp}, lane {lane}".format(**self.focus)

    def show_reason(self, why: dict) -> None:
        stop = self.debugger.stop
        if why["kind"] == "launch":
            grid, block = ("(" + ", ".join(map(str, stop[k])) + ")" for k in ("grid", "block_size"))
            self.say(f"Launch {stop['launch']}: {stop['kernel']}, grid {grid}, blocks of {block}")
        elif text := reason_text(why):
            self.say(text)

    # --- commands

    def command(self, line: str) -> bool:
        """Executes a line; False ends the session."""
        line = line.strip() or self.last_command
        if not line or line.startswith("#"):
            return True
        self.last_command = line
        word, _, rest = line.partition(" ")
        rest = rest.strip()
        if word in ("quit", "q", "exit"):
            return False
        if word.startswith("print/"):
            word = "print"
        handler = self.COMMANDS.get(word)
        if handler is None:
            close = [name for name in self.COMMANDS if name.startswith(word)]
            if len(close) != 1:
                others = f": {', '.join(sorted(close))}?" if close else '; "help" lists them.'
                self.say(f'There is no command "{word}"{others}')
                return True
            handler = self.COMMANDS[close[0]]
        try:
            handler(self, rest)
        except Refused as error:
            text = str(error)
            self.say(text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", ")")) else "."))
        except Ended:
            self.show_output()
            status = self.debugger.process.poll()
            shown = "" if status is None else f" (exit status {status})"
            self.say(f"The program has crashed or was killed{shown}.")
        return True

    def stops(self) -> dict:
        return {"breakpoints": True, "watches": True, "findings": self.findings}

    def move(self, forwards: bool, **goal: object) -> None:
        self.debugger.move(forwards, **goal)
        self.show_stop()

    def depth(self) -> int:
        """The depth of calls of the thread in focus."""
        stop = self.debugger.stop
        depth = stop.get("depth", 0)
        if "focus" in stop and self.focus != stop["focus"]:  # another thread than the one that has stopped
            depth += 64 * (len(self.frames()) - 1 - (depth >> 6))
        return depth

    def step_once(self, forwards: bool, depth: int | None) -> None:
        if "focus" in self.debugger.stop:
            self.debugger.step(forwards, self.focus, depth, self.findings)
        else:  # after a launch: to the first line of the next one, or the last line before
            self.debugger.move(forwards, step={"any": True}, findings=self.findings)
        self.show_stop()

    def step(self, rest: str, forwards: bool = True, over: bool = False) -> None:
        for _k in range(self.number(rest or "1")):
            self.step_once(forwards, self.depth() if over else None)
            stop = self.debugger.stop
            if "focus" not in stop or any(w["kind"] != "step" for w in stop["why"]):
                break

    def finish(self, rest: str, forwards: bool = True) -> None:
        self.step_once(forwards, self.depth() - 1)

    def proceed(self, rest: str, forwards: bool = True) -> None:
        self.move(forwards, **self.stops())

    def barrier(self, rest: str, forwards: bool = True) -> None:
        goal = {"barriers": True, **self.stops()}
        if "block" in self.focus:
            goal["barrier_block"] = self.focus["block"]
        self.move(forwards, **goal)

    def launch(self, rest: str, forwards: bool = True) -> None:
        self.move(forwards, launches=True, findings=self.findings)

    def goto(self, rest: str) -> None:
        if not rest.isdigit():
            raise Refused("goto takes a time, as each stop shows it")
        self.debugger.goto(int(rest))
        self.show_stop()

    def wrong(self, rest: str) -> None:
        self.debugger.first_wrong_store()
        self.show_stop()

    def restart(self, rest: str) -> None:
        self.debugger.goto(self.debugger.first_time, [{"kind": "launch"}])
        self.show_stop()

    def add_break(self, rest: str) -> None:
        match = re.fullmatch(r"(?:(?:(.+):)?(\d+)|([A-Za-z_][\w:]*(?:<.*>)?))(?:\s+if\s+(.+))?", rest)
        if not match:
            raise Refused("a breakpoint is written [FILE:]LINE or FUNCTION, and perhaps if CONDITION")
        file, number, function, condition = match.groups()
        if file is None and function is None:
            place = self.debugger.stop.get("place")
            file = place["file"] if place and place["file"] else ""
        made = self.debugger.add_breakpoint(file, int(number or 0), function, condition)
        wanted, more = function or f"line {number}", ""
        try:
            found = self.debugger.set_up()[str(made)]
        except Refused:
            found = None
        if found and found["line"]:
            wanted = at(found)
            more = "" if function or found["line"] == int(number) else f" (line {number} has no code)"
            more += f", if {condition}" if condition else ""
        elif found and function:
            more = ", which no kernel that has been launched so far is or calls as a function of its own"
        elif found:
            more = ", where no kernel that has been launched so far has code"
        self.say(f"Breakpoint {made} at {wanted}{more}.")

    def add_watch(self, rest: str) -> None:
        if not rest:
            raise Refused("watch takes a variable or another expression")
        where = self.address(rest)
        made = self.debugger.add(self.debugger.watches, {**where, "text": rest})
        self.say(f"Watch {made}: {rest}, now {where['now']}.")

    def delete(self, rest: str) -> None:
        number = int(rest) if rest.isdigit() else 0
        for table in (self.debugger.breakpoints, self.debugger.watches):
            if table.pop(number, None):
                self.debugger.is_set_up = False
                return self.say(f"Deleted {number}.")
        raise Refused('delete takes the number of a breakpoint or a watch ("info breakpoints")')

    def set_findings(self, rest: str) -> None:
        if rest not in ("on", "off"):
            raise Refused("findings on, or findings off")
        self.findings = rest == "on"

    # --- looking

    def thread(self) -> dict:
        return {**self.focus, "frame": self.frame}

    def print_value(self, rest: str) -> None:
        reply = self.debugger.ask({"do": "value", "expression": rest, **self.thread()})
        self.say(f"{rest} = {reply['text']}")

    def address(self, rest: str) -> dict:
        """Where an expression's value is in memory."""
        return self.debugger.ask({"do": "address", "expression": rest, **self.thread()})

    def lanes(self, rest: str) -> None:
        expressions = split_expressions(rest) or [
            v["name"]
            for v in self.locals()
            if "text" in v and not v["type"].endswith("*") and v["text"][0] != "{"
        ]
        columns = []
        ask = self.debugger.ask if len(expressions) == 1 else self.debugger.request
        for expression in expressions:
            reply = ask({"do": "value", "lanes": True, "expression": expression, **self.thread()})
            if "error" in reply:
                self.say(f"{expression}: {reply['error']}")
            else:
                columns.append((expression, reply["lanes"]))
        if not columns:
            return
        groups, stop = list(zip(string.ascii_lowercase, self.groups_of_warp())), self.debugger.stop
        letters = {}
        for letter, group in groups:
            letters.update({lane: letter for lane in range(32) if group["mask"] >> lane & 1})
        active = stop.get("mask", 0) if self.focus["warp"] == stop["focus"]["warp"] else 0
        # As many parts of the table side by side, at most four, as 80 columns hold.
        widths = [max(len(name), *(len(v or "-") for v in values)) for name, values in columns]
        width = 6 + sum(w + 2 for w in widths)
        sides = max(1, min(4, 80 // (width + 3)))
        height = -(-32 // sides)
        head = "lane  " + "".join(name.rjust(w) + "  " for (name, _), w in zip(columns, widths))
        self.say("   ".join([head] * sides))
        for row in range(height):
            parts = []
            for side in range(sides):
                lane = side * height + row
                if lane < 32:
                    mark = letters.get(lane, " ") if len(groups) > 1 else ""
                    star = ">" if active >> lane & 1 else " "
                    shown = [(values[lane] if lane in letters else None) or "-" for _, values in columns]
                    cells = "".join(text.rjust(w) + "  " for text, w in zip(shown, widths))
                    parts.append(f"{star}{lane:2}{mark:1}  {cells}")
            self.say("   ".join(parts))
        if len(groups) > 1:
            for letter, group in groups:
                self.say(f"{letter}: lanes {ranges(group['mask'])} at {at(group)}{self.waits(group)}")
        if len(letters) < 32:
            self.say(f"-: {plural(32 - len(letters), 'lane')} without a thread, or ended")

    @staticmethod
    def waits(group: dict) -> str:
        words = {"barrier": ", waiting at a barrier", "warp": ", waiting for other lanes"}
        return words.get(group["waits"], "")

    def groups_of_warp(self) -> list[dict]:
        for block in self.debugger.ask({"do": "threads"})["blocks"]:
            if block["block"] == self.focus["block"]:
                return block["warps"][self.focus["warp"]]["groups"]
        return []

    def locals(self) -> list[dict]:
        return self.debugger.ask({"do": "locals", **self.thread()})["locals"]

    def array(self, rest: str) -> None:
        match = re.fullmatch(r"(.*?)(?:\s+(\d+))?(?:\s+(\d+))?", rest)
        expression, first, count = match.group(1), int(match.group(2) or 0), int(match.group(3) or 64)
        reply = self.debugger.ask(
            {"do": "array", "expression": expression, "first": first, "count": count, **self.thread()}
        )
        elements = reply["elements"]
        block = self.focus["block"] if reply["address"] >= 1 << 56 else ""
        key = f"{expression} {reply['address']} {first} {block}"
        before = self.seen_arrays.get(key, [])
        self.seen_arrays[key] = elements
        changed = [old != new for old, new in zip(before, elements)] + [False] * len(elements)
        cells = [text + ("*" if new else " ") for text, new in zip(elements, changed)]
        width = max((len(c) for c in cells), default=1) + 1
        per_row = max(n for n in (1, 2, 4, 8, 16, 32) if n * width + 8 <= 80 or n == 1)
        if reply["row"] and reply["row"] * width + 8 <= 80:
            per_row = reply["row"]
        for k in range(0, len(cells), per_row):
            self.say(f"[{first + k}]".rjust(7) + "".join(c.rjust(width) for c in cells[k : k + per_row]))
        shown = ""
        if 0 < len(elements) < reply["total"]:
            shown = f"; elements {first} to {first + len(elements) - 1} are shown"
        self.say(f"{plural(reply['total'], 'element')} of type {reply['type']}{shown}.")

    def written(self, rest: str) -> None:
        where = self.address(rest)
        stop = self.debugger.stop
        found = self.debugger.last_writes([where], stop["time"])
        self.debugger.goto(stop["time"])
        self.debugger.stop = stop
        how = "no kernel has written it since the first launch"
        if found:
            time = found[0]["time"]
            how = f'written by {found[0]["who"]}, at time {time} ("goto {time}" goes there)'
        self.say(f"{rest} = {where['now']}: {how}.")

    def info(self, rest: str) -> None:
        if rest in ("breakpoints", "break", "b", "watches"):
            for b in self.debugger.breakpoints.values():
                condition = f" if {b['condition']}" if b["condition"] else ""
                self.say(f"{b['id']:3}  {b['function'] or at(b)}{condition}")
            for w in self.debugger.watches.values():
                self.say(f"{w['id']:3}  watch {w['text']}")
            if not self.debugger.breakpoints and not self.debugger.watches:
                self.say("There are none.")
        elif rest in ("locals", "l", ""):
            for v in self.locals():
                shared = "__shared__ " if v["shared"] else ""
                self.say(f"{v['name']} = {v.get('text', '(no value here)')}   ({shared}{v['type']})")
        elif rest in ("threads", "t"):
            self.info_threads()
        elif rest == "launch":
            self.show_reason({"kind": "launch"})
        else:
            raise Refused("info locals, info threads, info breakpoints or info launch")

    def info_threads(self) -> None:
        f = self.focus
        for block in self.debugger.ask({"do": "threads"})["blocks"]:
            index = f" ({', '.join(map(str, block['index']))})" if any(block["index"][1:]) else ""
            self.say(f"block {block['block']}{index}")
            for warp in block["warps"]:
                name = f"warp {warp['warp']:2}  "
                if not warp["groups"]:
                    self.say(f"  {name}ended")
                own = (block["block"], warp["warp"]) == (f["block"], f["warp"])
                for group in warp["groups"]:
                    mark = ">" if own and group["mask"] >> f["lane"] & 1 else " "
                    lanes = f"{ranges(group['mask']):10}"
                    self.say(f" {mark}{name}lanes {lanes} {at(group)}{self.waits(group)}")

    def frames(self) -> list[dict]:
        return self.debugger.ask({"do": "frames", **self.focus})["frames"]

    def where(self, rest: str) -> None:
        for k, frame in enumerate(self.frames()):
            self.say(f"{'>' if k == self.frame else ' '}{k}  {frame['function']}  {at(frame)}")

    def up(self, rest: str, by: int = 1) -> None:
        frames = self.frames()
        if not frames:
            raise Refused("this thread has ended")
        if not 0 <= self.frame + by < len(frames):
            raise Refused("there is no frame further out" if by > 0 else "there is no frame further in")
        self.frame += by
        self.where(rest)

    def list(self, rest: str) -> None:
        place = self.debugger.stop.get("place")
        frames = self.frames() if place else []
        if frames:
            place = frames[min(self.frame, len(frames) - 1)]
        if not place or not place["line"]:
            raise Refused("there is no source line here")
        lines = linecache.getlines(place["file"])
        first = int(rest) - 5 if rest.isdigit() else (self.listed or place["line"] - 5)
        first = max(first, 1)
        for number in range(first, min(first + 11, len(lines) + 1)):
            mark = ">" if number == place["line"] else " "
            self.say(f"{mark}{number:4}  {lines[number - 1].rstrip()}"[:80])
        self.listed = first + 11

    def look(self, **focus: int) -> None:
        if not self.focus:
            raise Refused("no kernel is running here")
        before = dict(self.focus)
        self.focus.update(focus)
        self.frame = 0
        try:
            frames = self.frames()
        except Refused:
            self.focus = before
            raise
        self.say(f"{self.position()}: {at(frames[0]) if frames else 'ended, or no such thread'}")

    def number(self, rest: str) -> int:
        if not rest.isdigit():
            raise Refused("a number is missing")
        return int(rest)

    def look_at_thread(self, rest: str) -> None:
        numbers = rest.split()
        if not numbers or len(numbers) > 2:
            raise Refused("thread T, or thread T BLOCK")
        t = self.number(numbers[0])
        block = {"block": self.number(numbers[1])} if len(numbers) == 2 else {}
        self.look(warp=t // 32, lane=t % 32, **block)

    def help(self, rest: str) -> None:
        self.say(HELP)

    # By names and abbreviations.
    COMMANDS = {
        "break b": add_break,
        "watch": add_watch,
        "delete d": delete,
        "findings": set_findings,
        "continue c": proceed,
        "step s": step,
        "next n": lambda self, rest: self.step(rest, over=True),
        "finish": finish,
        "barrier": barrier,
        "launch": launch,
        "goto": goto,
        "wrong": wrong,
        "restart run": restart,
        "reverse-continue rc": lambda self, rest: self.proceed(rest, False),
        "reverse-step rs back": lambda self, rest: self.step(rest, False),
        "reverse-next rn": lambda self, rest: self.step(rest, False, True),
        "reverse-finish": lambda self, rest: self.finish(rest, False),
        "reverse-barrier": lambda self, rest: self.barrier(rest, False),
        "reverse-launch": lambda self, rest: self.launch(rest, False),
        "print p": print_value,
        "lanes": lanes,
        "array x": array,
        "written": written,
        "info i": info,
        "where bt backtrace": where,
        "up": up,
        "down": lambda self, rest: self.up(rest, -1),
        "list l": list,
        "thread": look_at_thread,
        "help h": help,
        "lane": lambda self, rest: self.look(lane=self.number(rest)),
        "warp": lambda self, rest: self.look(warp=self.number(rest)),
        "block": lambda self, rest: self.look(block=self.number(rest), warp=0, lane=0),
    }
    COMMANDS = {name: command for names, command in COMMANDS.items() for name in names.split()}

    def loop(self, lines, interactive: bool) -> None:
        prompt = "(debug) "
        while True:
            try:
                if interactive:
                    line = input(prompt)
                else:
                    line = next(lines)
                    self.say(prompt + line.rstrip("\n"))
            except (EOFError, StopIteration):
                break
            except KeyboardInterrupt:
                self.say('\n"quit" ends the session.')
                continue
            if not self.command(line):
                break


def split_expressions(text: str) -> list[str]:
    """At commas outside of brackets."""
    parts, depth, current = [], 0, ""
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append(current.strip())
            current = ""
        else:
            current += c
    return [p for p in [*parts, current.strip()] if p]
