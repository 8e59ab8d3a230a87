// SPDX-License-Identifier: MIT
#include "lab/manifest.hpp"

#include "lab/metrics.hpp"

namespace course::lab {

std::string_view name_of(Metric metric) {
  for (const MetricRow& row : kMetricRows)
    if (row.metric == metric) return row.name;
  return "?";
}

}  // namespace course::lab
