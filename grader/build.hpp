// SPDX-License-Identifier: MIT
// Builds labs' runners with ninja, in a sandbox that shows no solution and no secret of this machine, and tells whose fault a
// failure is. All labs are built in one go, and one that does not compile hurts no other.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lab/session.hpp"
#include "layout.hpp"
#include "sandbox/sandbox.hpp"

namespace course::grader {

struct BuildOutcome {
  lab::Verdict verdict = lab::Verdict::infra;  // ok, compile_error, policy or infra
  std::string message;  // the first compiler errors, paths shortened; why not; "" when ok
};

struct BuildOptions {
  bool solutions = false;
  unsigned jobs = 2;
  double seconds = 600;                                 // for all labs together
  double cpu_seconds = 240;                             // of one compiler
  std::uint64_t memory_bytes = std::uint64_t{4} << 30;  // of one compiler
  bool screen = true;                                   // look at the objects, where this build can
  const sandbox::Machine* machine = nullptr;            // how far compilers are shut in; not at all without
};

std::map<std::string, BuildOutcome> build_runners(const Layout& layout, std::span<const std::string> labs,
                                                  const BuildOptions& options);

// What compilers see: the toolchain, the checkout without what is none of a student's business, and the build folder, writable.
// `inputs_of_build`: files that ninja looks at before it builds anything.
sandbox::View compile_view(const Layout& layout, bool solutions,
                           std::span<const std::string> inputs_of_build);

// --- The parts that read ninja's words; pure. (compiler_words.hpp reads the compilers'.)

struct FailedEdge {
  std::string target;  // "labs/reduction/runner_reduction.p/reduction.cu.o"
  std::string output;  // what its command printed
};
std::vector<FailedEdge> failed_edges(std::string_view ninja_output);

// What each lab's outcome is, given ninja's exit code and output.
std::map<std::string, BuildOutcome> judge_build(std::span<const std::string> labs, bool solutions,
                                                int exit_code, std::string_view ninja_output,
                                                const Layout& layout);

// Paths below the checkout and the build folder without their beginning.
std::string shorten_paths(std::string text, const Layout& layout);

}  // namespace course::grader
