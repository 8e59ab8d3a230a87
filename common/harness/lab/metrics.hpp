// SPDX-License-Identifier: MIT
// The metrics of efficiency goals and their names, one row each; grading/scoring/metrics.cpp measures them.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "lab/manifest.hpp"

namespace course::lab {

struct MetricRow {
  Metric metric;
  std::string_view name;
};

inline constexpr std::array kMetricRows{
    MetricRow{Metric::work_ratio, "work_ratio"},
    MetricRow{Metric::step_ratio, "step_ratio"},
    MetricRow{Metric::bytes_ratio, "bytes_ratio"},
    MetricRow{Metric::active_lanes, "active_lanes"},
    MetricRow{Metric::bank_conflicts, "bank_conflicts"},
    MetricRow{Metric::launches, "launches"},
    MetricRow{Metric::barriers, "barriers"},
    MetricRow{Metric::atomics, "atomics"},
    MetricRow{Metric::contention, "contention"},
    MetricRow{Metric::bytes_sent, "bytes_sent"},
    MetricRow{Metric::messages, "messages"},
};

inline constexpr auto kAllMetrics = [] {
  std::array<Metric, kMetricRows.size()> all{};
  for (std::size_t k = 0; k < all.size(); ++k) all[k] = kMetricRows[k].metric;
  return all;
}();

}  // namespace course::lab
