// SPDX-License-Identifier: MIT
// The common part of trace and profile: runs one case of one task on the simulator with detailed measurement.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "lab/problem.hpp"
#include "verifier/outcome.hpp"
#include "verifier/request.hpp"

namespace course::grader::cli {

struct OneTask {
  const lab::Problem* problem = nullptr;
  const lab::Task* task = nullptr;  // or, with solutions, a further rung
};

Result<OneTask> select_one(const std::string& lab, const std::string& task, bool solutions);
// The task's case with that name. The Error contains similar names.
Result<lab::Case> named_case(const OneTask& one, const std::string& name);
// Builds the lab's runner, with this task alone of a student's file. The path of the program.
Result<std::string> build_one(const OneTask& one, bool solutions);
// Builds the runner and runs the case. An Error if the simulator has no report; otherwise the outcome may
// still be wrong. `runner`: the path of a runner that is already built; "" for the lab's own.
Result<lab::Outcome> run_one(const OneTask& one, const lab::Case& c, bool solutions, std::uint64_t seed,
                             const lab::Measure& measure, const std::string& runner = "");

}  // namespace course::grader::cli
