#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which mistakes of host code the checks report, and at which line. Each case runs with all checks; a case
without an entry here is right and must be silent.

usage: host_code_test.py LIBRARY_FOLDER HOST_CODE_PROGRAM
"""

import re
import sys
import unittest
from pathlib import Path

import run_program

FOLDER, PROGRAM = sys.argv[1:3]
SOURCE = (Path(__file__).parent / "host_code.cu").read_text(encoding="utf-8").splitlines()
CRASH = -11
GONE = "the host reads byte [0-9]+ of memory of the device"
# For each case: exit code, the kind, a part of the message.
FAULTS = {
    "prints_an_element": (
        CRASH,
        "host-access",
        r"the host reads byte 12 of memory of the device \(4000 bytes from cudaMalloc at \S+\), which only "
        r"kernels and CUDA's copies can access; with a GPU, this ends the program with a segmentation fault: "
        r"copy it to the host first, with cudaMemcpy\(host, device, 4000, cudaMemcpyDeviceToHost\)",
    ),
    "stores_an_element": (CRASH, "host-access", "the host writes byte 20 of .* copy that with cudaMemcpy"),
    "copies_with_memcpy": (CRASH, "host-access", GONE),
    "reads_a_pitched_row": (CRASH, "host-access", "the host reads byte 512 of .* from cudaMallocPitch"),
    "reads_a_row_of_a_volume": (CRASH, "host-access", "the host reads byte 512 of .* from cudaMalloc3D at"),
    "asks_for_what_the_simulator_lacks": (86, "api-error", "cudaErrorNotSupported: cube maps"),
    "reads_pool_memory": (CRASH, "host-access", "the host reads byte 0 of .*400 bytes from cudaMallocAsync"),
    "allocates_an_array_of_arrays": (86, "host-access", "the pointer to set is in device memory"),
    "releases_with_free": (CRASH, "host-access", "segmentation fault: free.* call cudaFree"),
    "releases_with_delete": (CRASH, "host-access", "segmentation fault: free.* call cudaFree"),
    "reads_before_the_start": (
        CRASH,
        "host-access",
        "outside of all allocations, .* segmentation fault not checked: kernels, since none was launched checked",
    ),
    "reads_a_symbols_address": (
        CRASH,
        "host-access",
        r"byte 8 of the __device__ variable .*weights, .* call cudaMemcpyFromSymbol\(host, .*weights, 64\)",
    ),
    "reads_in_a_host_function": (CRASH, "host-access", GONE),
    "prints_more_than_the_buffer_holds": (86, "printf-overflow", "prints 2048 bytes .* has 1024"),
    "recurses_deeper_than_the_stack": (86, "stack-overflow", "recursive calls of .* but a stack has 64"),
    "grid_is_too_small": (
        86,
        "uninitialised-global",
        r"elements 768 … 999 of 1000 have never been written. The last to write there was .*init\(float\*, "
        r"int\), with 3 blocks of 256 threads at \S+:\d+, in elements 0 … 767 of 1000: one element per "
        r"thread, so the grid is too small; 1000 elements need 4 blocks of 256",
    ),
    "one_element_is_left_out": (86, "uninitialised-global", "element 500 of 1000 has never been written"),
    "gap_goes_through_a_copy": (
        86,
        "uninitialised-global",
        "elements 768 … 999 of 1000 .* with 3 blocks of 256 threads",
    ),
    "gap_goes_through_a_copy_to_a_kernel": (
        86,
        "uninitialised-global",
        "thread 0 of block 3 reads .* element 768 of 1000",
    ),
    "memset_counts_elements": (
        86,
        "uninitialised-global",
        "bytes 1000 … 3999 of 4000 .* a memset .* its size counts bytes",
    ),
    "columns_are_left_out": (
        86,
        "uninitialised-global",
        "10 ranges of it, the first one elements 64 … 99 of 1000",
    ),
    "gap_in_a_graph": (86, "uninitialised-global", "elements 768 … 999 of 1000"),
    "graph_reads_freed_pinned_memory": (86, "use-after-free", r"freed at \S*host_code.cu:LINE"),
    "graph_reads_freed_memory": (86, "use-after-free", r"freed at \S*host_code.cu:LINE"),
    "graph_reads_freed_memory_of_malloc": (86, "use-after-free", r"freed at \S*host_code.cu:LINE"),
    "graph_reads_memory_of_a_vector": (86, "use-after-free", r"freed at \S*host_code.cu:\d"),
    "graph_reads_an_ended_frame": (86, "use-after-free", "a function that has returned"),
    "asks_for_the_time_at_once": (
        86,
        "missing-wait",
        r"cudaErrorNotReady: .* call cudaEventSynchronize\(end\) first",
    ),
    "ends_without_waiting": (0, "missing-wait", r"has not waited for .*say_hello\(\) \(the default stream\)"),
    "ends_without_waiting_for_a_stream": (
        86,
        "missing-wait",
        r"has not waited for .*init\(float\*, int\) \(stream 1\)",
    ),
    "allocation_is_no_wait": (
        86,
        "host-writes-during-copy",
        "the host writes byte 0 of page-locked memory of 4000 bytes",
    ),
    "overwrites_a_large_buffer": (
        86,
        "host-writes-during-copy",
        "the host writes 102[45] pages, from byte 0 on, of page-locked",
    ),
    "launch_fails": (86, "api-error", "2048 threads; at most 1024"),
    "shared_memory_is_too_large": (86, "api-error", "100000 bytes of shared memory .* the limit is"),
    "copy_fails": (86, "api-error", "room for 4000 bytes, not for 8000"),
    "allocation_fails": (86, "api-error", "cudaErrorMemoryAllocation"),
    "reads_the_error_of_a_launch_that_is_needed": (86, "api-error", "2048 threads; at most 1024"),
    "launches_less_without_a_look_at_the_error": (86, "api-error", "2048 threads; at most 1024"),
    "reads_the_error_of_a_copy": (86, "api-error", "room for 4000 bytes, not for 8000"),
    "calls_cuda_in_a_host_function": (
        86,
        "api-error",
        "cudaMemset fails with cudaErrorNotPermitted: a function of cudaLaunchHostFunc must not call CUDA",
    ),
    "copies_to_a_name": (
        86,
        "host-variable",
        r"weights is a __device__ variable; .* call cudaMemcpyToSymbol\(.*weights, host, bytes\)",
    ),
    "copies_from_within_a_name": (
        86,
        "host-variable",
        r"call cudaMemcpyFromSymbol\(host, .*weights, bytes\)",
    ),
    "sets_a_name": (86, "host-variable", r"get the address with cudaGetSymbolAddress\(&pointer, .*weights\)"),
    "copies_to_a_name_by_default": (86, "host-variable", "limits is a __device__ variable"),
    "passes_a_wild_pointer": (86, "out-of-bounds", "an address outside of the device's memory"),
    "passes_the_address_of_a_local_variable": (86, "out-of-bounds-local", "pointer to a local variable"),
    "copies_an_object_with_virtual_functions": (86, "out-of-bounds", "virtual function"),
    "calls_a_device_function": (1, "device-function-on-host", "seems to call a __device__ function"),
    "passes_a_name_to_a_kernel": (
        86,
        "host-variable",
        r"the name of the __device__ variable .*weights in host code",
    ),
}
CONSEQUENCES = {"launch_fails", "shared_memory_is_too_large", "copy_fails", "allocation_fails"}


def run(*arguments, **variables):
    code, out, err = run_program.run(FOLDER, PROGRAM, *arguments, **variables)
    return code, out, re.sub(r"(^|\s+)(simulator:)?\s*", " ", err)


def line_of(case):
    """Of the statement with a comment, in the function of this name."""
    begin = SOURCE.index(f"CASE({case}) {{")
    end = SOURCE.index("}", begin)
    marked = (number + 1 for number in range(begin, end) if re.search(r"// [a-z-]+$", SOURCE[number]))
    return next(marked, None)


class HostCode(unittest.TestCase):
    def test_mistakes_are_reported_with_their_line(self):
        for case, (code, kind, message) in FAULTS.items():
            with self.subTest(case=case):
                got, _, err = run(case, SIM_CHECK="1")
                self.assertEqual(got, code, err)
                self.assertRegex(err, f"(error|hint): {kind} ")
                self.assertRegex(err, message.replace("LINE", str(line_of(case))))
                if (
                    (line := line_of(case)) is not None
                    and "LINE" not in message
                    and case != "passes_a_name_to_a_kernel"
                ):
                    self.assertIn(f"host_code.cu:{line} ", err.replace(",", " "))

    def test_consequences_of_a_failed_call_are_marked(self):
        for case in CONSEQUENCES:
            err = run(case, SIM_CHECK="1")[2]
            self.assertRegex(
                err,
                "(uninitialised-global|a null pointer) .*this may be a consequence of the call that failed",
            )

    def test_right_code_is_silent(self):
        names = run()[1].split()
        self.assertEqual(set(FAULTS) - set(names), set())
        for name in set(names) - set(FAULTS):
            for seed in ("0", "7"):
                with self.subTest(name=name, seed=seed):
                    code, out, err = run(name, SIM_CHECK="1", SIM_SCHEDULE_SEED=seed)
                    said = " checked: nothing found "
                    if name == "only_computes_addresses":
                        said = f" not checked: kernels, since none was launched{said}in what was checked "
                    self.assertEqual((code, err), (0, said), out)
                    self.assertNotIn("wrong", out)

    def test_queries_answer_not_ready_until_the_host_waits(self):
        self.assertEqual(run("asks_once_and_goes_on", SIM_CHECK="1")[1], "not ready\nnot ready\n")
        self.assertEqual(run("asks_once_and_goes_on")[1], "", "without checks")

    def test_one_buffer_is_one_finding(self):
        self.assertIn("checked: 1 error, 0 hints", run("overwrites_a_large_buffer", SIM_CHECK="1")[2])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
