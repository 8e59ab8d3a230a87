/* SPDX-License-Identifier: MIT
 * The simulator's own controls, exported by its libcudart beside the CUDA API. A program that may run on
 * either library finds them with dlsym(RTLD_DEFAULT, "simSetMode"); NVIDIA's library does not have them.
 * Plain C. Thread-safe. Functions without a pointer to device memory act on the thread's current device.
 *
 * The JSON of simReport:
 * { "device": "Simulated H200", "mode": 3, "modelled_us": 12.5, "memory_gb_per_s": 4250, "fills": memsets,
 *   "traffic": {"operations": of several devices, "messages": sent to others, "bytes_sent": …},
 *   "launches": [ {"kernel": "…demangled…", "times": 1, "grid": [x,y,z], "block": [x,y,z],
 *                  "modelled_us": 6.1,
 *                  "bound_by": "memory", "resident_blocks": 8, "occupancy": 1.0, "registers": 32,
 *                  "shared": 1024, "counters": {…}} ],
 *   "launches_left_out": 0,
 *   "totals": { every field of sim::Counters by its name },
 *   "findings": [ {"checker": "racecheck", "severity": "error|hint", "kind": "shared-race", "kernel": "…",
 *                  "file": "…", "line": 31, "other_file": "…", "other_line": 33,
 *                  "object": "s_data[17]", "message": "one sentence", "block": [x,y,z], "thread": [x,y,z],
 *                  "other_block": […], "other_thread": […], "times": 3} ] }
 * "file" and "line": the innermost source position in the file that defines the kernel; "message" may report
 * further positions. Of a finding about host code, the line of the call; 0 without debug information (-g1).
 * With SIM_TRACE also
 * "trace": { "truncated": false, "rows": [ {"launch": 0, "block": 3 or null for the whole grid,
 *            "after": "start|barrier|warp_sync|block|launch|shuffle|vote|publish|fault",
 *            "warp": 0, "lanes": 4294967295, "file": "…", "line": 31,
 *            "object": "s_data", "width": bytes of an element, "contents": "hex, first byte first",
 *            "writes": [ [element, block, thread, line, [["d_in", element], …], value, [values of these
 *                        elements when they were read]], … ] (as "contents"; "": not known),
 *            "accesses": [ [block, warp, line, lanes, live lanes, wavefronts, fewest wavefronts], … ],
 *            "fault": "one sentence" (only in the row of a fault)} ] }
 * In "writes", an element of the same array that was written in the same step has a third item, 1.
 * With SIM_PROFILE also
 * "lines": [ {"kernel": "…", "file": "…", "line": 31, every field of sim::LineProfile by its name}, … ]
 * "launches" has an entry for each of the first 1024 launches. A later launch is added to an entry of the
 * same kernel and shape ("times": the launches of which "modelled_us" and "counters" are the sum), or else
 * counted in "launches_left_out". "totals" are those of all launches. Findings are sorted: errors come before
 * hints, and memory errors come first. The report takes less than 8 MiB: the ends of long texts, the source
 * lines with the fewest instructions and the end of a trace are left out, then whole lists. */
#ifndef COURSE_SIM_CONTROL_H
#define COURSE_SIM_CONTROL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum SimMode {
  SIM_FAST = 0,
  SIM_COUNTERS = 1,
  SIM_DATAFLOW = 2,
  SIM_RACECHECK = 4,
  SIM_INITCHECK = 8,
  SIM_SYNCCHECK = 16,
  SIM_CHECKS = SIM_RACECHECK | SIM_INITCHECK | SIM_SYNCCHECK, /* all that look at kernels */
  SIM_TRACE = 32,
  SIM_HOSTCHECK = 128,
  SIM_PROFILE = 64 /* with SIM_COUNTERS */
};

/* Sets what is observed from the next launch on: bits of SimMode. Returns 0. */
int simSetMode(unsigned mode);
/* Sets the calling thread's last error. Returns the one before. Unlike cudaGetLastError, it does not count as a
 * look at the error by the program. */
int simSwapLastError(int error);
/* Work of the program cannot be run, for the reason in the message: a finding with SIM_CHECK=1, else a line on
 * stderr. The exit code becomes 86 if it would be 0. */
int simReportMissing(const char* message);
/* Sets the order in which the next launches run blocks, warps and the lanes of an atomic: 0 for ascending order;
 * every other number selects a permutation. With checks, blocks take turns also with 0. Counters do not
 * depend on it. With SIM_CALM_SCHEDULE, a bit of the number, kernels observe what they would observe in a
 * counted launch: each block runs to its end, in a permuted order. Returns 0. */
#define SIM_CALM_SCHEDULE (1ull << 63)
/* Another bit of the number: blocks start in ascending order, as GPUs start them. */
#define SIM_STARTS_IN_ORDER (1ull << 62)
int simSetSchedule(unsigned long long seed);
/* Forgets counters, launches and findings. Returns 0. */
int simResetReport(void);
/* Writes the report as NUL-terminated JSON. Returns the number of bytes that it needs, including the NUL;
 * when `capacity` is smaller, nothing is written. */
size_t simReport(char* buffer, size_t capacity);
/* Gives a device buffer a name for messages. is_data != 0: its contents are the data whose work and steps
 * are counted, and which kernels may only read. Returns 0, or 1 when the range is not device memory. */
int simNameBuffer(const void* device_pointer, size_t n_bytes, size_t element_bytes, const char* name,
                  int is_data);
/* to_parts != 0: from now on kernels, copies and fills may access only the named parts of the allocation that
 * holds this address, each within its own bounds; 0: all of it again. Returns 0, or 1 when there is no such
 * allocation. */
int simConfine(const void* device_pointer, int to_parts);
/* Keeps the bytes as they are, but makes the initialisation checker treat them as never written, as if they
 * had just been allocated. Set the mode first. Returns 0, or 1 when the range is not device memory. */
int simForgetWrites(const void* device_pointer, size_t n_bytes);
/* Frees all memory that kernels have allocated with malloc. Returns 0. */
int simEmptyHeap(void);

/* Returns 1 if, since the last call, work was submitted to streams of one device that do not wait for each
 * other, or to a stream that does not wait for this one, and the program has not synchronised with it; else
 * 0. Also returns 1 if `stream` is none. The simulator runs such work in the order of submission; a GPU need
 * not. */
int simUnorderedWork(void* stream);

#ifdef __cplusplus
}
#endif
#endif
