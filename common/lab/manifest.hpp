// SPDX-License-Identifier: MIT
// What a lab is worth: its tasks, their points and the goals that earn them. Plain constexpr data, declared
// once in each labs/<lab>/lab.hpp and read by the grader, the tests, the handouts and the skeleton generator.
// Invariant: the tasks that are no bonus add up to 100 points (static_assert(adds_up(kManifest)) in every
// lab.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace course::lab {

// What an efficiency goal looks at. Ratios are measured ÷ ideal, where the ideal comes from Problem::ideal.
enum class Metric {
  work_ratio,   // operations ÷ the closed form's
  step_ratio,   // longest dependent chain ÷ the closed form's
  bytes_ratio,  // global and local bytes moved (32 · sectors) ÷ bytes that must move
  // Share of active lanes in the issued warp instructions (at most 32 an operation), 0 to 1. A lower limit.
  active_lanes,
  // 1 + shared-memory wavefronts beyond those that the bytes need, per 32 operations of the closed form.
  bank_conflicts,
  launches,  // kernel launches
  barriers,  // block-wide barriers and phases of mbarriers per 1,000 operations of the closed form
  atomics,   // atomic operations, one for each lane that makes one, per 1,000 operations of the closed form
  // 1 + lanes of atomics that wait for other lanes of their warp at the same address, per 32 operations of
  // the closed form.
  contention,
};
std::string_view name_of(Metric metric);
// True where larger is better (active_lanes); all the others must not exceed their limit.
constexpr bool at_least(Metric metric) {
  return metric == Metric::active_lanes;
}

struct EfficiencyGoal {
  Metric metric;
  double limit;
  int points;
};

// Points for being `speedup` times as fast as the CPU baseline (times on a GPU, modelled on the simulator).
struct SpeedupTier {
  double speedup;
  int points;  // for reaching this tier; tiers add up
};

enum class Baseline { one_thread, all_cores };

struct Task {
  std::string_view id;       // "sequential": on the command line, in JSON, in file names
  std::string_view title;    // "Sequential addressing"
  std::string_view section;  // the handout's: "handouts/01-reduction.md#sequential"
  int correctness_points;
  std::span<const EfficiencyGoal> efficiency;
  std::span<const SpeedupTier> speedup;
  Baseline baseline = Baseline::one_thread;
  bool bonus = false;
};

constexpr int max_points(const Task& task) {
  int sum = task.correctness_points;
  for (const auto& goal : task.efficiency) sum += goal.points;
  for (const auto& tier : task.speedup) sum += tier.points;
  return sum;
}

struct Manifest {
  std::string_view id;     // "reduction": the folder
  std::string_view title;  // "Reduction"
  std::string_view paper;  // the source a reader should know: author, year, title
  std::span<const Task> tasks;
  // Further rungs of the ladder that the solutions have: run, tested and measured like tasks (their index
  // goes on where the tasks' ends), asked of nobody and worth nothing.
  std::span<const Task> further_rungs = {};
};

// Where `task` stands among the manifest's tasks and further rungs: Request::task.
constexpr std::uint32_t index_of(const Manifest& manifest, const Task& task) {
  std::uint32_t index = 0;
  for (const auto* list : {&manifest.tasks, &manifest.further_rungs}) {
    for (const auto& candidate : *list) {
      if (candidate.id == task.id) return index;
      ++index;
    }
  }
  return index;
}

// The task or further rung with this id, or nullptr.
constexpr const Task* find_task(const Manifest& manifest, std::string_view id) {
  for (const auto* list : {&manifest.tasks, &manifest.further_rungs}) {
    for (const auto& candidate : *list) {
      if (candidate.id == id) return &candidate;
    }
  }
  return nullptr;
}

constexpr bool adds_up(const Manifest& manifest) {
  int required = 0, bonus = 0;
  for (const auto& task : manifest.tasks) (task.bonus ? bonus : required) += max_points(task);
  return required == 100 && bonus <= 20;
}

}  // namespace course::lab
