// SPDX-License-Identifier: MIT
// A lab's tasks, their points and the goals that earn them. Plain constexpr data, declared once in each
// labs/<lab>/points.hpp. The grader and the tests read it; the handouts quote what the grader prints of it.
// Invariant: the required tasks add up to 100 points, or to 50 in a short lab, the bonus tasks to at most 50;
// or all tasks of the lab are bonus tasks, which add up to 100 (static_assert(adds_up(kManifest)) in every
// points.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace course::lab {

// The quantity that an efficiency goal limits, of the kernels of one case. Each is counted at instructions,
// so that work which only hides another cost has a cost itself. Items and units: Ideal.
enum class Metric {
  instructions,  // instructions that threads execute, an item
  active_lanes,  // share of active lanes in all warp instructions, 0 to 1. A lower limit.
  bytes_ratio,  // bytes moved (32 · sectors) ÷ bytes that must move. Of labs for several devices: bytes that
                // the device which sends most sends to others ÷ those that it must send.
  launches,     // kernel launches
  barriers,     // block-wide barriers and phases of mbarriers, a unit
  bank_conflicts,  // wavefronts of shared memory beyond those that the bytes need, a unit
  atomics,         // atomic operations, one for each lane that makes one, an item
  contention,      // lanes of atomics that wait for other lanes of their warp at the same address, an item
};
std::string_view name_of(Metric metric);
// True if larger is better. All other metrics must not exceed their limit.
constexpr bool at_least(Metric metric) {
  return metric == Metric::active_lanes;
}

struct EfficiencyGoal {
  Metric metric;
  double limit;
  int points;
  std::string_view unit = "";  // of barriers and bank_conflicts: "row" (Ideal::units); else "", see unit_of()
};

// Points for a speedup over the CPU baseline (measured times on a GPU, modelled times on the simulator).
struct SpeedupTier {
  double speedup;
  int points;  // for reaching this tier; tiers add up
};

// A short list that a constant can contain.
template <typename T>
class ShortList {
 public:
  constexpr ShortList() = default;
  constexpr ShortList(const T& item) { push_back(item); }
  constexpr ShortList(std::initializer_list<T> items) {
    for (const T& item : items) push_back(item);
  }
  constexpr void push_back(const T& item) {
    if (size_ == items_.size()) throw std::length_error("a task has at most 16 goals and 16 tiers");
    items_[size_++] = item;
  }
  constexpr T* begin() { return items_.data(); }
  constexpr T* end() { return begin() + size_; }
  constexpr const T* begin() const { return items_.data(); }
  constexpr const T* end() const { return begin() + size_; }
  constexpr bool empty() const { return size_ == 0; }

 private:
  std::array<T, 16> items_{};
  std::size_t size_ = 0;
};

struct Task {
  std::string_view id;            // "sequential": on the command line, in JSON, in file names
  std::string_view title;         // "Sequential addressing"
  std::string_view section = "";  // of the handout, if it is not called as the task: section_of()
  int correctness_points = 0;
  ShortList<EfficiencyGoal> efficiency = {};
  ShortList<SpeedupTier> speedup = {};
  bool bonus = false;
  // Modelled time of the reference solution in the timed cases, or without tiers in the counted ones,
  // together. A right program that takes no longer gets all points of `efficiency`. 0: no such rule, because
  // a rung below is as fast. The test `goals LAB` compares it with the solution.
  double reference_us = 0;
};

// The CPU baseline of a case that is timed on the simulator, measured on the computer that the simulator
// models: a server with an H200. Modelled times are compared with these times instead of with this
// computer's, so that points depend neither on the computer that grades nor on its load.
// `labcli batch-baselines LAB --device sim --measure --out -` measures them.
struct CpuTime {
  std::string_view task;  // "": every task
  std::string_view case_name;
  double us = 0;
};

constexpr int max_points(const Task& task) {
  int sum = task.correctness_points;
  for (const auto& goal : task.efficiency) sum += goal.points;
  for (const auto& tier : task.speedup) sum += tier.points;
  return sum;
}

struct Manifest {
  std::string_view id;       // "reduction": also the name of the folder
  std::string_view title;    // "Reduction"
  std::string_view paper;    // the main source: author, year, title
  std::string_view handout;  // "handouts/01-reduction.md"
  std::span<const Task> tasks;
  // Further rungs of the ladder that only the solutions have. They are run, tested and measured like tasks
  // (their indices follow those of the tasks), but students need not write them and they give no points.
  std::span<const Task> further_rungs = {};
  std::span<const CpuTime> cpu_times = {};  // a case without one: this computer's CPU is timed
  // The devices that its cases need at most; more than one: they use NCCL (Request::ranks).
  std::uint32_t most_devices = 1;
};

// The index of `task` among the manifest's tasks and further rungs: Request::task.
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

// Where a task is explained: "handouts/01-reduction.md#sequential"; "" without a handout.
inline std::string section_of(const Manifest& manifest, const Task& task) {
  if (manifest.handout.empty()) return "";
  return std::string(manifest.handout) + "#" + std::string(task.section.empty() ? task.id : task.section);
}

// The task or further rung with this id, or nullptr.
constexpr const Task* find_task(const Manifest& manifest, std::string_view id) {
  for (const auto* list : {&manifest.tasks, &manifest.further_rungs})
    for (const auto& candidate : *list)
      if (candidate.id == id) return &candidate;
  return nullptr;
}

// The recorded CPU times of a task's case, or nullptr.
constexpr const CpuTime* find_cpu_time(const Manifest& manifest, const Task& task,
                                       std::string_view case_name) {
  for (const CpuTime& time : manifest.cpu_times)
    if ((time.task.empty() || time.task == task.id) && time.case_name == case_name) return &time;
  return nullptr;
}

constexpr bool adds_up(const Manifest& manifest) {
  int required = 0, bonus = 0;
  for (const auto& task : manifest.tasks) (task.bonus ? bonus : required) += max_points(task);
  return ((required == 100 || required == 50) && bonus <= 50) || (required == 0 && bonus == 100);
}

}  // namespace course::lab
