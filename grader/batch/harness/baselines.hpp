// SPDX-License-Identifier: MIT
// The CPU baselines for a whole class, measured once on an idle machine, so that every submission is compared
// with the same times.
#pragma once

#include "grading/baseline.hpp"
#include "grading/grade.hpp"
#include "grading/planning/select.hpp"

namespace course::grader::batch {

// Measures every case that has a speedup goal, except those whose times are recorded for the simulator
// (lab::CpuTime), unless `recorded_too`. It makes three times as many runs as for one submission, because the
// times are used for the whole class.
KnownBaselines time_baselines(Problems labs, const GradeOptions& options, bool recorded_too = false);

}  // namespace course::grader::batch
