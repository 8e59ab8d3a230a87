// SPDX-License-Identifier: MIT
// Runs a trusted tool (ninja, git, nvcc, ourselves) to its end with a time limit and keeps what it printed.
// Student code is never started here: that is lab::Session's. (Compilers of it are, in a sandbox.)
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace course::grader {

struct ProcessOptions {
  double seconds = 60;                   // then the whole process group is killed
  std::string directory;                 // "" for the current one
  std::vector<std::string> environment;  // "NAME=value", added to ours
  bool own_environment = true;           // false: just the above
  std::size_t max_output = 4U << 20;     // bytes kept; the rest is read and dropped
};

struct ProcessResult {
  int exit_code = 0;  // 128 + signal when killed by one
  bool timed_out = false;
  std::string output;  // stdout and stderr as they came
};

// Where PATH, or else the usual folders, has the program; `name` itself when nowhere.
std::string program_in_path(const std::string& name);

// An Error only when the program can't be started.
Result<ProcessResult> run_process(const std::vector<std::string>& arguments,
                                  const ProcessOptions& options = {});

}  // namespace course::grader
