// SPDX-License-Identifier: MIT
// Reduction: the tasks and their points; `./lab points reduction` prints them. The tasks, and the further
// rungs after them, are in the same order as Rung in lab.hpp; a test compares both.
#pragma once

#include "lab/manifest.hpp"

namespace course::reduction {

using lab::Metric;

// Each goal separates a rung from the rungs below it (the course's tests check the numbers): rung 1 has idle
// lanes, rung 1b has bank conflicts, rung 2b has twice the barriers of rung 3, and rungs 1 to 3 execute the
// instructions of a thread for each item or two.
// The times are compared with one CPU core, on a device like the H200.
inline constexpr lab::Task kTasks[] = {
    {.id = "neighboured",
     .title = "Neighboured pairs",
     .correctness_points = 14,
     .efficiency = {{Metric::instructions, 80, 3}, {Metric::active_lanes, 0.6, 3}},
     .reference_us = 16.91},
    {.id = "sequential",
     .title = "Sequential addressing",
     .correctness_points = 6,
     .efficiency = {{Metric::active_lanes, 0.85, 2}, {Metric::bank_conflicts, 20, 2, "1,024 items"}},
     .speedup = {{8, 1}, {16, 1}},
     .reference_us = 76.84},
    {.id = "shuffle",
     .title = "Warp shuffle",
     .correctness_points = 14,
     .efficiency = {{Metric::barriers, 12, 4, "1,024 items"}, {Metric::instructions, 26, 4}},
     .speedup = {{15, 3}, {30, 3}},
     .reference_us = 43.6},
    {.id = "coarsened",
     .title = "Many items per thread",
     .correctness_points = 18,
     .efficiency = {{Metric::instructions, 18, 6}, {Metric::launches, 2, 4}},
     .speedup = {{20, 4}, {35, 4}, {50, 4}},
     .reference_us = 30.63},
    {.id = "single_launch",
     .title = "One launch",
     .correctness_points = 8,
     .efficiency = {{Metric::launches, 1, 5}, {Metric::instructions, 18, 3}},
     .speedup = {{35, 2}, {50, 2}},
     .bonus = true,
     .reference_us = 26.03},
};
inline constexpr lab::Task kFurtherRungs[] = {
    {.id = "reindexed", .title = "Neighboured pairs, re-indexed", .section = "neighboured"},
    {.id = "first_add", .title = "First add on load", .section = "shuffle"},
    {.id = "state_of_the_art", .title = "As fast as the memory"},
};
// One thread of the Intel Xeon of a server with an H200, 2026-11-23: the lowest of at least 75 runs.
inline constexpr lab::CpuTime kCpuTimes[] = {
    {"", "sum_i32_n16777216_random", 2806},
};
inline constexpr lab::Manifest kManifest{
    .id = "reduction",
    .title = "Reduction",
    .paper = "M. Harris, 2007: Optimizing Parallel Reduction in CUDA",
    .handout = "handouts/01-reduction.md",
    .tasks = kTasks,
    .further_rungs = kFurtherRungs,
    .cpu_times = kCpuTimes,
};
static_assert(lab::adds_up(kManifest));

}  // namespace course::reduction
