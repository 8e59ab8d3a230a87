// SPDX-License-Identifier: MIT
// What trace and profile have in common: one task of one lab, one case, one run on the simulator that is looked at closely.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "lab/problem.hpp"
#include "verifier/session.hpp"

namespace course::grader::cli {

struct OneTask {
  const lab::Problem* problem = nullptr;
  const lab::Task* task = nullptr;  // or with solutions a further rung
};

Result<OneTask> select_one(const std::string& lab, const std::string& task, bool solutions);
// The task's case of that name; an Error names the nearest ones.
Result<lab::Case> named_case(const OneTask& one, const std::string& name);
// Builds the runner and runs the case. An Error unless the simulator reported something: then the outcome may still be wrong.
// `runner`: another one, built already; "" for the lab's own.
Result<lab::Outcome> run_one(const OneTask& one, const lab::Case& c, bool solutions, std::uint64_t seed,
                             const lab::Measure& measure, const std::string& runner = "");

}  // namespace course::grader::cli
