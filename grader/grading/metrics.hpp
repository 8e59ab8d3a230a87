// SPDX-License-Identifier: MIT
// Computes the metrics of efficiency goals from the simulator's report of one case. The report comes from a
// process that runs a student's kernels, so it may contain anything: text that cannot be parsed gives an
// Error, and impossible values (fewer bytes than must be moved) are reported instead of rewarded.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "lab/metrics.hpp"
#include "lab/problem.hpp"
#include "sim/counters.hpp"
#include "verifier/sim_report.hpp"

namespace course::grader {

using ReportedFinding = lab::SimFinding;

// What the device that sends most has sent to other devices (nccl/operation/model.hpp).
struct Traffic {
  std::uint64_t messages = 0, bytes_sent = 0;
};

// The fields that the verifier reads (verifier/sim_report.hpp), and all counters.
struct SimReport : lab::SimReport {
  sim::Counters totals;
  Traffic traffic;
};

Result<SimReport> parse_sim_report(std::string_view json);

// The value of `metric`; std::nullopt if the counters do not determine it (no ideal, nothing counted).
std::optional<double> measure(lab::Metric metric, const sim::Counters& totals, const lab::Ideal& ideal,
                              const Traffic& traffic = {});

// Whether a measured value meets the goal.
bool meets(lab::Metric metric, double measured, double limit);

// Whether kernels moved less than half of the bytes that every solution must move, so that they cannot have
// done the work. Returns one sentence, or "" if the counts are plausible.
std::string implausible(const sim::Counters& totals, const lab::Ideal& ideal);

// Whether the data flow shows fewer operations, or a shorter chain of them, than any right program has
// (lab::Ideal::least_work and least_steps), so that it missed some. Returns one sentence, or "".
std::string below_bounds(const sim::Counters& totals, const lab::Ideal& ideal);

}  // namespace course::grader
