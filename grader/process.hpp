// SPDX-License-Identifier: MIT
// Runs a trusted tool (ninja, git, nvcc, this program) to its end with a time limit and returns its output.
// Student code is not started here: lab::Session does that. (Compilers of student code are started here, in a
// sandbox; ./lab bench starts a student's kernels here, without one.)
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace course::grader {

struct ProcessOptions {
  double seconds = 60;                            // time limit; then the whole process group is killed
  std::string directory;                          // "" for the current one
  std::vector<std::string> environment;           // "NAME=value", added to our own
  bool own_environment = true;                    // false: only `environment`
  std::size_t max_output = 4U << 20;              // bytes kept; the rest is read and discarded
  std::function<void(std::string_view)> on_line;  // gets the last complete line of what has just been read
};

struct ProcessResult {
  int exit_code = 0;  // 128 + signal when killed by one
  bool timed_out = false;
  std::string output;  // stdout and stderr in the order of writing
};

// The path of the program, from PATH or the usual folders; `name` itself if it is not found.
std::string program_in_path(const std::string& name);

// Runs a program. An Error only if it can't be started.
Result<ProcessResult> run_process(const std::vector<std::string>& arguments,
                                  const ProcessOptions& options = {});

// What the file holds; "" if it cannot be read.
std::string contents_of(const std::string& path);

// Quotes a path or word for the shell.
std::string shell_word(std::string_view word);

}  // namespace course::grader
