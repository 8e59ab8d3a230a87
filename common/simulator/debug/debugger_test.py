#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Drives the debugger over programs of programs/: sessions of the terminal, and random walks in time.

usage: debugger_test.py LIBRARY_FOLDER PROGRAM_FOLDER
Environment: WALKS is the number of random walks for each program (3).
"""

import faulthandler
import os
import pathlib
import random
import signal
import sys
import threading
import unittest

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "testing")]
import session
from terminal import ranges, split_expressions

LIBRARIES, PROGRAMS = sys.argv[1], pathlib.Path(sys.argv[2])
SOURCES = HERE / "programs"
WALKS = int(os.environ.get("WALKS", "3"))


def line_of(program: str, text: str) -> int:
    """The number of the first line of the program that contains `text`."""
    lines = (SOURCES / f"{program}.cu").read_text().splitlines()
    return next(k for k, line in enumerate(lines, 1) if text in line)


def Session(program: str, *arguments: str) -> session.Session:
    return session.Session(LIBRARIES, str(PROGRAMS / program), *arguments)


class Terminals(unittest.TestCase):
    def test_stops_at_the_first_launch_with_its_parameters(self):
        with Session("tree_sum") as s:
            self.assertIn("grid (2, 1, 1), blocks of (64,", s.first)
            self.assertEqual(s.do("p n"), "n = 128\n")
            self.assertEqual(s.do("print blockDim.x * gridDim.x"), "blockDim.x * gridDim.x = 128\n")

    def test_breakpoints_with_conditions_pick_the_lane(self):
        with Session("tree_sum") as s:
            line = line_of("tree_sum", "T other =")
            s.do(f"break {line} if tid == 3 && blockIdx.x == 1 && s == 8")
            self.assertIn("block 1, warp 0, lane 3; active lanes 0-7", s.do("continue"))
            self.assertEqual(s.do("p s"), "s = 8\n")
            self.assertEqual(s.do("p tid + s"), "tid + s = 11\n")

    def test_a_line_without_code_takes_the_next(self):
        with Session("tree_sum") as s:
            line = line_of("tree_sum", "Pair p;")
            self.assertIn("has no code", s.do(f"break {line}"))
            s.do("c")
            self.assertEqual(s.debugger.stop["place"]["line"], line + 1)

    def test_next_steps_over_calls_and_step_into(self):
        with Session("tree_sum") as s:
            line = line_of("tree_sum", "out[blockIdx.x] =")
            s.do(f"break {line}")
            s.do("c")
            s.do("step")
            self.assertEqual(s.debugger.stop["place"]["line"], line_of("tree_sum", "T y = x + x"))
            self.assertIn("twice<int>", s.do("where"))
            s.do("back")
            self.assertEqual(s.debugger.stop["place"]["line"], line)
            s.do("delete 1")
            s.do("next")
            self.assertGreater(s.debugger.stop["place"]["line"], line)
            self.assertEqual(s.debugger.stop["depth"], 0)

    def test_recursion_shows_every_frame(self):
        with Session("tree_sum") as s:
            s.do(f"break {line_of('tree_sum', 'if (n <= 1)')} if n == 1")
            s.do("c")
            self.assertEqual(s.do("where").count("factorial"), 4)
            s.do("up")
            self.assertEqual(s.do("p n"), "n = 2\n")
            s.do("up")
            s.do("up")
            self.assertEqual(s.do("p n"), "n = 4\n")
            s.do("up")
            self.assertEqual(s.do("p tid"), "tid = 0\n")
            s.do("finish")
            self.assertEqual(s.do("where").count("factorial"), 3)

    def test_arrays_mark_what_has_changed(self):
        with Session("tree_sum") as s:
            line = line_of("tree_sum", "s_data[tid] += other")
            s.do(f"break {line} if s == 32")
            s.do("c")
            self.assertNotIn("*", s.do("array s_data"))
            s.do("next")
            text = s.do("array s_data")
            self.assertIn("[0] 32* 34*", text)
            self.assertIn("[32] 32  33 ", text)
            self.assertEqual(
                s.do("x in 126"),
                "  [126] 126  127\n128 elements of type int; elements 126 to 127 are shown.\n",
            )

    def test_watch_and_written_name_the_writer(self):
        with Session("tree_sum") as s:
            line = line_of("tree_sum", "s_data[tid] += other")
            s.do("barrier")
            s.do("watch s_data[5]")
            self.assertIn(f"written by thread 5 of block 0 at tree_sum.cu:{line}", s.flat("c"))
            self.assertEqual(s.do("p s_data[5]"), "s_data[5] = 42\n")
            before = s.debugger.stop["time"]
            self.assertIn(f"thread 5 of block 0 at tree_sum.cu:{line}", s.flat("written s_data[5]"))
            self.assertEqual(s.debugger.stop["time"], before)
            self.assertIn(f"tree_sum.cu:{line_of('tree_sum', 's_data[tid] = in')}", s.flat("rc"))
            self.assertIn("no kernel has written it", s.do("written in[3]"))

    def test_a_store_of_the_same_value_does_not_stop(self):
        with Session("divergence") as s:
            line, again = (line_of("divergence", text) for text in ("out[lane] = value;", "value | 0"))
            s.do("watch out[3]")
            text = s.flat("c")
            self.assertIn(f"to 103, written by thread 3 of block 0 at divergence.cu:{line}", text)
            self.assertIn("has ended", s.do("c") + s.do("c"))
            s.do(f"break {again}")
            s.do("rc")
            s.do("rc")
            s.do("next")
            # Who wrote it last is another question.
            self.assertIn(
                f"written by thread 3 of block 0 at divergence.cu:{again}", s.flat("written out[3]")
            )

    def test_functions_take_breakpoints(self):
        with Session("tree_sum") as s:
            self.assertIn("Breakpoint 1 at tree_sum.cu:", s.do("break sum if blockIdx.x == 1"))
            self.assertIn("Breakpoint 2 at tree_sum.cu:", s.do("break twice"))
            self.assertIn("no kernel that has been launched so far is or calls", s.flat("break nothing"))
            self.assertIn("twice", s.do("info breakpoints"))
            found = s.do("c")
            while "Breakpoint 2" not in found:
                self.assertEqual(s.do("p blockIdx.x"), "blockIdx.x = 1\n")
                found = s.do("c")
            self.assertIn("twice<int>", s.do("where"))
            self.assertEqual(s.debugger.stop["place"]["line"], line_of("tree_sum", "T y = x + x"))

    def test_barriers_stop_forwards_and_backwards(self):
        with Session("tree_sum") as s:
            s.do("barrier")
            first = s.debugger.stop["time"]
            self.assertIn("warp  1  lanes 0-31", s.do("info threads"))
            s.do("barrier")
            second = s.debugger.stop["time"]
            s.do("reverse-barrier")
            self.assertEqual(s.debugger.stop["time"], first)
            s.do(f"goto {second}")
            self.assertEqual(s.debugger.stop["time"], second)

    def test_lanes_show_divergence(self):
        with Session("divergence") as s:
            s.do(f"break {line_of('divergence', 'if (lane > 16)')}")
            s.do("c")
            text = s.do("lanes lane, value")
            self.assertIn("> 2a", text)
            self.assertIn("a: lanes 2,5,8,11,14,17,20,23,26,29", text)
            self.assertIn("active lanes 17,20,23,26,29", s.do("step") + s.do("step"))

    def test_one_line_loops_stop_in_every_round(self):
        with Session("divergence") as s:
            s.do(f"break {line_of('divergence', 'for (int i = 0')} if i == 2 && lane == 3")
            self.assertIn("warp 0, lane 3", s.do("c"))
            self.assertEqual(s.do("p i"), "i = 2\n")

    def test_inactive_threads_can_be_looked_at(self):
        with Session("divergence") as s:
            s.do(f"break {line_of('divergence', 'value = -value')}")
            s.do("c")
            s.do("lane 3")
            self.assertEqual(s.do("p value"), "value = 103\n")
            self.assertIn("no such thread", s.do("thread 60"))
            self.assertIn("no such thread", s.do("warp 7"))

    def test_members_references_and_globals_print(self):
        with Session("functors") as s:
            s.do(f"break {line_of('functors', 'const bool is_green')}")
            s.do("c")
            self.assertEqual(s.do("p op"), "op = {scale = 2, offset = 1}\n")
            self.assertEqual(s.do("p op.scale * 2"), "op.scale * 2 = 4\n")
            self.assertEqual(s.do("p matrix[1][2]"), "matrix[1][2] = 21\n")
            self.assertEqual(s.do("p shapes::weight"), "shapes::weight = 0.5\n")
            self.assertEqual(s.do("p color"), "color = Color::red\n")
            self.assertEqual(
                s.do("thread 9"),
                f"block 0, warp 0, lane 9: functors.cu:{line_of('functors', 'const bool is_green')}\n",
            )
            self.assertEqual(s.do("p threadIdx"), "threadIdx = {x = 1, y = 1, z = 0}\n")
            self.assertEqual(s.do("p row[1]"), "row[1] = 1.5\n")
            self.assertIn("32 elements of type double", s.do("x row"))
            s.do(f"break {line_of('functors', 'const T product')}")
            s.do("launch")
            s.do("c")
            self.assertEqual(s.do("p scale"), "scale = 2\n")  # through `this`

    def test_output_appears_once_in_spite_of_going_back(self):
        with Session("functors") as s:
            s.do("launch")
            self.assertEqual(s.debugger.stop["launch"], 2)
            text = s.do("reverse-launch") + s.do("c") + s.do("c") + s.do("c")
            self.assertNotIn("launch 1 is done", text)
            self.assertEqual(text.count("launch 2 is done"), 1)
            self.assertIn("The program has ended", text)
            self.assertIn("block 0", s.do("reverse-step"))
            self.assertEqual(s.debugger.stop["launch"], 2)

    def test_printf_appears_once_when_its_launch_has_ended(self):
        with Session("prints") as s:
            s.do(f"break {line_of('prints', 'round += 10')}")
            self.assertNotIn("round 0", s.do("c") + s.do("reverse-next") + s.do("restart"))
            text = s.do("delete 1") + s.do("launch")
            self.assertEqual((text.count("program: round 0"), text.count("program: last of")), (2, 1))
            self.assertIn("program: host 0", text)
            text = s.do("reverse-launch") + s.do("c") + s.do("c")
            self.assertEqual((text.count("round 0"), text.count("round 1"), text.count("host 1")), (0, 2, 1))

    def test_findings_and_faults_stop_where_they_happen(self):
        with Session("faulty") as s:
            text = s.do("c")
            self.assertIn("Finding:", text)
            self.assertIn("s_data[", text)
            self.assertEqual(s.debugger.stop["place"]["line"], line_of("faulty", "const int neighbour"))
            text = s.do("findings off") + s.do("c")
            self.assertNotIn("Fault", text)
            s.do("restart")
            s.do("findings on")
            text = s.do("c") + s.do("c")
            while "Fault" not in text and "exited" not in s.debugger.stop:
                text = s.do("c")
            self.assertIn("outside of any allocation", text)
            self.assertEqual((s.debugger.stop["focus"]["warp"], s.debugger.stop["focus"]["lane"]), (1, 31))

    def test_cooperative_groups_step_in_the_authors_lines(self):
        with Session("groups") as s:
            s.do("barrier")  # inside of grid.sync(), whose code is the toolkit's
            self.assertEqual(s.debugger.stop["place"]["line"], line_of("groups", "grid.sync()"))
            s.do("restart")
            s.do(f"break {line_of('groups', 'grid.sync()')} if blockIdx.x == 2")
            self.assertIn("block 2", s.do("c"))
            self.assertEqual(s.do("p value"), f"value = {sum(range(64, 80))}\n")
            s.do("next")
            self.assertEqual(
                s.debugger.stop["place"]["line"], line_of("groups", "if (grid.thread_rank() == 0)")
            )
            self.assertIn("groups.cu", s.do("where"))

    def test_blocks_that_wait_for_each_other_are_stepped(self):
        with Session("look_back") as s:
            s.do(f"break {line_of('look_back', 'before = prefix')} if block == 5")
            self.assertIn("block 5", s.do("c"))
            s.do("next")
            self.assertEqual(s.do("p before"), f"before = {sum(i % 7 for i in range(160))}\n")

    def test_one_can_go_back_after_a_crash(self):
        with Session("endings", "crashes") as s:
            self.assertIn("crashed", s.do("c"))
            self.assertIn("The program has ended", s.do("p tid"))
            self.assertIn("endings.cu", s.do("reverse-step"))
            self.assertEqual(s.do("p tid"), "tid = 32\n")

    def test_programs_with_threads_only_go_forwards(self):
        with Session("endings", "threads") as s:
            s.do("next")
            self.assertIn("several threads", s.do("reverse-next"))
            self.assertEqual(s.do("p tid"), "tid = 0\n")

    def test_an_endless_loop_is_interrupted(self):
        with Session("endings", "spins") as s:
            s.do("findings off")
            threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT]).start()
            self.assertIn("Interrupted.", s.do("c"))
            self.assertEqual(s.debugger.stop["place"]["line"], line_of("endings", "while (spins"))
            s.do("reverse-step")
            self.assertEqual(s.debugger.stop["place"]["line"], line_of("endings", "while (spins"))

    def test_a_split_barrier_is_found_at_its_line(self):
        with Session("endings", "splits") as s:
            self.assertIn("is not reached by all threads", " ".join(s.do("c").split()))
            self.assertEqual(s.debugger.stop["place"]["line"], line_of("endings", "if (tid < 16)"))

    def test_programs_without_kernels_say_so(self):
        with Session("endings", "nothing") as s:
            self.assertIn("after 0 launches", s.first)
            self.assertIn("No kernel was launched", s.do("rc"))

    def test_wrong_commands_say_what_to_do(self):
        with Session("tree_sum") as s:
            for command, words in [
                row.split(": ")
                for row in (
                    "p nothing: no variable; p tid +: missing; p 1 / 0: division; frobnicate: help; "
                    "break: LINE; delete 9: info breakpoints; goto x: time; goto 0: first launch; "
                    "watch nothing: no variable; watch: expression; watch tid: register; "
                    "written tid: register; finish: kernel itself; s x: number; block 77: not running; "
                    "p *n: pointer; info nothing: info locals; wrong: only a lab's case"
                ).split("; ")
            ]:
                with self.subTest(command=command):
                    self.assertIn(words.lower(), s.do(command).lower())

    def test_masks_and_lists_are_written_shortly(self):
        self.assertEqual(ranges(0b1011), "0-1,3")
        self.assertEqual(ranges(0xFFFFFFFF), "0-31")
        self.assertEqual(split_expressions("a, f[b, c], (d, e)"), ["a", "f[b, c]", "(d, e)"])


class Walks(unittest.TestCase):
    """At the same time there is the same state, whichever way leads there."""

    def walk(self, program: str, seed: int) -> None:
        dice = random.Random(seed)
        with Session(program) as s:
            s.do("findings off")
            states: dict[int, str] = {}
            kinds = "step next barrier reverse-step reverse-next reverse-barrier goto thread".split()
            for _ in range(25):
                kind = dice.choice(kinds)
                stop = s.debugger.stop
                if kind == "goto" and states:
                    s.do(f"goto {dice.choice(list(states))}")
                elif kind == "thread" and "focus" in stop:
                    s.do(f"lane {dice.randrange(32)}")
                else:
                    s.do(kind)
                if "exited" in s.debugger.stop:
                    s.do("rc")
                    continue
                time, state = s.state()
                self.assertEqual(time, s.debugger.stop["time"])
                self.assertEqual(states.setdefault(time, state), state, f"{program}, seed {seed}, {kind}")
            # Backwards step by step gives what forwards step by step gave.
            s.do("restart")
            times = []
            for _ in range(8):
                s.do("step")
                if "focus" not in s.debugger.stop:
                    break
                times.append(s.debugger.stop["time"])
            s.do(f"goto {times[-1]}")
            for time in reversed(times[:-1]):
                s.do("reverse-step")
                self.assertEqual(s.debugger.stop["time"], time, f"{program}, seed {seed}")

    def test_the_same_time_is_the_same_state(self):
        for program in ["tree_sum", "divergence", "functors", "faulty", "groups", "look_back"]:
            for seed in range(WALKS):
                with self.subTest(program=program, seed=seed):
                    self.walk(program, seed)


faulthandler.dump_traceback_later(550, exit=True)
unittest.main(argv=sys.argv[:1], verbosity=2)
