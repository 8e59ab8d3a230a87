// SPDX-License-Identifier: MIT
// The metrics of efficiency goals and their names, one row each; grader/grading/scoring/metrics.cpp
// measures them.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "lab/manifest.hpp"

namespace course::lab {

struct MetricRow {
  Metric metric;
  std::string_view name;
  std::string_view unit = "";  // unless its goal has another one
};

inline constexpr std::array kMetricRows{
    MetricRow{Metric::instructions, "instructions", "item"},
    MetricRow{Metric::active_lanes, "active_lanes"},
    MetricRow{Metric::bytes_ratio, "bytes_ratio"},
    MetricRow{Metric::launches, "launches"},
    MetricRow{Metric::barriers, "barriers"},
    MetricRow{Metric::bank_conflicts, "bank_conflicts"},
    MetricRow{Metric::atomics, "atomics", "item"},
    MetricRow{Metric::contention, "contention", "item"},
};

inline constexpr auto kAllMetrics = [] {
  std::array<Metric, kMetricRows.size()> all{};
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = kMetricRows[k].metric;
  return all;
}();

// What a goal's limit is counted for: "row"; "" if it is a sum or a ratio.
constexpr std::string_view unit_of(const EfficiencyGoal& goal) {
  return goal.unit.empty() ? kMetricRows[static_cast<std::size_t>(goal.metric)].unit : goal.unit;
}

// The schedule and the items of a run may change a value by 1 %, which must not change points.
inline constexpr double kRoom = 1.01;

// Whether a measured value meets the goal.
constexpr bool meets(Metric metric, double measured, double limit) {
  return at_least(metric) ? measured * kRoom >= limit : measured <= limit * kRoom;
}

}  // namespace course::lab
