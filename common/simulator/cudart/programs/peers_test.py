#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kernels that access the memory of another device.

usage: peers_test.py LIBRARY_FOLDER PEERS_PROGRAM
"""

import re
import sys
import unittest

import run_program

FOLDER, PROGRAM = sys.argv[1:3]
ILLEGAL = "cudaErrorIllegalAddress\n"
NEEDS = r"memory of device 1, which device 0 may access only after cudaSetDevice\(0\) and cudaDeviceEnablePeerAccess\(1, 0\)"
# case: its output.
RIGHT = {
    "reads_writes_and_counts": "3 3, 69 5\n",
    "page_locked_memory_of_another_device": "cudaSuccess\n200\n",
    "ordered_by_an_event": "",
    "written_by_a_peer_alone": "5 6\n",
    "atomics_of_system_scope": "",
}
# case: its output, and what is reported.
WRONG = {
    "not_enabled": (ILLEGAL, NEEDS),
    "enabled_the_other_way": (ILLEGAL, NEEDS),
    "disabled": (ILLEGAL, NEEDS),
    "past_the_end": (ILLEGAL, "an address outside of the device's memory"),
    "freed": (ILLEGAL, "an address outside of the device's memory"),
    "from_a_pool": (ILLEGAL, "memory of device 1 from a pool, which other devices can't access"),
}
FOUND = {
    "left_out_by_a_peer": "uninitialised-global .*bytes 16380 … 16383 of 16384 have never been written",
    "race": r"stream-race .*kernel .*::set\(.* writes and kernel .*::add\(.* "
    r"writes the same 16384 bytes of .* nothing orders the two",
    "atomics_of_device_scope": (
        r"stream-race .*kernel .*::count\(.* writes and kernel .*::count\(.* writes the same 4 bytes, .* the scope of their "
        r"atomic operations is one device: use system scope \(atomicAdd_system"
    ),
}


def run(case, **variables):
    code, out, err = run_program.run(FOLDER, PROGRAM, case, SIM_DEVICES="2", **variables)
    return code, out, re.sub(r"\s+(simulator: )?", " ", err)


class Peers(unittest.TestCase):
    def test_right_uses_work_in_every_mode(self):
        for name, out in RIGHT.items():
            for variables in ({}, {"SIM_MODE": "fast"}, {"SIM_MODE": "all"}, {"SIM_THREADS": "2"}):
                with self.subTest(name=name, variables=variables):
                    self.assertEqual(run(name, **variables), (0, out, ""))
            with self.subTest(name=name):
                self.assertEqual(run(name, SIM_CHECK="1"), (0, out, "simulator: checked: nothing found "))

    def test_calls_return_the_errors_of_a_gpu(self):
        self.assertEqual(
            run("calls", SIM_QUIET="1")[1].split("\n"),
            (
                "1 1 0|cudaErrorPeerAccessNotEnabled|cudaErrorInvalidValue|cudaErrorInvalidDevice|"
                "cudaErrorInvalidDevice|cudaSuccess|cudaErrorPeerAccessAlreadyEnabled|cudaSuccess|"
                "cudaErrorPeerAccessNotEnabled|"
            ).split("|"),
        )

    def test_wrong_accesses_are_faults(self):
        for name, (out, err) in WRONG.items():
            for variables in ({}, {"SIM_THREADS": "2"}, {"SIM_MODE": "all"}):
                with self.subTest(name=name, variables=variables):
                    code, got, text = run(name, **variables)
                    self.assertEqual((code, got), (0, out))
                    self.assertRegex(text, err)

    def test_conflicts_and_gaps_are_found_between_devices(self):
        for name, err in FOUND.items():
            with self.subTest(name=name):
                code, _, text = run(name, SIM_CHECK="1")
                self.assertEqual(code, 86, text)
                self.assertRegex(text, err)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
