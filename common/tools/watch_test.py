#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of ./lab watch, with a program in place of the grader that waits as long as it is told."""

import http.client
import pathlib
import stat
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock
import urllib.error
import urllib.request

import watch
import watch_page

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "grader/page/browser"))
import chromium

SOURCE = """// top
__global__ void k01_first() {
  one;
}

Status first(const Job<T>& job) {
  launch;
}

__global__ void k02_second() {
  two;
}

Status second(const Job<T>& job) {
  launch;
}

// --- Given
Status run(const lab::Request& request) {
}
"""

# Notes what it was asked for and its end; answers after $(cat delay) seconds.
GRADER = """#!/usr/bin/env python3
import json, pathlib, signal, sys, time
here = pathlib.Path(__file__).parent
arguments = sys.argv[1:]
def note(what):
    with open(here / "notes", "a") as notes:
        notes.write(what + " " + " ".join(a for a in arguments if not a.startswith("/")) + "\\n")
def ended(*_):
    note("ended")
    sys.exit(143)
signal.signal(signal.SIGTERM, ended)
note("began")
time.sleep(float((here / "delay").read_text()))
verdict = (here / "verdict").read_text()
task = {"id": "second", "verdict": verdict, "message": "it is wrong", "points": 3, "max_points": 9, "cases_run": 4}
outs = [pathlib.Path(arguments[k + 1]) for k, word in enumerate(arguments) if word in ("--first", "--json")]
for out in sorted(outs, key=lambda out: ".first" not in out.name):
    part = out.with_suffix(".part")
    part.write_text(json.dumps({"labs": [{"tasks": [task], "points": 3, "max_points": 9}]}))
    part.rename(out)
pathlib.Path(arguments[arguments.index("--html") + 1]).write_text(f"<h1>{verdict}</h1>")
print("A small input that fails: n2" if verdict != "OK" else "")
"""


