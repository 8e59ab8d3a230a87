// SPDX-License-Identifier: MIT
// Builds the runners of labs: students' files one by one in a sandbox (compile_file.hpp), the course's own
// solutions with ninja. A lab that does not compile does not affect the others.
// Reading order: build.cpp; compile_file.hpp (the stages and the sandbox); recipe.hpp (the commands);
// diagnostics.hpp (messages); run_folder.hpp. grading/session_runner.hpp runs what was built.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "layout.hpp"
#include "sandbox/sandbox.hpp"
#include "verifier/verdict.hpp"

namespace course::grader {

constexpr std::uintmax_t kMaxSource = 1U << 20;  // bytes of a student's file

struct BuildOutcome {
  lab::Verdict verdict = lab::Verdict::infra;  // ok, compile_error, policy or infra
  // The first compiler errors, or the reason for another verdict; if ok, the first warnings.
  std::string message;
};

struct BuildOptions {
  bool solutions = false;
  std::string only_task;  // if not "", only this task of students' files is compiled
  unsigned jobs = 2;      // the number of labs that are compiled at the same time
  // For one lab, by the clock: only a backstop, because a busy machine must not turn into a compile error.
  double seconds = 3600;
  double cpu_seconds = 120;                             // of one compiler
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;  // of one compiler
  bool screen = true;                                   // screen the objects, if this build can read them
  const sandbox::Machine* machine = nullptr;            // the sandbox for compilers; nullptr: no sandbox
};

std::map<std::string, BuildOutcome> build_runners(const Layout& layout, std::span<const std::string> labs,
                                                  const BuildOptions& options);

// The path of the program that build_runners made for a lab: for a student's file in this run's folder, for a
// solution in the build folder.
Result<std::string> runner_of(const Layout& layout, const std::string& lab, bool solutions);

// Brings targets of the build folder up to date. The Error is meant for developers of the course.
Result<void> run_ninja(const Layout& layout, std::vector<std::string> arguments, double seconds = 600);

// Removes the checkout's and the build folder's path from all paths in the text.
std::string shorten_paths(std::string text, const Layout& layout);

}  // namespace course::grader
