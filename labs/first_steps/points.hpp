// SPDX-License-Identifier: MIT
// First steps: the tasks, in the order of Rung in lab.hpp, and their points, as `./lab points first_steps`
// prints.
#pragma once

#include "lab/manifest.hpp"

namespace course::first_steps {

inline constexpr lab::Task kTasks[] = {
    {.id = "index", .title = "An index", .correctness_points = 10},
    {.id = "guard", .title = "A guard", .correctness_points = 10},
    {.id = "stride", .title = "A grid-stride loop", .correctness_points = 10},
    {.id = "barrier", .title = "Shared memory and a barrier", .correctness_points = 10},
    {.id = "atomic", .title = "An atomic", .correctness_points = 10},
};
inline constexpr lab::Manifest kManifest{
    .id = "first_steps",
    .title = "First steps",
    .paper = "NVIDIA: CUDA C++ Programming Guide, Programming Model",
    .handout = "handouts/00-first-steps.md",
    .tasks = kTasks,
};
static_assert(lab::adds_up(kManifest));

}  // namespace course::first_steps