class Fake(unittest.TestCase):
    """A lab of two tasks, and the grader above."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        self.grader = self.root / "labcli"
        self.grader.write_text(GRADER)
        self.grader.chmod(self.grader.stat().st_mode | stat.S_IXUSR)
        (self.root / "labs/fake").mkdir(parents=True)
        self.file = self.root / "labs/fake/fake.cu"
        self.file.write_text(SOURCE)
        self.set(delay="0", verdict="OK")
        self.said = []
        self.watch = watch.Watch(self.root, self.grader, "fake", ["first", "second"], None, self.said.append)

    def tearDown(self):
        self.folder.cleanup()

    def set(self, **values):
        for name, value in values.items():
            (self.root / name).write_text(value)

    def began(self):
        """What was asked for. (Whether a stage is still there to be ended when its result is known depends on
        the load.)"""
        return [note for note in self.notes() if note.startswith("began")]

    def notes(self):
        path = self.root / "notes"
        return path.read_text().splitlines() if path.is_file() else []

    def saved_after(self, seconds):
        """Whether the file counts as saved when it has been looked at for so long."""
        end = time.monotonic() + seconds
        while not self.watch.changed() and time.monotonic() < end:
            time.sleep(0.01)
        return self.watch.changed()

    def wait_for_grader(self):
        while not self.began():
            time.sleep(0.01)

    def edit(self, old, new):
        self.file.write_text(self.file.read_text().replace(old, new, 1))


class Watching(Fake):
    def test_grades_the_edited_task_first_then_all(self):
        self.watch.source = SOURCE
        self.edit("two", "three")
        self.watch.on_save(self.folder.name)
        asked = [note.split("--device")[0] for note in self.began()]
        self.assertEqual(asked, ["began grade fake --task second ", "began grade fake "])
        self.assertIn("second: right in 4 short cases", "\n".join(self.said))
        self.assertEqual(len(self.watch.latencies), 1)

    def test_grades_only_the_task_that_was_asked_for(self):
        self.watch.only_task = "first"
        self.watch.on_save(self.folder.name)
        self.assertEqual([" ".join(note.split()[1:5]) for note in self.began()], ["grade fake --task first"])

    def test_the_next_save_ends_what_runs(self):
        self.set(delay="60")
        waiting = threading.Timer(1.0, lambda: self.edit("two", "four"))
        waiting.start()
        begin = time.monotonic()
        self.watch.on_save(self.folder.name)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertEqual([note.split()[0] for note in self.notes()], ["began", "ended"])
        self.assertTrue(self.saved_after(30))

    def test_shows_the_message_and_the_small_input_of_a_failure(self):
        self.set(verdict="WRONG_ANSWER")
        self.watch.on_save(self.folder.name)
        text = "\n".join(self.said)
        for words in ["first: WRONG_ANSWER", "it is wrong", "A small input that fails: n2"]:
            self.assertIn(words, text)
        self.assertEqual(len(self.began()), 2)  # first operator and type, then the lab

    def test_commands_in_messages_can_be_pasted(self):
        self.watch.show_message(
            "  again:  ./lab grade reduction --task neighboured --case product_i32_n70001_random --seed 14815593011046728194"
        )
        lines = self.said[-1].splitlines()
        self.assertEqual(len(lines), 2)
        self.assertTrue(lines[0].endswith(" \\"), lines)
        self.assertTrue(all(len(line) <= 80 for line in lines), lines)

    def test_says_what_changed_since_the_run_before(self):
        self.watch.last["second"] = ("OK", 9, 9)
        self.watch.on_save(self.folder.name)
        self.assertIn("second: OK 3/9", "\n".join(self.said))
        self.assertIn("before: OK 9/9", "\n".join(self.said))

    def test_a_grader_without_a_result_is_reported(self):
        self.grader.write_text("#!/bin/sh\necho no memory\nexit 1\n")
        self.watch.on_save(self.folder.name)
        self.assertIn("no memory", "\n".join(self.said))


class Saving(Fake):
    def setUp(self):
        super().setUp()
        self.watch.source = SOURCE

    def test_an_empty_file_is_not_a_save(self):
        for empty in ["", "\n \n"]:
            self.file.write_text(empty)
            with unittest.mock.patch.object(watch, "SECONDS_SETTLED_IF_UNFINISHED", 0):
                self.assertFalse(self.saved_after(0.2))
        self.watch.source = ""
        self.watch.on_save(self.folder.name)
        self.assertEqual(self.notes(), [])

    def test_a_part_of_the_file_waits_for_the_rest(self):
        with unittest.mock.patch.object(watch, "SECONDS_SETTLED_IF_UNFINISHED", 60):
            self.file.write_text(SOURCE.replace("two", "three")[:-60])
            self.assertFalse(self.saved_after(0.3))
            self.file.write_text(SOURCE.replace("two", "three"))
            self.assertTrue(self.saved_after(30))

    def test_an_unfinished_file_that_stays_is_graded(self):
        self.file.write_text(SOURCE.replace("two;\n}", "three;\n"))
        self.assertTrue(self.saved_after(30))

    def test_a_save_in_two_steps_grades_the_edited_task(self):
        self.set(delay="60")

        def in_two_steps():
            self.wait_for_grader()
            self.file.write_text("")
            time.sleep(0.4)
            self.file.write_text(SOURCE.replace("two", "three"))

        threading.Thread(target=in_two_steps).start()
        self.watch.only_task = "first"
        self.watch.on_save(self.folder.name)
        self.set(delay="0")
        self.watch.only_task = None
        self.watch.on_save(self.folder.name)
        asked = [note.split("--device")[0] for note in self.began()]
        self.assertEqual(asked[1], "began grade fake --task second ")

    def test_a_file_written_anew_as_it_was_ends_nothing(self):
        self.set(delay="1.5")

        def anew():
            self.wait_for_grader()
            self.file.write_text("")
            time.sleep(0.2)
            self.file.write_text(SOURCE)

        threading.Thread(target=anew).start()
        self.watch.only_task = "first"
        self.watch.on_save(self.folder.name)
        self.assertNotIn("saved again", "\n".join(self.said))
        self.assertIn("first: right in 4 short cases", "\n".join(self.said))


class Edits(unittest.TestCase):
    def test_a_line_belongs_to_the_task_whose_function_ends_next(self):
        tasks = ["first", "second"]
        for line in [1, 3, 7, 8, 9, 11, 18]:
            task = "first" if line < 9 else "second"
            self.assertEqual(watch.task_at(SOURCE, line, tasks), task, line)
        self.assertEqual(watch.task_at("int x;", 1, tasks), "first")

    def test_first_difference(self):
        self.assertEqual(watch.first_difference("a\nb\n", "a\nc\n"), 2)
        self.assertEqual(watch.first_difference("a\n", "a\nb\n"), 2)
        self.assertIsNone(watch.first_difference("a\n", "a\n"))


class Page(Fake):
    def setUp(self):
        super().setUp()
        self.address = watch_page.serve(self.watch, 0)

    def asked(self, path):
        return urllib.request.urlopen(self.address + path).read().decode()

    def test_shows_the_last_report_and_what_was_said_last(self):
        self.assertIn("Nothing has been graded yet", self.asked("report"))
        self.watch.on_save(self.folder.name)
        version, words = self.asked("now").split(" ", 1)
        self.assertIn("second: OK 3/9", words)
        self.assertEqual(self.asked(f"report?{version}"), "<h1>OK</h1>")

    def test_answers_only_requests_for_this_computer(self):
        port = int(self.address.rstrip("/").rsplit(":", 1)[1])
        for host, status in [
            ("127.0.0.1", 200),
            (f"localhost:{port}", 200),
            ("evil.example", 403),
            (f"evil.example:{port}", 403),
        ]:
            connection = http.client.HTTPConnection("127.0.0.1", port)
            connection.request("GET", "/now", headers={"Host": host})
            self.assertEqual(connection.getresponse().status, status, host)

    def test_knows_no_other_paths(self):
        for path in ["report/../../x", "trace?task=second", "etc/passwd"]:
            with self.assertRaises(urllib.error.HTTPError) as refused:
                self.asked(path)
            self.assertEqual(refused.exception.code, 404)

    @unittest.skipUnless(chromium.find(), "no chromium here")
    def test_a_new_report_takes_the_place_of_the_one_before(self):
        report = "document.querySelector('iframe').contentDocument?.body?.textContent"
        with chromium.Browser() as browser:
            page = browser.open(self.address, width=360)
            for verdict in ["OK", "WRONG_ANSWER"]:
                self.set(verdict=verdict)
                self.watch.source = ""
                self.watch.on_save(self.folder.name)
                while page.run(report) != verdict:
                    time.sleep(0.05)

    def test_listens_on_the_loopback_interface_alone(self):
        self.assertTrue(self.address.startswith("http://127.0.0.1:"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
