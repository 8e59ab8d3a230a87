// SPDX-License-Identifier: MIT
#include "grading/scoring/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace course::grader {
namespace {

constexpr double kSectorBytes = 32;

double global_bytes(const sim::Counters& totals) {
  return kSectorBytes *
         (static_cast<double>(totals.global_load_sectors) + static_cast<double>(totals.global_store_sectors));
}
// Local memory is stored in global memory.
double bytes_moved(const sim::Counters& totals) {
  return global_bytes(totals) + kSectorBytes * static_cast<double>(totals.local_sectors);
}

}  // namespace

std::optional<double> measure(lab::Metric metric, const sim::Counters& totals, const lab::Ideal& ideal,
                              const lab::Traffic& traffic) {
  if (totals.launches == 0) return std::nullopt;
  const auto per = [](double counted, double divisor) -> std::optional<double> {
    return divisor > 0 ? std::optional(counted / divisor) : std::nullopt;
  };
  const auto count = [](std::uint64_t counted) { return static_cast<double>(counted); };
  switch (metric) {
    case lab::Metric::instructions: return per(count(totals.lane_instructions), ideal.items);
    case lab::Metric::active_lanes:
      return per(count(totals.lane_instructions), 32 * count(totals.warp_instructions));
    case lab::Metric::bytes_ratio:
      return ideal.bytes_sent > 0 ? per(count(traffic.bytes_sent), ideal.bytes_sent)
                                  : per(bytes_moved(totals), ideal.bytes);
    case lab::Metric::launches: return count(totals.launches);
    case lab::Metric::barriers: return per(count(totals.barriers), ideal.units);
    case lab::Metric::bank_conflicts: return per(count(totals.shared_conflicts), ideal.units);
    case lab::Metric::atomics: return per(count(totals.atomic_lanes), ideal.items);
    case lab::Metric::contention:
      return per(count(totals.atomic_turns - std::min(totals.atomic_turns, totals.atomic_requests)),
                 ideal.items);
  }
  return std::nullopt;
}

std::string implausible(const sim::Counters& totals, const lab::Ideal& ideal) {
  constexpr double kMin = 0.5;
  const double bytes = global_bytes(totals), least = ideal.least_bytes > 0 ? ideal.least_bytes : ideal.bytes;
  if (bytes < kMin * least) {
    return fmt::format(
        "The kernels moved {:.0f} bytes of global memory; this task must move at least {:.0f}. The work has "
        "to be done by kernels, on the device.",
        bytes, least);
  }
  return "";
}

}  // namespace course::grader
