// SPDX-License-Identifier: MIT
// Beyond one GPU: the tasks and their points; `./lab points multi_gpu` prints them. The tasks, and the
// further rungs after them, are in the same order as Rung in lab.hpp; a test compares both.
// All tasks are bonus tasks: the lab adds nothing to the points that a course requires.
#pragma once

#include "lab/manifest.hpp"

namespace course::multi_gpu {

using lab::Metric;

// reduce and scan: ranks exchange one value each, however long the shards are. The instructions separate the
// scan that knows its prefix from the one that adds it later.
// histogram: counts of 65,536 bins. By slices, a rank sends 2 (n_ranks - 1) / n_ranks times their bytes; an
// all-reduce of that size sends n_ranks - 1 times their bytes. At this size, it takes less time all the same,
// so there is no reference time.
// sort: random keys, of which (n_ranks - 1) / n_ranks of a shard belong to other ranks. The search for the
// boundaries adds less than a tenth.
inline constexpr lab::Task kTasks[] = {
    {.id = "reduce",
     .title = "Reduction over all devices",
     .correctness_points = 10,
     .efficiency = {{Metric::bytes_ratio, 1.05, 6}, {Metric::instructions, 60, 4}},
     .bonus = true,
     .reference_us = 79.33},
    {.id = "scan",
     .title = "Scan over all devices",
     .correctness_points = 15,
     .efficiency = {{Metric::instructions, 103, 6}, {Metric::bytes_ratio, 1.05, 4}},
     .bonus = true,
     .reference_us = 85.72},
    {.id = "histogram",
     .title = "Histogram over all devices",
     .correctness_points = 10,
     .efficiency = {{Metric::bytes_ratio, 1.3, 6}, {Metric::instructions, 60, 4, "sample"}},
     .bonus = true},
    {.id = "sort",
     .title = "Sort over all devices",
     .correctness_points = 20,
     .efficiency = {{Metric::bytes_ratio, 1.2, 10}, {Metric::instructions, 3500, 5, "key"}},
     .bonus = true,
     .reference_us = 779.4},
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
