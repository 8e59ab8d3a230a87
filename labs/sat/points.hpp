// SPDX-License-Identifier: MIT
// Summed area table: the tasks and their points; `./lab points sat` prints them. The tasks, and the further
// rungs after them, are in the same order as Rung in lab.hpp; a test compares both.
#pragma once

#include "lab/manifest.hpp"

namespace course::sat {

using lab::Metric;

// Each goal separates a rung from the rungs below it (the course's tests check the numbers): rung 1 loads a
// sector per item when it scans rows, rung 2 adds up columns item by item, so that it is slower than rung 3
// (the third tier of that is between them), rung 3 moves everything four times.
// The times are compared with one CPU core, on a device like the H200.
inline constexpr lab::Task kTasks[] = {
    {.id = "serial",
     .title = "A thread per row, a thread per column",
     .correctness_points = 12,
     .efficiency = {{Metric::instructions, 14, 2}, {Metric::launches, 2, 2}},
     .reference_us = 425.7},
    {.id = "rows_columns",
     .title = "A block per row, coalesced columns",
     .correctness_points = 20,
     .efficiency = {{Metric::bytes_ratio, 2.1, 7}, {Metric::instructions, 120, 3}},
     .speedup = {{8, 3}, {16, 3}},
     .reference_us = 77.26},
    {.id = "transpose",
     .title = "Scan, transpose, scan, transpose",
     .correctness_points = 12,
     .efficiency = {{Metric::bank_conflicts, 20, 3, "1,024 items"}, {Metric::bytes_ratio, 4.2, 2}},
     .speedup = {{12, 2}, {24, 2}, {43.5, 3}},
     .reference_us = 67.6},
    {.id = "box",
     .title = "Box filter by four look-ups",
     .correctness_points = 12,
     .efficiency = {{Metric::instructions, 115, 2}, {Metric::bytes_ratio, 1.3, 4}, {Metric::launches, 1, 1}},
     .speedup = {{50, 2}, {100, 3}},
     .reference_us = 35.02},
    {.id = "single_pass",
     .title = "One pass over tiles",
     .correctness_points = 8,
     .efficiency = {{Metric::bytes_ratio, 1.2, 5}, {Metric::launches, 2, 2}},
     .speedup = {{6, 2}, {12, 3}},
     .bonus = true,
     .reference_us = 63.7},
};
inline constexpr lab::Task kFurtherRungs[] = {
    {.id = "fused", .title = "Transposed on the way out", .section = "transpose"},
    {.id = "look_back", .title = "Tiles in registers, and look-back", .section = "state_of_the_art"},
    {.id = "state_of_the_art", .title = "As fast as the memory"},
};
// One thread of the Intel Xeon of a server with an H200, 2026-11-23: the lowest of at least 75 runs.
inline constexpr lab::CpuTime kCpuTimes[] = {
    {"", "lower_left_u32_2048x2048_random_radius50", 16368},
    {"", "lower_left_f32_2048x2048_random", 3199},
};
inline constexpr lab::Manifest kManifest{
    .id = "sat",
    .title = "Summed area table",
    .paper = "F. Crow, 1984: Summed-Area Tables for Texture Mapping",
    .handout = "handouts/06-sat.md",
    .tasks = kTasks,
    .further_rungs = kFurtherRungs,
    .cpu_times = kCpuTimes,
};
static_assert(lab::adds_up(kManifest));

}  // namespace course::sat
