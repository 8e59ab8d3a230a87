// SPDX-License-Identifier: MIT
// Computes the metrics of efficiency goals from the simulator's report of one case (verifier/sim_report.hpp).
// The report comes from a process that runs a student's kernels: impossible values (fewer bytes than must be
// moved) are reported instead of rewarded.
#pragma once

#include <optional>
#include <string>

#include "lab/metrics.hpp"
#include "lab/problem.hpp"
#include "sim/counters.hpp"
#include "verifier/sim_report.hpp"

namespace course::grader {

// The value of `metric`; std::nullopt if the counters do not determine it (no such units, no launch).
std::optional<double> measure(lab::Metric metric, const sim::Counters& totals, const lab::Ideal& ideal,
                              const lab::Traffic& traffic = {});

// Whether kernels moved less than half of the bytes that every solution must move, so that they cannot have
// done the work. Returns one sentence, or "" if the counts are plausible.
std::string implausible(const sim::Counters& totals, const lab::Ideal& ideal);

}  // namespace course::grader
