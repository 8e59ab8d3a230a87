// SPDX-License-Identifier: MIT
// Radix sort: the tasks and their points; `./lab points radix_sort` prints them. The tasks, and the further
// rungs after them, are in the same order as Rung in lab.hpp; a test compares both.
#pragma once

#include "lab/manifest.hpp"

namespace course::radix_sort {

using lab::Metric;

// Each goal requires the task's idea (the course's tests check the numbers).
// The times are compared with one CPU core, which also sorts by 8-bit digits, on a device like the H200.
inline constexpr lab::Task kTasks[] = {
    {.id = "split",
     .title = "One-bit split",
     .correctness_points = 18,
     .efficiency = {{Metric::bytes_ratio, 120, 5}, {Metric::launches, 96, 5}},
     .reference_us = 353.1},
    {.id = "tile_sort",
     .title = "Tiles in shared memory",
     .correctness_points = 6,
     .efficiency = {{Metric::bytes_ratio, 6, 2}, {Metric::barriers, 256, 2, "tile of 1,024 keys"}},
     .speedup = {{15, 1}, {30, 1}},
     .bonus = true,
     .reference_us = 38.59},
    {.id = "merge",
     .title = "Parallel bitonic merge",
     .correctness_points = 8,
     .efficiency = {{Metric::bytes_ratio, 40, 2}, {Metric::launches, 40, 2}},
     .speedup = {{5, 1}, {10, 1}},
     .bonus = true,
     .reference_us = 291.7},
    {.id = "digits",
     .title = "Digits of k bits",
     .correctness_points = 28,
     .efficiency = {{Metric::bytes_ratio, 11, 8}, {Metric::launches, 24, 5}},
     .speedup = {{10, 4}, {20, 5}},
     .reference_us = 100.5},
    {.id = "any_key",
     .title = "Any key, either direction",
     .correctness_points = 14,
     .speedup = {{15, 4}, {30, 4}}},
    {.id = "onesweep",
     .title = "One sweep per digit",
     .correctness_points = 9,
     .efficiency = {{Metric::bytes_ratio, 7.5, 4}, {Metric::launches, 8, 3}},
     .speedup = {{15, 2}, {30, 2}},
     .bonus = true,
     .reference_us = 79.9},
};
inline constexpr lab::Task kFurtherRungs[] = {
    {.id = "merge_path", .title = "Merging by rank", .section = "merge"},
    {.id = "counts_first", .title = "Counts first, longer runs", .section = "state_of_the_art"},
    {.id = "state_of_the_art", .title = "As fast as the multiprocessors"},
};
// One thread of the Intel Xeon of a server with an H200, 2026-11-23: the lowest of at least 75 runs.
inline constexpr lab::CpuTime kCpuTimes[] = {
    {"", "pairs_f32_n1048576_random", 23999},
    {"tile_sort", "keys_u32_n1048576_random", 14106},
    {"", "keys_u32_n1048576_random", 16114},
};
inline constexpr lab::Manifest kManifest{
    .id = "radix_sort",
    .title = "Radix sort",
    .paper = "A. Adinets, D. Merrill, 2022: Onesweep: A Faster Least Significant Digit Radix Sort for GPUs",
    .handout = "handouts/04-radix-sort.md",
    .tasks = kTasks,
    .further_rungs = kFurtherRungs,
    .cpu_times = kCpuTimes,
};
static_assert(lab::adds_up(kManifest));

}  // namespace course::radix_sort
