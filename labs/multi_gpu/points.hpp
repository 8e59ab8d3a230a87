// SPDX-License-Identifier: MIT
// Beyond one GPU: the tasks and their points; `./lab points multi_gpu` prints them. The tasks, and the
// further rungs after them, are in the same order as Rung in lab.hpp; a test compares both.
// All tasks are bonus tasks: the lab adds nothing to the points that a course requires.
#pragma once

#include "lab/manifest.hpp"

namespace course::multi_gpu {

using lab::Metric;

// reduce and scan: ranks exchange one value each, however long the shards are: n_ranks - 1 messages of one
// value from each. The bytes through a device's memory separate the scan that knows its prefix (3n items)
// from the one that adds it later (5n); 2n are the minimum.
// histogram: counts of 65,536 bins. By slices, a rank sends 2 (n_ranks - 1) / n_ranks times their bytes, in
// n_ranks - 1 messages of each of two operations. An all-reduce of that size sends n_ranks - 1 times their
// bytes.
// sort: random keys, of which (n_ranks - 1) / n_ranks of a shard belong to other ranks. The search for the
// boundaries adds less than a tenth, in a message per digit and other rank.
inline constexpr lab::Task kTasks[] = {
    {.id = "reduce",
     .title = "Reduction over all devices",
     .correctness_points = 10,
     .efficiency = {{Metric::bytes_ratio, 1.05, 4}, {Metric::contention, 1, 3}, {Metric::launches, 9999, 3}},
     .bonus = true},
    {.id = "scan",
     .title = "Scan over all devices",
     .correctness_points = 15,
     .efficiency = {{Metric::bytes_ratio, 1.55, 6}, {Metric::contention, 1, 2}, {Metric::launches, 9999, 2}},
     .bonus = true},
    {.id = "histogram",
     .title = "Histogram over all devices",
     .correctness_points = 10,
     .efficiency = {{Metric::contention, 1.05, 6}, {Metric::launches, 9999, 4}},
     .bonus = true},
    {.id = "sort",
     .title = "Sort over all devices",
     .correctness_points = 20,
     .efficiency = {{Metric::contention, 1.15, 10}, {Metric::launches, 9999, 5}},
     .bonus = true},
};
inline constexpr lab::Task kFurtherRungs[] = {
    {.id = "reduce_in_order", .title = "In the order of the ranks", .section = "reduce"},
    {.id = "scan_then_add", .title = "Scan first, add later", .section = "scan"},
    {.id = "histogram_all_reduce", .title = "Histogram by an all-reduce", .section = "histogram"},
};
inline constexpr lab::Manifest kManifest{
    .id = "multi_gpu",
    .title = "Beyond one GPU",
    .paper =
        "R. Thakur, R. Rabenseifner, W. Gropp, 2005: Optimization of Collective Communication Operations in "
        "MPICH",
    .handout = "handouts/08-multi-gpu.md",
    .tasks = kTasks,
    .further_rungs = kFurtherRungs,
    .most_devices = lab::kMaxDevices,
};
static_assert(lab::adds_up(kManifest));

}  // namespace course::multi_gpu
