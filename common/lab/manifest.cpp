// SPDX-License-Identifier: MIT
#include "lab/manifest.hpp"

namespace course::lab {

std::string_view name_of(Metric metric) {
  switch (metric) {
    case Metric::work_ratio: return "work_ratio";
    case Metric::step_ratio: return "step_ratio";
    case Metric::bytes_ratio: return "bytes_ratio";
    case Metric::active_lanes: return "active_lanes";
    case Metric::bank_conflicts: return "bank_conflicts";
    case Metric::launches: return "launches";
    case Metric::barriers: return "barriers";
    case Metric::atomics: return "atomics";
    case Metric::contention: return "contention";
  }
  return "?";
}

}  // namespace course::lab
