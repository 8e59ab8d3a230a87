// SPDX-License-Identifier: MIT
// Hierarchical scan: the tasks and their points; `./lab points hierarchical_scan` prints them. The tasks, and
// the further rungs after them, are in the same order as Rung in lab.hpp; a test
// compares both.
#pragma once

#include "lab/manifest.hpp"

namespace course::hierarchical_scan {

using lab::Metric;

// The bytes through global memory, 4n, 3n or 2n items, are 2, 1.5 or 1 times the minimum. The speedups
// distinguish a hierarchy from a chain. The course's tests check the numbers. The chains of the single-pass
// tasks take longer than the rungs below them, so they have no reference time.
// The times are compared with one CPU core, on a device like the H200.
inline constexpr lab::Task kTasks[] = {
    {.id = "two_levels",
     .title = "Two levels",
     .correctness_points = 32,
     .efficiency = {{Metric::bytes_ratio, 2.15, 5}, {Metric::launches, 3, 5}},
     .reference_us = 15.53},
    {.id = "recursive",
     .title = "Any length",
     .correctness_points = 14,
     .efficiency = {{Metric::bytes_ratio, 2.15, 3}, {Metric::launches, 3, 3}},
     .speedup = {{15, 2}, {30, 2}},
     .reference_us = 94.02},
    {.id = "reduce_then_scan",
     .title = "Reduce, then scan",
     .correctness_points = 17,
     .efficiency = {{Metric::bytes_ratio, 1.7, 6}, {Metric::launches, 3, 4}},
     .speedup = {{20, 3}, {40, 4}},
     .reference_us = 76.45},
    {.id = "chained",
     .title = "One pass, chained",
     .correctness_points = 10,
     .efficiency = {{Metric::bytes_ratio, 1.15, 4}, {Metric::launches, 2, 4}},
     .bonus = true},
    {.id = "look_back",
     .title = "Decoupled look-back",
     .correctness_points = 10,
     .efficiency = {{Metric::bytes_ratio, 1.15, 3}, {Metric::launches, 2, 3}},
     .speedup = {{6, 2}, {10, 2}},
     .bonus = true},
};
inline constexpr lab::Task kFurtherRungs[] = {
    {.id = "one_word", .title = "Flag and value in one word", .section = "state_of_the_art"},
    {.id = "warp_look_back", .title = "A warp looks back", .section = "state_of_the_art"},
    {.id = "state_of_the_art", .title = "In waves, one tile ahead"},
};
// One thread of the Intel Xeon of a server with an H200, 2026-11-23: the lowest of at least 75 runs.
inline constexpr lab::CpuTime kCpuTimes[] = {
    {"", "inclusive_sum_i32_n16777216_random", 18817},
};
inline constexpr lab::Manifest kManifest{
    .id = "hierarchical_scan",
    .title = "Hierarchical scan",
    .paper = "D. Merrill, M. Garland, 2016: Single-pass Parallel Prefix Scan with Decoupled Look-back",
    .handout = "handouts/07-hierarchical-scan.md",
    .tasks = kTasks,
    .further_rungs = kFurtherRungs,
    .cpu_times = kCpuTimes,
};
static_assert(lab::adds_up(kManifest));

}  // namespace course::hierarchical_scan
