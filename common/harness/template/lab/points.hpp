// SPDX-License-Identifier: MIT
// LAB_TITLE: the tasks, in the order of Rung in lab.hpp, and their points, as `./lab points LAB_ID` prints.
#pragma once

#include "lab/manifest.hpp"

namespace course::LAB_ID {

using lab::Metric;

inline constexpr lab::Task kTasks[] = {
    {.id = "map",
     .title = "One thread per item",
     .correctness_points = 60,
     .efficiency = {{Metric::bytes_ratio, 1.05, 20}, {Metric::active_lanes, 0.9, 10}},
     .speedup = {{2, 5}, {4, 5}}},
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
