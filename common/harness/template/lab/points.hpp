// SPDX-License-Identifier: MIT
// LAB_TITLE: the tasks, in the order of Rung in lab.hpp, and their points, as `./lab points LAB_ID` prints.
#pragma once

#include "lab/manifest.hpp"

namespace course::LAB_ID {

using lab::Metric;

// `.speedup = {{2, 5}, {4, 5}}`: 5 points for twice the speed of the CPU baseline, 5 more for four times.
inline constexpr lab::Task kTasks[] = {
    {.id = "serial",
     .title = "One thread per tile",
     .section = "serial",
     .correctness_points = 30,
     .efficiency = {{Metric::launches, 1, 10}, {Metric::active_lanes, 0.9, 10}}},
    {.id = "shared",
     .title = "One thread per item, in shared memory",
     .section = "shared",
     .correctness_points = 30,
     .efficiency = {{Metric::bytes_ratio, 1.05, 10}, {Metric::active_lanes, 0.9, 10}}},
};
inline constexpr lab::Manifest kManifest{
    .id = "LAB_ID",
    .title = "LAB_TITLE",
    .paper = "author, year: the source that a reader should know",
    .handout = "handouts/LAB_HANDOUT",
    .tasks = kTasks,
};
static_assert(lab::adds_up(kManifest));

}  // namespace course::LAB_ID
