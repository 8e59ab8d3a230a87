// SPDX-License-Identifier: MIT
// What a student reads when a case fails. One screen, always in this order: which task and case, the command
// that runs it again, the first mismatch, how many and in what pattern, the likely cause, the handout's
// section.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/problem.hpp"

namespace course::lab {

struct Failure {
  std::string headline;              // "is wrong", "took longer than 10 s": goes on from the case's name
  std::optional<Mismatch> mismatch;  // of the output
  std::string cause;                 // what a checker proved, or the best guess; "" when nothing is known
  bool proved = false;               // the cause comes from a checker
  std::vector<std::string> notes;    // further lines
};

// The command that repeats one case.
std::string rerun_command(const Manifest& manifest, const Task& task, const Case& c, std::uint64_t seed,
                          const std::string& flags);

std::string failure_message(const Manifest& manifest, const Task& task, const Case& c, std::uint64_t seed,
                            const std::string& flags, const Failure& failure);

}  // namespace course::lab
