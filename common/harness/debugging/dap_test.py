#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A client of the Debug Adapter Protocol drives the adapter, as an editor does.

usage: dap_test.py BUILD_FOLDER
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(sys.argv[1])
HERE = pathlib.Path(__file__).resolve().parent
SIMULATOR = HERE.parents[1] / "simulator/debug"
sys.path.insert(0, str(HERE))
import debug

SOURCE = SIMULATOR / "programs/tree_sum.cu"


def built(program: str) -> str:
    """A program of programs/, here or of the simulator."""
    folders = [BUILD / "common" / name for name in ("simulator/debug", "harness/debugging")]
    return str(next((f / program for f in folders if (f / program).is_file()), folders[0] / program))


def line_of(text: str) -> int:
    return next(k for k, line in enumerate(SOURCE.read_text().splitlines(), 1) if text in line)


class Client:
    def __init__(self):
        environment = dict(os.environ, LAB_ROOT=str(HERE.parents[2]), LAB_BUILD=str(BUILD), SIM_QUIET="1")
        command = [sys.executable, str(HERE / "debug.py"), "--dap"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )
        self.sequence = 0
        self.events: list[dict] = []

    def receive(self) -> dict:
        length = 0
        while (line := self.process.stdout.readline().strip()) or not length:
            if line.startswith(b"Content-Length:"):
                length = int(line.split(b":")[1])
            elif not line and self.process.poll() is not None:
                raise EOFError
        return json.loads(self.process.stdout.read(length))

    def ask(self, command: str, **arguments) -> dict:
        self.sequence += 1
        body = json.dumps(
            {"seq": self.sequence, "type": "request", "command": command, "arguments": arguments}
        ).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()
        while True:
            message = self.receive()
            if message["type"] == "response" and message["request_seq"] == self.sequence:
                return message
            self.events.append(message)

    def wait(self, *names: str) -> dict:
        """The next event of one of these names; what came before it is passed over."""
        while True:
            message = self.events.pop(0) if self.events else self.receive()
            if message["type"] == "event" and message["event"] in names:
                return message

    def launch(self, program: str, **more) -> dict:
        self.ask("initialize", adapterID="lab-kernel")
        reply = self.ask("launch", program=built(program), **more)
        if reply["success"]:
            self.wait("initialized")
        return reply

    def go(self, command: str, thread: int = 0) -> dict:
        self.ask(command, threadId=thread)
        return self.wait("stopped", "terminated")

    def top(self, thread: int) -> dict:
        return self.ask("stackTrace", threadId=thread)["body"]["stackFrames"][0]

    def parts(self, of: dict) -> list[dict]:
        """Of a scope, an array or a struct."""
        return self.ask("variables", variablesReference=of["variablesReference"])["body"]["variables"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ask("disconnect")
        self.process.stdin.close()
        self.process.wait(20)
        self.process.stdout.close()


class LastGrade(unittest.TestCase):
    def test_wrong_begins_with_the_case_that_the_last_grade_found_wrong(self):
        with tempfile.TemporaryDirectory() as folder:
            kept = pathlib.Path(folder, "wrong_cases/scan.blelloch")
            kept.parent.mkdir()
            self.assertEqual(debug.case_of_last_grade(pathlib.Path(folder), "scan", "blelloch"), (None, None))
            kept.write_text("./lab grade scan --task blelloch --case sum_n3 --seed 7 --device sim\n")
            self.assertEqual(
                debug.case_of_last_grade(pathlib.Path(folder), "scan", "blelloch"), ("sum_n3", "7")
            )

    def test_an_editor_begins_there_too(self):
        for launch in ({"lab": "scan", "task": "blelloch"}, {"program": "wrong_sum"}):
            options = debug.options_of({**launch, "stopAtWrongStore": True})
            self.assertEqual(options.wrong, "lab" in launch)


class Emacs(unittest.TestCase):
    """A client that is not ours: Debian's emacs-nox with elpa-dap-mode."""

    @unittest.skipUnless(
        shutil.which("emacs") and any(pathlib.Path("/usr/share/emacs/site-lisp/elpa").glob("dap-mode-*")),
        "no dap-mode here: apt-get install emacs-nox elpa-dap-mode",
    )
    def test_dap_mode_drives_a_session(self):
        with tempfile.TemporaryDirectory() as home:
            command = ["emacs", "--batch", "-q", "-l", str(HERE / "dap_client.el")]
            environment = os.environ | {
                "HOME": home,
                "TMPDIR": home,
                "LAB_BUILD": str(BUILD),
                "SIM_QUIET": "1",
            }
            environment |= {"LAB_ROOT": str(HERE.parents[2]), "PYTHON": sys.executable, "SOURCE": str(SOURCE)}
            environment |= {"ADAPTER": str(HERE / "debug.py"), "PROGRAM": built("tree_sum")}
            environment |= {"LINE": str(line_of("T other ="))}
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        line = line_of("T other =")
        self.assertEqual(
            done.stdout.splitlines(),
            [
                f"launch: line {line}, sum<int> (lane 0)",
                "tid + s: 32",
                'nothing: no variable "nothing" is visible here ("info locals" lists them)',
                f"next: line {line + 1}, sum<int> (lane 0)",
                f"continue: line {line}, sum<int> (lane 0)",
                "ended",
            ],
            done.stderr,
        )


class Dap(unittest.TestCase):
    def test_a_session_as_an_editor_leads_it(self):
        with Client() as c:
            self.assertTrue(c.ask("initialize", adapterID="lab-kernel")["body"]["supportsStepBack"])
            self.assertTrue(c.ask("launch", program=built("tree_sum"), stopOnEntry=False)["success"])
            c.wait("initialized")
            line = line_of("T other =")
            made = c.ask(
                "setBreakpoints",
                source={"path": str(SOURCE)},
                breakpoints=[{"line": line, "condition": "tid == 5 && s == 8"}],
            )["body"]
            self.assertEqual([(b["verified"], b["line"]) for b in made["breakpoints"]], [(True, line)])
            c.ask("setExceptionBreakpoints", filters=[])
            c.ask("configurationDone")
            stopped = c.wait("stopped")["body"]
            self.assertEqual(stopped["reason"], "breakpoint")
            thread = stopped["threadId"]
            self.assertIn({"id": thread, "name": "block 0, warp 0"}, c.ask("threads")["body"]["threads"])
            frame = c.top(thread)
            self.assertEqual((frame["line"], frame["source"]["path"]), (line, str(SOURCE)))
            scopes = c.ask("scopes", frameId=frame["id"])["body"]["scopes"]
            variables = {v["name"]: v for v in c.parts(scopes[0])}
            self.assertEqual((variables["tid"]["value"], variables["s"]["value"]), ("5", "8"))
            self.assertEqual(len(c.parts(variables["s_data"])), 64)
            lanes = {v["name"]: v for v in c.parts(scopes[1])}
            self.assertEqual([v["value"] for v in c.parts(lanes["tid"])], [str(k) for k in range(32)])
            self.assertEqual(
                c.ask("evaluate", expression="tid + s", frameId=frame["id"])["body"]["result"], "13"
            )
            self.assertFalse(c.ask("evaluate", expression="nothing", frameId=frame["id"])["success"])

            c.ask("evaluate", expression="lane 7", frameId=frame["id"])
            self.assertEqual(c.go("next", thread)["body"]["reason"], "step")
            frame = c.top(thread)
            self.assertEqual(frame["line"], line + 1)
            self.assertEqual(
                c.ask("evaluate", expression="tid", frameId=frame["id"])["body"]["result"], "7", "that lane"
            )
            c.go("stepBack", thread)
            self.assertEqual(c.top(thread)["line"], line)
            info = c.ask("dataBreakpointInfo", name="s_data[5]")["body"]
            self.assertTrue(c.ask("setDataBreakpoints", breakpoints=[{"dataId": info["dataId"]}])["success"])
            self.assertEqual(c.go("reverseContinue", thread)["body"]["reason"], "data breakpoint")
            self.assertEqual(c.go("continue", thread)["body"]["reason"], "breakpoint")

    def test_what_an_earlier_stop_gave_out_is_refused(self):
        with Client() as c:
            c.launch("tree_sum")
            c.ask("configurationDone")
            thread = c.wait("stopped")["body"]["threadId"]
            frame = c.top(thread)["id"]
            scopes = c.ask("scopes", frameId=frame)["body"]["scopes"]
            c.go("next", thread)
            c.top(thread)
            old = scopes[0]["variablesReference"]
            for command, arguments in [
                ("scopes", {"frameId": frame}),
                ("variables", {"variablesReference": old}),
                ("evaluate", {"expression": "tid", "frameId": frame}),
                ("dataBreakpointInfo", {"name": "tid", "variablesReference": old}),
            ]:
                with self.subTest(command):
                    reply = c.ask(command, **arguments)
                    self.assertFalse(reply["success"])
                    self.assertIn("earlier stop", reply["message"])
            self.assertTrue(c.ask("scopes", frameId=c.top(thread)["id"])["success"])

    def test_requests_that_make_no_sense_get_an_error(self):
        with Client() as c:
            self.assertFalse(c.ask("threads")["success"])  # before a launch
            c.launch("tree_sum")
            c.ask("configurationDone")
            thread = c.wait("stopped")["body"]["threadId"]
            for command, arguments in [
                ("scopes", {}),
                ("scopes", {"frameId": 10**9}),
                ("variables", {"variablesReference": -1}),
                ("variables", {"variablesReference": "x"}),
                ("stackTrace", {"threadId": thread + 10**7}),
                ("stackTrace", {"threadId": None}),
                ("setDataBreakpoints", {"breakpoints": [{"dataId": "no such"}]}),
                ("setBreakpoints", {}),
                ("nonsense", {}),
            ]:
                with self.subTest(command, arguments=arguments):
                    self.assertFalse(c.ask(command, **arguments)["success"])
            c.process.stdin.write(b"Content-Length: 9\r\n\r\nnot JSON!")
            self.assertTrue(c.top(thread)["id"])

    def test_functions_and_elements_can_be_watched(self):
        with Client() as c:
            c.launch("tree_sum")
            c.ask("configurationDone")
            c.wait("stopped")
            made = c.ask("setFunctionBreakpoints", breakpoints=[{"name": "sum", "condition": "tid == 40"}])
            self.assertTrue(made["body"]["breakpoints"][0]["verified"])
            line = line_of("T other =")
            c.ask("setBreakpoints", source={"path": str(SOURCE)}, breakpoints=[{"line": line}])
            thread = c.go("continue")["body"]["threadId"]
            while c.top(thread)["line"] != line:
                thread = c.go("continue")["body"]["threadId"]
            c.ask("setFunctionBreakpoints", breakpoints=[])
            c.ask("setBreakpoints", source={"path": str(SOURCE)}, breakpoints=[])
            info = c.ask("dataBreakpointInfo", name="s_data[5]", frameId=c.top(thread)["id"])
            c.ask("setDataBreakpoints", breakpoints=[{"dataId": info["body"]["dataId"]}])
            stopped = c.go("continue")["body"]
            self.assertEqual(stopped["reason"], "data breakpoint")
            self.assertIn("s_data[5] changes from 5 to 42", stopped["text"])

    def test_steps_lead_into_functions_and_out_of_them(self):
        with Client() as c:
            c.launch("tree_sum")
            line = line_of("out[blockIdx.x] =")
            c.ask("setBreakpoints", source={"path": str(SOURCE)}, breakpoints=[{"line": line}])
            c.ask("configurationDone")
            self.assertEqual(c.wait("stopped")["body"]["reason"], "entry")
            thread = c.go("continue")["body"]["threadId"]
            c.go("stepIn", thread)
            self.assertTrue(c.top(thread)["name"].startswith("twice<int>"))
            c.go("stepOut", thread)
            self.assertTrue(c.top(thread)["name"].startswith("sum<int>"))

    def test_findings_are_exceptions_with_their_text(self):
        with Client() as c:
            c.launch("faulty", stopOnEntry=False)
            c.ask("setExceptionBreakpoints", filters=["findings"])
            c.ask("configurationDone")
            stopped = c.wait("stopped")["body"]
            self.assertEqual(stopped["reason"], "exception")
            self.assertIn("s_data[", stopped["text"])

    def test_the_output_of_programs_and_kernels_comes(self):
        for program, text, n in (("functors", "launch 2 is done", 1), ("prints", "round 1", 2)):
            with self.subTest(program=program), Client() as c:
                c.launch(program, stopOnEntry=False)
                c.ask("configurationDone")
                output = ""
                while (message := c.wait("output", "terminated"))["event"] == "output":
                    output += message["body"]["output"]
                self.assertEqual(output.count(text), n)

    def test_it_can_begin_at_the_store_of_a_wrong_value(self):
        with Client() as c:
            c.launch("wrong_sum", args=["reduction", "neighboured"], stopAtWrongStore=True)
            c.ask("configurationDone")
            stopped = c.wait("stopped")["body"]
            self.assertEqual(stopped["reason"], "exception")
            self.assertIn("d_out[0] becomes 22, expected is 25", stopped["text"])
            self.assertTrue(c.top(stopped["threadId"])["source"]["path"].endswith("wrong_sum.cu"))

    def test_the_extension_is_linked_where_vs_code_looks(self):
        with tempfile.TemporaryDirectory() as home:
            for _ in range(2):
                command = [HERE.parents[1] / "tools/vscode/install.sh"]
                subprocess.run(
                    command, check=True, env={**os.environ, "HOME": home}, stdout=subprocess.DEVNULL
                )
            for folder in (".vscode", ".vscode-server"):
                (linked,) = pathlib.Path(home, folder, "extensions").iterdir()
                described = json.loads((linked / "package.json").read_text())
                self.assertEqual(linked.name, "{publisher}.{name}-{version}".format(**described))
                self.assertTrue(
                    os.access(linked / described["contributes"]["debuggers"][0]["program"], os.X_OK)
                )

    def test_what_cannot_be_launched_is_refused_with_a_reason(self):
        with Client() as c:
            reply = c.launch("no_such_program")
            self.assertFalse(reply["success"])
            self.assertIn("no file", reply["message"])


unittest.main(argv=sys.argv[:1], verbosity=2)
