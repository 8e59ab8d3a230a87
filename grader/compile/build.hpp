// SPDX-License-Identifier: MIT
// Builds labs' runners: students' files one by one, shut in (compile_file.hpp), the solutions, which are the course's own, with ninja.
// One lab that does not compile hurts no other.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "layout.hpp"
#include "sandbox/sandbox.hpp"
#include "verifier/session.hpp"

namespace course::grader {

constexpr std::uintmax_t kMaxSource = 1U << 20;  // bytes, of a student's file

struct StageTime {
  std::string stage;
  double seconds = 0;  // from the beginning to the end of this stage; some go on side by side
};

struct BuildOutcome {
  lab::Verdict verdict = lab::Verdict::infra;  // ok, compile_error, policy or infra
  std::string message;                // the first compiler errors, paths shortened; why not; "" when ok
  std::vector<StageTime> times = {};  // of a student's file
};

struct BuildOptions {
  bool solutions = false;
  std::string only_task;     // of students' files, nothing is compiled for other tasks; "" for all
  unsigned jobs = 2;         // labs at a time
  double seconds = 600;      // for one lab
  double cpu_seconds = 240;  // of one compiler
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;  // of one compiler
  bool screen = true;                                   // look at the objects, where this build can
  const sandbox::Machine* machine = nullptr;            // how far compilers are shut in; not at all without
};

std::map<std::string, BuildOutcome> build_runners(const Layout& layout, std::span<const std::string> labs,
                                                  const BuildOptions& options);

// The program that build_runners made for a lab: of a student's file in this run's folder, of a solution in the build folder.
Result<std::string> runner_of(const Layout& layout, const std::string& lab, bool solutions);

// Brings targets of the build folder up to date; the error is for whoever works on the course.
Result<void> run_ninja(const Layout& layout, std::vector<std::string> arguments, double seconds = 600);

// Paths below the checkout and the build folder without their beginning.
std::string shorten_paths(std::string text, const Layout& layout);

}  // namespace course::grader
