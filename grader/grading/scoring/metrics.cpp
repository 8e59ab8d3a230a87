// SPDX-License-Identifier: MIT
#include "grading/scoring/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

// 1 if there are none; plus the unwanted events per 32 operations of the closed form, so that additional
// useless work does not reduce the value.
std::optional<double> excess(std::uint64_t launches, std::uint64_t unwanted, const lab::Ideal& ideal) {
  if (launches == 0 || !(ideal.work > 0)) return std::nullopt;
  return 1 + 32 * static_cast<double>(unwanted) / ideal.work;
}

}  // namespace

std::optional<double> measure(lab::Metric metric, const sim::Counters& totals, const lab::Ideal& ideal,
                              const lab::Traffic& traffic) {
  const auto ratio = [](double measured, double divisor) -> std::optional<double> {
    if (!(divisor > 0) || !(measured > 0)) return std::nullopt;
    return measured / divisor;
  };
  switch (metric) {
    case lab::Metric::work_ratio: return ratio(static_cast<double>(totals.work), ideal.work);
    case lab::Metric::step_ratio: return ratio(static_cast<double>(totals.steps), ideal.steps);
    case lab::Metric::bytes_ratio: return ratio(bytes_moved(totals), ideal.bytes);
    case lab::Metric::active_lanes:
      return ratio(static_cast<double>(totals.lane_instructions),
                   32 * static_cast<double>(totals.warp_instructions));
    case lab::Metric::bank_conflicts: return excess(totals.launches, totals.shared_conflicts, ideal);
    case lab::Metric::launches: return ratio(static_cast<double>(totals.launches), 1);
    case lab::Metric::barriers:
      // 0 is allowed: a kernel may need no barriers.
      if (totals.launches == 0 || !(ideal.work > 0)) return std::nullopt;
      return 1000 * static_cast<double>(totals.barriers) / ideal.work;
    case lab::Metric::atomics:
      if (totals.launches == 0 || !(ideal.work > 0)) return std::nullopt;
      return 1000 * static_cast<double>(totals.atomic_lanes) / ideal.work;
    case lab::Metric::contention:
      return excess(totals.launches,
                    totals.atomic_turns - std::min(totals.atomic_turns, totals.atomic_requests), ideal);
    case lab::Metric::bytes_sent: return ratio(static_cast<double>(traffic.bytes_sent), ideal.bytes_sent);
    case lab::Metric::messages:
      if (!(ideal.bytes_sent > 0)) return std::nullopt;
      return ratio(static_cast<double>(traffic.messages), 1);
  }
  return std::nullopt;
}

bool meets(lab::Metric metric, double measured, double limit) {
  if (!std::isfinite(measured)) return false;
  // Only for rounding: a limit of 1.0 is met by the ratio of two equal counts.
  constexpr double kRounding = 1e-9;
  return lab::at_least(metric) ? measured >= limit - kRounding : measured <= limit + kRounding;
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

std::string below_bounds(const sim::Counters& totals, const lab::Ideal& ideal) {
  const auto too_few = [](std::uint64_t measured, double least) {
    return static_cast<double>(measured) < least;
  };
  if (too_few(totals.work, ideal.least_work))
    return fmt::format(
        "The simulator saw {} operations that combine items. The result depends on all items, so every right "
        "program has at least {:.0f}. A person must look at how this program combines them.",
        totals.work, ideal.least_work);
  if (too_few(totals.steps, ideal.least_steps))
    return fmt::format(
        "The longest chain of operations that the simulator saw has {}. A result that depends on all items "
        "needs a chain of at least {:.0f}. A person must look at how this program combines them.",
        totals.steps, ideal.least_steps);
  return "";
}

}  // namespace course::grader
