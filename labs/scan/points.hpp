// SPDX-License-Identifier: MIT
// Scan: the tasks and their points; `./lab points scan` prints them. The tasks, and the further rungs after
// them, are in the same order as Rung in lab.hpp; a test compares the two.
#pragma once

#include "lab/manifest.hpp"

namespace course::scan {

using lab::Metric;

// Each goal separates a rung from the rungs below it (the course's tests check the numbers).
// The times are compared with one CPU core, on a device like the H200.
inline constexpr lab::Task kTasks[] = {
    {.id = "global_rounds", .title = "One launch per round", .correctness_points = 12},
    {.id = "hillis_steele",
     .title = "Hillis–Steele",
     .correctness_points = 8,
     .efficiency = {{Metric::instructions, 310, 2}, {Metric::barriers, 24, 2, "row"}},
     .speedup = {{8, 1}, {16, 1}},
     .reference_us = 42.1},
    {.id = "blelloch",
     .title = "Up-sweep and down-sweep",
     .correctness_points = 15,
     .efficiency = {{Metric::instructions, 300, 5}, {Metric::barriers, 24, 4, "row"}},
     .speedup = {{4, 2}, {7, 2}},
     .reference_us = 98.55},
    {.id = "kogge_stone",
     .title = "A row for each warp",
     .correctness_points = 7,
     .efficiency = {{Metric::barriers, 0, 2, "row"}, {Metric::instructions, 85, 2}},
     .speedup = {{15, 1}, {30, 2}},
     .reference_us = 21.26},
    {.id = "coarsened",
     .title = "Many items per thread",
     .correctness_points = 13,
     .efficiency = {{Metric::barriers, 8, 4, "row"},
                    {Metric::instructions, 50, 3},
                    {Metric::bank_conflicts, 16, 3, "row"}},
     .speedup = {{15, 2}, {30, 3}, {40, 4}},
     .reference_us = 17.56},
    {.id = "segmented",
     .title = "Segments in a row",
     .correctness_points = 10,
     .efficiency = {{Metric::bytes_ratio, 1.05, 4}, {Metric::launches, 1, 2}},
     .speedup = {{20, 2}, {40, 2}},
     .bonus = true,
     .reference_us = 19.57},
};
inline constexpr lab::Task kFurtherRungs[] = {
    {.id = "brute_force", .title = "A thread for each result", .section = "hillis_steele"},
    {.id = "compact", .title = "Sweeps by compact threads", .section = "blelloch"},
    {.id = "conflict_free", .title = "Sweeps without bank conflicts", .section = "blelloch"},
    {.id = "block_scan", .title = "Warps, joined to a block", .section = "coarsened"},
    {.id = "state_of_the_art", .title = "As fast as the memory"},
};
// One thread of the Intel Xeon of a server with an H200, 2026-11-23: the lowest of at least 75 runs.
inline constexpr lab::CpuTime kCpuTimes[] = {
    {"", "exclusive_sum_i32_n4194304_row1024_random", 1515},
    {"coarsened", "inclusive_sum_i32_n4194304_row4096_random", 1574},
    {"segmented", "inclusive_sum_i32_n4194304_row4096_random", 5799},
    {"", "inclusive_sum_i32_n4194304_row1024_random", 1506},
    {"", "inclusive_sum_i32_n4194304_row32_random", 1617},
};
inline constexpr lab::Manifest kManifest{
    .id = "scan",
    .title = "Scan",
    .paper = "G. Blelloch, 1990: Prefix Sums and Their Applications",
    .handout = "handouts/02-scan.md",
    .tasks = kTasks,
    .further_rungs = kFurtherRungs,
    .cpu_times = kCpuTimes,
};
static_assert(lab::adds_up(kManifest));

}  // namespace course::scan
