// SPDX-License-Identifier: MIT
// The common part of trace, profile and smallest: the options that say which case of which task, and a run of
// it on the simulator with detailed measurement. What fails is thrown, as by need().
#pragma once

#include <cstdint>
#include <string>

#include "lab/problem.hpp"
#include "verifier/outcome.hpp"
#include "verifier/request.hpp"

namespace CLI {
class App;
}

namespace course::grader::cli {

struct OneCaseOptions {
  std::string lab, task, case_name;
  std::uint64_t seed = 1;
  bool solutions = false;
};
// LAB, TASK (also as --task), --case and --solutions; --seed is not among them.
void add_options(CLI::App& command, OneCaseOptions& options, const char* about_case);

struct OneTask {
  const lab::Problem* problem = nullptr;
  const lab::Task* task = nullptr;  // or, with solutions, a further rung
};

OneTask select_one(const OneCaseOptions& options);
// The task's case with that name. Otherwise the message contains similar names.
lab::Case named_case(const OneTask& one, const std::string& name);
// Builds the lab's runner, with this task alone of a student's file. The path of the program.
std::string build_one(const OneTask& one, bool solutions);
// Builds the runner and runs the case. Throws if the task is not implemented, on INFRA, and if the simulator
// has no report; otherwise the outcome may still be wrong. `runner`: the path of a runner that is already
// built; "" for the lab's own.
lab::Outcome run_one(const OneTask& one, const lab::Case& c, bool solutions, std::uint64_t seed,
                     const lab::Measure& measure, const std::string& runner = "");

}  // namespace course::grader::cli
