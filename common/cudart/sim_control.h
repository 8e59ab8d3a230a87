/* SPDX-License-Identifier: MIT
 * The simulator's own controls, exported by its libcudart beside the CUDA API. A program that may run on either library
 * finds them with dlsym(RTLD_DEFAULT, "simSetMode"); on a real GPU they are absent. Plain C. Thread-safe.
 *
 * The JSON of simReport, all keys always present:
 * { "device": "Simulated H200", "mode": 3, "modelled_us": 12.5, "memory_gb_per_s": 4250, "fills": memsets,
 *   "launches": [ {"kernel": "…demangled…", "grid": [x,y,z], "block": [x,y,z], "modelled_us": 6.1, "bound_by": "memory",
 *                  "resident_blocks": 8, "occupancy": 1.0, "registers": 32, "shared": 1024, "counters": {…}} ],
 *   "totals": { every field of sim::Counters by its name },
 *   "findings": [ {"checker": "racecheck", "severity": "error|hint", "kind": "shared-race", "kernel": "…", "file": "…", "line": 31, "other_file": "…", "other_line": 33,
 *                  "object": "s_data[17]", "message": "one sentence", "block": [x,y,z], "thread": [x,y,z],
 *                  "other_block": […], "other_thread": […], "times": 3} ] }
 * file and line: the innermost place in the file that holds the kernel's own line; the message tells the rest. What the host's checker
 * finds has line 0.
 * With SIM_TRACE since the last reset also
 * "trace": { "truncated": false, "rows": [ {"launch": 0, "block": 3 or null for the whole grid,
 *            "after": "start|barrier|warp_sync|block|launch|shuffle|vote", "warp": 0, "lanes": 4294967295, "file": "…", "line": 31,
 *            "object": "s_data", "width": bytes of an element, "contents": "hex, first byte first",
 *            "writes": [ [element, block, thread, line, [["d_in", element], …]], … ]} ] }
 * With SIM_PROFILE also
 * "lines": [ {"kernel": "…", "file": "…", "line": 31, every field of sim::LineProfile by its name}, … ]
 * Launches past the first 4096 are summed in the totals only. Findings come most telling first. */
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

/* Sets what is looked at from the next launch on: bits of SimMode. Returns 0. */
int simSetMode(unsigned mode);
/* The order in which the next launches run blocks, warps and the lanes of an atomic: 0 for the natural one, else any number
 * stands for an order of its own. Counters do not depend on it. Returns 0. */
int simSetSchedule(unsigned long long seed);
/* Forgets counters, launches and findings. Returns 0. */
int simResetReport(void);
/* Writes the report as NUL-terminated JSON; returns the bytes it needs (with NUL), writing nothing when capacity is less. */
size_t simReport(char* buffer, size_t capacity);
/* Names a device buffer for messages. is_data != 0: its contents are the data whose work and steps are counted.
 * Returns 0, or 1 when the range is not device memory. */
int simNameBuffer(const void* device_pointer, size_t n_bytes, size_t element_bytes, const char* name,
                  int is_data);
/* Bytes that stay as they are, but count as never written for the initialisation checker, as if just allocated; set the
 * mode first. Returns 0, or 1 when the range is not device memory. */
int simForgetWrites(const void* device_pointer, size_t n_bytes);
/* Start and size of the allocation that holds this address; either may be NULL. Returns 0, or 1 when there is none. */
int simFindAllocation(const void* pointer, void** base, size_t* n_bytes);
/* Frees all that kernels have allocated with malloc. Returns 0. */
int simEmptyHeap(void);

/* Since the last call: 1 when work was given to several streams that nothing orders, or some is under way in another stream than this
 * one and the program has not waited for it; else 0. The simulator executes it in order all the same; a GPU need not. */
int simUnorderedWork(void* stream);

#ifdef __cplusplus
}
#endif
#endif
