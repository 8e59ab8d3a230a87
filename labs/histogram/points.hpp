// SPDX-License-Identifier: MIT
// Histogram: the tasks and their points; `./lab points histogram` prints them. The tasks, and the further
// rungs after them, are in the same order as Rung in lab.hpp; a test compares both.
#pragma once

#include "lab/manifest.hpp"

namespace course::histogram {

using lab::Metric;

// Each goal separates a rung from the rungs below it (the course's tests check the numbers). Rung 1 does one
// atomic per sample; those of a warp read and write about 25 sectors of counts. Rung 2 does none but moves 64
// bytes per sample. Rung 3 moves little more than its input. Rung 4 does one atomic per run, but takes longer
// than rung 3, so it has no reference time. Contention counts the turns that the hardware takes, so it
// follows the time: it excludes global atomics for skewed samples, but not the increments of rung 3, which
// are as fast as those of rung 5.
// The times are compared with one CPU core, on a device like the H200.
inline constexpr lab::Task kTasks[] = {
    {.id = "global_atomics",
     .title = "Global atomics",
     .correctness_points = 16,
     .efficiency = {{Metric::atomics, 1.05, 2, "sample"},
                    {Metric::active_lanes, 0.95, 2},
                    {Metric::launches, 2, 2}},
     .speedup = {{2, 2}},
     .reference_us = 668.09},
    {.id = "private_counts",
     .title = "A private histogram per thread",
     .correctness_points = 16,
     .efficiency = {{Metric::atomics, 0.05, 6, "sample"}, {Metric::launches, 3, 4}},
     .speedup = {{3, 3}, {6, 3}},
     .reference_us = 227.2},
    {.id = "shared_counts",
     .title = "A histogram per block",
     .correctness_points = 20,
     .efficiency = {{Metric::bytes_ratio, 2, 8}, {Metric::launches, 2, 4}},
     .speedup = {{30, 4}, {50, 4}, {65, 4}},
     .reference_us = 26.79},
    {.id = "sort_reduce",
     .title = "Sort, then reduce by key",
     .correctness_points = 10,
     .efficiency = {{Metric::atomics, 0.5, 3, "sample"}, {Metric::bytes_ratio, 4, 3}},
     .speedup = {{2, 2}, {5, 2}},
     .bonus = true},
    {.id = "combined",
     .title = "Chosen by the number of bins",
     .correctness_points = 8,
     .efficiency = {{Metric::contention, 0.1, 4, "sample"}, {Metric::bytes_ratio, 2, 3}},
     .speedup = {{8, 3}, {20, 2}},
     .bonus = true,
     .reference_us = 177.17},
};
inline constexpr lab::Task kFurtherRungs[] = {
    {.id = "per_warp", .title = "A histogram per warp", .section = "combined"},
    {.id = "run_lengths", .title = "Runs of equal bins", .section = "combined"},
    {.id = "state_of_the_art", .title = "As fast as the memory"},
};
// One thread of the Intel Xeon of a server with an H200, 2026-11-23: the lowest of at least 75 runs.
inline constexpr lab::CpuTime kCpuTimes[] = {
    {"", "even_i32_b256_n4194304_random", 4728},
    {"", "even_i32_b4096_n4194304_random", 8356},
    {"", "even_i32_b65536_n4194304_random", 5219},
    {"", "even_i32_b256_n1048576_random", 2003},
};
inline constexpr lab::Manifest kManifest{
    .id = "histogram",
    .title = "Histogram",
    .paper =
        "J. Gomez-Luna, J. Gonzalez-Linares, J. Benavides, N. Guil, 2013: An Optimized Approach to Histogram "
        "Computation on GPU",
    .handout = "handouts/05-histogram.md",
    .tasks = kTasks,
    .further_rungs = kFurtherRungs,
    .cpu_times = kCpuTimes,
};
static_assert(lab::adds_up(kManifest));

}  // namespace course::histogram
