#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which work of several streams the checks report as unordered. Each case runs with all checks.

usage: ordering_test.py LIBRARY_FOLDER ORDERING_PROGRAM
"""

import re
import sys
import unittest
from pathlib import Path

import run_program

FOLDER, PROGRAM = sys.argv[1:3]
# The part of each message that names the two operations.
FAULTS = {
    "two_streams": (
        r"kernel fill.* \(stream 1\) writes and kernel copy.* \(stream 2\) reads the same 16384 bytes of "
        r"device memory, but"
    ),
    "two_writers": r"kernel fill.* \(stream 1\) writes and kernel fill.* \(stream 2\) writes the same 16384 bytes",
    "two_updates": r"kernel copy.* \(stream 1\) writes and kernel copy.* \(stream 2\) writes the same 16384 bytes",
    "event_too_early": r"kernel fill.* \(stream 1\) writes and kernel copy.* \(stream 2\) reads",
    "event_never_recorded": r"kernel fill.* \(stream 1\) writes and kernel copy.* \(stream 2\) reads",
    "event_recorded_too_late": r"kernel fill.* \(stream 1\) writes and kernel copy.* \(stream 2\) reads "
    r".*had not been recorded",
    "event_recorded_again": r"kernel fill.* \(stream 1\) writes and kernel copy.* \(stream 3\) reads",
    "event_recorded_again_in_a_graph": r"kernel fill.* \(stream 1\) writes and kernel copy.* \(a graph in stream 3\) reads",
    "waits_for_the_other_stream": r"kernel fill.* \(stream 1\) writes and kernel copy.* \(stream 2\) reads",
    "default_and_nonblocking": r"kernel fill.* \(stream 1\) writes and kernel copy.* \(the default stream\) reads",
    "memcpy_and_nonblocking": r"kernel fill.* \(stream 1\) writes and a copy \(the default stream\) reads the same 64 bytes",
    "memset_and_nonblocking": r"a memset \(the default stream\) writes and kernel copy.* \(stream 1\) reads",
    "copies_overtake": r"kernel fill.* \(stream 1\) writes and a copy \(stream 2\) reads",
    "one_element": r"kernel fill.* \(stream 1\) writes and kernel fill.* \(stream 2\) writes the same 4 bytes, from byte 8192 of",
    "atomics_and_a_reader": r"kernel count.* \(stream 1\) writes and kernel copy.* \(stream 2\) reads the same 4 bytes",
    "graph_without_an_edge": r"kernel fill.* \(a graph in stream 1\) writes and kernel copy.* "
    r"\(a graph in stream 1\) reads .*add a dependency",
    "pool_memory_freed_too_early": (
        r"kernel fill.* \(stream 1\) writes and cudaFreeAsync \(stream 2\) frees the same 16384 bytes of device memory"
    ),
    "pool_memory_used_too_early": r"cudaMallocAsync \(stream 1\) allocates and kernel fill.* "
    r"\(stream 2\) writes the same",
    "pool_memory_copied_too_early": (
        r"kernel fill.* \(the default stream\) writes and a copy \(stream 2\) reads the same 16384 bytes"
    ),
    "host_reads_managed_memory": (
        r"the host reads byte 400 of managed memory of 16384 bytes while kernel fill.* \(stream 1\), which "
        r"writes it, may still be under way"
    ),
    "host_reads_a_counter": r"the host reads byte 0 of managed memory .* while kernel count.* \(stream 1\), which writes it",
    "host_reads_after_another_stream": r"the host reads byte 400 of managed memory .* while kernel fill.* \(stream 1\)",
    "host_reads_a_copy": r"the host reads byte 16380 of page-locked memory of 16384 bytes while a copy \(stream 1\), which writes it",
    "host_writes_what_a_kernel_reads": r"the host writes byte 12 of managed memory .* while kernel copy.* \(stream 1\), which reads it",
    "host_writes_what_a_copy_reads": r"host-writes-during-copy .*the host writes byte 20 of page-locked memory .* while a copy",
    "graph_and_stream": r"kernel fill.* \(stream 2\) writes and kernel copy.* \(a graph in stream 1\) writes",
}


def run(*arguments, **variables):
    return run_program.run(FOLDER, PROGRAM, *arguments, **variables)


# Right uses of which something is not checked.
UNCHECKED = {
    "host_fills_the_next_buffer": "kernels, since none was launched",
    "host_learns_by_a_callback": (
        "whether what a function of cudaLaunchHostFunc accesses is in use by other host code"
    ),
}


class Ordering(unittest.TestCase):
    def test_unordered_work_is_reported_and_no_other(self):
        names = run()[1].split()
        self.assertEqual(set(FAULTS) - set(names), set())
        self.assertGreater(len(names), len(FAULTS) + 10)
        for name in names:
            for threads in ("1", "2"):
                with self.subTest(name=name, threads=threads):
                    code, _, err = run(name, SIM_CHECK="1", SIM_THREADS=threads)
                    if name in FAULTS:
                        self.assertEqual(code, 86, err)
                        self.assertRegex(re.sub(r"\s+", " ", err), FAULTS[name])
                        kind = "stream-race" if not name.startswith("host") else "host-"
                        self.assertIn(kind, err)
                        self.assertIn("checked: 1 error, 0 hints\n", err)
                    else:
                        said = "checked: nothing found"
                        if name in UNCHECKED:
                            said = f"not checked: {UNCHECKED[name]}\nsimulator: {said} in what was checked"
                        self.assertEqual((code, err), (0, f"simulator: {said}\n"))

    def test_waits_that_order_nothing_are_named(self):
        source = (Path(__file__).parent / "ordering.cu").read_text(encoding="utf-8").splitlines()

        def line_of(case, text):
            begin = source.index(f'    {{"{case}",')
            return next(n + 1 for n in range(begin, len(source)) if text in source[n])

        for case, marks in {
            "event_recorded_again": ("// first", "// again", "WaitEvent"),
            "event_recorded_again_in_a_graph": ("// first", "// again", "WaitEvent"),
            "event_never_recorded": ("WaitEvent",),
            "event_recorded_too_late": ("WaitEvent",),
        }.items():
            err = run(case, SIM_CHECK="1")[2]
            for mark in marks:
                self.assertIn(f"ordering.cu:{line_of(case, mark)}", err)

    def test_nothing_is_reported_unless_asked_for(self):
        self.assertEqual(run("two_streams"), (0, "", ""))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
