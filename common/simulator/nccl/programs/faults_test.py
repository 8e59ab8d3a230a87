#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What libnccl.so.2 reports about wrong uses of NCCL, most of which would never end on a GPU.

usage: faults_test.py LIBRARY_FOLDER FAULTS_PROGRAM
"""

import concurrent.futures
import json
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "cudart/programs"))
import run_program

FOLDER, PROGRAM = sys.argv[1:3]
LINE = r"at \S*faults\.cu:\d+"
USAGE = r"(?s:.*)invalid usage\n"
HUNG = r"device 0: cudaErrorLaunchTimeout\nlater: invalid usage\n"
# case: what stdout and stderr must match.
FAULTS = {
    "other_count": (
        USAGE + HUNG,
        rf"agree on the count of collective 1 .*: rank 0 calls ncclAllReduce\(count 10, float32, sum\) {LINE}, "
        rf"rank 1 calls ncclAllReduce\(count 20, float32, sum\) {LINE}",
    ),
    "other_type": (
        USAGE + HUNG,
        r"agree on the data type .*ncclAllReduce\(count 1024, float32, sum\).*ncclAllReduce\(count 1024, int32, sum\)",
    ),
    "other_reduction": (USAGE + HUNG, r"agree on the reduction .*float32, sum\).*float32, max\)"),
    "other_root": (USAGE + HUNG, rf"agree on the root .*root 0\) {LINE}.*root 1\)"),
    "other_order": (
        USAGE + HUNG,
        r"agree on the operation of collective 1 .*ncclAllReduce\(.*rank 1 calls ncclBroadcast\(",
    ),
    "other_count_in_threads": (r"device \d: cudaErrorLaunchTimeout\n", r"agree on the count"),
    "send_other_count": (
        USAGE + HUNG,
        rf"agree on the count: rank 0 calls ncclSend\(count 10, float32, to rank 1\) {LINE}, "
        rf"rank 1 calls ncclRecv\(count 11, float32, from rank 0\)",
    ),
    "missing_rank": (
        HUNG,
        rf"rank 0 waits in ncclAllReduce\(count 1024, float32, sum\) {LINE}\n.* rank 1 has made no call",
    ),
    "missing_rank_polled": ("later: invalid usage\n", r"rank 0 waits in ncclAllReduce"),
    "missing_rank_queried": ("cudaErrorLaunchTimeout\n", r"rank 0 waits in ncclAllReduce"),
    "missing_group": (
        "call: no error\ncall: invalid usage\n" + HUNG,
        rf"one thread calls ncclAllReduce.* {LINE} for rank 0 and then "
        rf"ncclAllReduce.* {LINE} for rank 1, not in one group",
    ),
    "missing_group_of_send": (
        "call: no error\ncall: invalid usage\n" + HUNG,
        r"one thread calls ncclSend.* for rank 0 and then ncclRecv",
    ),
    "missing_group_of_init": (
        "call: invalid usage\n",
        r"a communicator of 2 ranks waits for rank 1, and nobody",
    ),
    "send_without_receive": (
        HUNG,
        rf"rank 0 waits in ncclSend\(count 1024, float32, to rank 1\) {LINE}\n.* rank 1 has made no call",
    ),
    "both_send_first": (
        HUNG,
        r"belong between ncclGroupStart\(\) and ncclGroupEnd\(\).*\n.*"
        r"rank 0 waits in ncclSend.*\n.* rank 1 waits in ncclSend",
    ),
    "never_finished": (
        "call: no error\n",
        r"the program ends while ranks wait .*\n.* rank 0 waits in ncclAllReduce",
    ),
    "host_pointer": (
        "call: invalid argument\n",
        r"send buffer must hold 4 bytes: 0x\w+ is not device memory",
    ),
    "freed_memory": (
        "call: invalid argument\n",
        r"ncclAllReduce of rank 0 .* send buffer must hold 4096 bytes: 0x\w+ is not device memory: a host "
        "pointer, freed",
    ),
    "gather_too_short": (
        "call: invalid argument\n",
        r"receive buffer must hold 8192 bytes: .*has room for 4096 bytes",
    ),
    "memory_of_another_device": (
        "call: invalid argument\n",
        r"it is memory of device 1, but the rank is on device 0",
    ),
    "refused_in_a_thread": (
        "call: invalid argument\n",
        r"rank 0 has made no call; ncclAllReduce of rank 0 fails .*has room for 4096 bytes.*\n.*"
        r" rank 1 waits in ncclAllReduce",
    ),
    "refused_in_a_group": (
        "call: invalid argument\nncclGroupEnd: invalid argument\n",
        r"^simulator: ncclAllReduce of rank 1 .*has room for 4096 "
        r"bytes.*\n$",
    ),
    "null_pointer": ("call: invalid argument\n", r"it is a null pointer"),
    "stream_of_another_device": (
        "call: unhandled cuda error\n",
        r"the stream belongs to device 1, the rank to device 0",
    ),
    "last_error": (
        "ncclAllReduce of rank 0 fails with invalid argument: the send buffer must hold 4100 bytes",
        "4100 bytes",
    ),
    "finalized_communicator": ("call: invalid usage\n", "the communicator has been finalized"),
    "no_reduction": ("call: invalid argument\n", "5 is not a reduction"),
    "wrong_in_place": (
        "call: invalid usage\n",
        r"the send and receive buffers overlap: in place, the send buffer is the receive buffer \+ rank",
    ),
    "all_to_all_in_place": (
        "call: no error\ncall: no error\n",
        r"ncclAlltoAll of rank 1 in place: the result is undefined",
    ),
    "no_such_root": ("call: invalid argument\n", r"the root is rank 2, but the ranks are 0 to 1"),
    "destroyed_communicator": ("call: invalid argument\n", r"the communicator has been destroyed"),
    "one_device_twice": ("call: invalid usage\n", r"rank 0 and rank 1 are both on device 0"),
    "captured_stream": (
        "call: unhandled cuda error\ncudaErrorStreamCaptureInvalidated\n",
        r"an NCCL call of a stream that is being captured",
    ),
}
RIGHT = {
    "right": "ncclGroupEnd: no error\nsum 3\nsum 3\n",
    "slow_rank": "",
    "call_returns_before_the_others_come": "cudaErrorNotReady\n",
    "communicators": "version 2\nrank joins: NCCL operation in progress\nstate: NCCL operation in progress\nrank joins: no error\nstate: no error\n"
    "rank 0 of 2 on device 0, last error: ''\nrank 1 of 2 on device 1, last error: ''\n",
    "abort": "call: no error\n",
}
RACES = {
    "race_with_writer": r"stream-race .*kernel .*fill.* \(stream 2\) writes and ncclAllReduce of rank 0 \(stream 1\) reads the same 4096 bytes",
    "race_with_memset": r"stream-race .*ncclAllReduce of rank 1 \(stream 3\) writes and a memset \(stream 4\) writes the same 4096 bytes",
    "waits_for_the_wrong_device": r"host-race .*the host reads byte 0 of page-locked memory .* while a copy \(stream 3\)",
    "never_written": r"uninitialised-global .*ncclAllReduce of rank 0 reads 4096 bytes",
}
ORDERED = ["right", "ordered_by_event", "ordered_by_collective"]


def run(*arguments, **variables):
    return run_program.run(FOLDER, PROGRAM, *arguments, SIM_DEVICES="2", **variables)


class Faults(unittest.TestCase):
    def test_wrong_uses_are_reported_with_rank_and_line(self):
        with concurrent.futures.ThreadPoolExecutor(8) as pool:  # most of them wait
            results = dict(zip(FAULTS, pool.map(run, FAULTS)))
        for name, (out, err) in FAULTS.items():
            with self.subTest(name=name):
                code, said, reported = results[name]
                self.assertEqual(code, 0, said + reported)
                self.assertRegex(said, out)
                self.assertRegex(reported, err)

    def test_right_uses_are_not_reported(self):
        for name, out in RIGHT.items():
            with self.subTest(name=name):
                self.assertEqual(run(name), (0, out, ""))

    def test_errors_are_findings_under_all_checks(self):
        code, _, reported = run("other_count", SIM_CHECK="1")
        self.assertEqual(code, 86, reported)
        self.assertRegex(reported, r"error: nccl-mismatch \(execution\).*faults\.cu:\d+")

    def test_races_with_collectives_are_found(self):
        for name, err in RACES.items():
            with self.subTest(name=name):
                code, said, reported = run(name, SIM_CHECK="1")
                self.assertEqual(code, 86, said + reported)
                self.assertRegex(re.sub(r"\s+", " ", reported), err)
        for name in ORDERED:
            with self.subTest(name=name):
                code, said, reported = run(name, SIM_CHECK="1")
                self.assertEqual((code, reported), (0, "simulator: checked: nothing found\n"), said)

    def test_events_see_the_modelled_time(self):  # which is computed, so that no run differs
        times = [int(us) for us in re.findall(r"bytes: (\d+) us", run("times")[1])]
        self.assertEqual(len(times), 4)
        self.assertEqual(times[0], times[1])
        self.assertTrue(35 < times[0] < 60, times)  # 4 bytes, and submissions
        self.assertTrue(240 < times[2] < 290, times)  # 64 MiB at 262 GB/s
        slow = [int(us) for us in re.findall(r"bytes: (\d+) us", run("times", SIM_LINK="pcie")[1])]
        self.assertGreater(slow[2], 10 * times[2])
        self.assertIn("SIM_LINK=string is ignored: expected nvlink", run("times", SIM_LINK="string")[2])

    def test_traffic_is_counted(self):
        with tempfile.NamedTemporaryFile() as file:
            run("times", SIM_REPORT=file.name)
            for report in json.load(file):
                # 4 bytes to the other device at once, then a ring of two: a half of 64 MiB in each of two
                # steps.
                self.assertEqual(
                    report["traffic"], {"operations": 2, "messages": 1 + 2, "bytes_sent": 4 + (64 << 20)}
                )


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
