// SPDX-License-Identifier: MIT
// Stream compaction: the tasks and their points; `./lab points compaction` prints them. The tasks, and the
// further rungs after them, are in the same order as Rung in lab.hpp; a test
// compares both.
#pragma once

#include "lab/manifest.hpp"

namespace course::compaction {

using lab::Metric;

// Each goal separates a rung from the rung below it (the course's tests check the numbers): bytes for the
// arrays of flags and positions, barriers for the scan in shared memory, launches for the levels of the scan.
// The times are compared with one CPU core, on a device like the H200. One core mispredicts every other
// branch when items are kept at random.
inline constexpr lab::Task kTasks[] = {
    {.id = "three_kernels",
     .title = "Flags, scan, scatter",
     .correctness_points = 20,
     .efficiency = {{Metric::bytes_ratio, 12, 4}, {Metric::launches, 7, 3}},
     .speedup = {{40, 3}, {80, 4}},
     .reference_us = 106.5},
    {.id = "fused",
     .title = "Scan in shared memory",
     .correctness_points = 13,
     .efficiency = {{Metric::bytes_ratio, 2.2, 3}, {Metric::launches, 5, 2}},
     .speedup = {{80, 3}, {150, 3}},
     .reference_us = 46.9},
    {.id = "warp_aggregated",
     .title = "Ballots instead of a scan",
     .correctness_points = 20,
     .efficiency = {{Metric::barriers, 8, 6, "1,024 items"}, {Metric::launches, 3, 4}},
     .speedup = {{120, 4}, {200, 4}, {250, 4}},
     .reference_us = 32.84},
    {.id = "single_pass",
     .title = "One pass, by looking back",
     .correctness_points = 8,
     .efficiency = {{Metric::bytes_ratio, 1.4, 4}, {Metric::launches, 2, 4}},
     .speedup = {{200, 2}, {300, 2}},
     .bonus = true,
     .reference_us = 24.55},
};
inline constexpr lab::Task kFurtherRungs[] = {
    {.id = "packed", .title = "Packs of 16 bytes", .section = "state_of_the_art"},
    {.id = "state_of_the_art", .title = "In waves, one tile ahead"},
};
// One thread of the Intel Xeon of a server with an H200, 2026-11-23: the lowest of at least 75 runs.
inline constexpr lab::CpuTime kCpuTimes[] = {
    {"", "is_positive_i32_n4194304_half", 19975},
};
inline constexpr lab::Manifest kManifest{
    .id = "compaction",
    .title = "Stream compaction",
    .paper =
        "M. Billeter, O. Olsson, U. Assarsson, 2009: Efficient Stream Compaction on Wide SIMD Many-Core "
        "Architectures",
    .handout = "handouts/03-compaction.md",
    .tasks = kTasks,
    .further_rungs = kFurtherRungs,
    .cpu_times = kCpuTimes,
};
static_assert(lab::adds_up(kManifest));

}  // namespace course::compaction
