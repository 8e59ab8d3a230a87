// SPDX-License-Identifier: MIT
// Demonstration: the tasks, in the order of Rung in lab.hpp, and their points, as `./lab points demo` prints.
#pragma once

#include "lab/manifest.hpp"

namespace course::demo {

using lab::Metric;

inline constexpr lab::Task kTasks[] = {
    {.id = "serial",
     .title = "One thread per tile",
     .section = "coalescing",
     .correctness_points = 30,
     .efficiency = {{Metric::bytes_ratio, 1.05, 10}, {Metric::active_lanes, 0.9, 10}}},
    {.id = "shared",
     .title = "One thread per item, in shared memory",
     .section = "barriers",
     .correctness_points = 30,
     .efficiency = {{Metric::bytes_ratio, 1.05, 10}, {Metric::active_lanes, 0.9, 10}}},
};
inline constexpr lab::Manifest kManifest{
    .id = "demo",
    .title = "Demonstration",
    .paper = "the course: a lab that is solved, to try the commands on",
    .handout = "handouts/00-ideas.md",
    .tasks = kTasks,
};
static_assert(lab::adds_up(kManifest));

}  // namespace course::demo
