// SPDX-License-Identifier: MIT
// From the simulator's report of one case to the figures that efficiency goals look at.
// The report comes out of a process that runs a student's kernels, so any text may arrive here: what does not parse is an Error,
// and what parses but cannot be (fewer bytes than must move) is said to be so rather than rewarded.
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

// What the verifier takes from it (verifier/sim_report.hpp), and all counters.
struct SimReport : lab::SimReport {
  sim::Counters totals;
};

Result<SimReport> parse_sim_report(std::string_view json);

// What was measured for `metric`, or nothing when the counters don't tell (no ideal, nothing counted).
std::optional<double> measure(lab::Metric metric, const sim::Counters& totals, const lab::Ideal& ideal);

// True when a measured value meets the goal.
bool meets(lab::Metric metric, double measured, double limit);

// Below half of what any kernel has to do, the work was not done by kernels: "" when plausible, else one
// sentence.
std::string implausible(const sim::Counters& totals, const lab::Ideal& ideal);

}  // namespace course::grader
