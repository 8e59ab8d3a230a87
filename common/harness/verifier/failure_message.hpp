// SPDX-License-Identifier: MIT
// The message for a student about a failed case. It fits on one screen and always has this order: task and
// case, the command that runs it again, the first mismatch, the number and pattern of wrong elements, the
// likely cause, the section of the handout.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lab/problem.hpp"

namespace course::lab {

struct Failure {
  std::string headline;              // "is wrong", "took longer than 10 s": follows the name of the case
  std::optional<Mismatch> mismatch;  // of the output
  std::string cause;                 // what a checker proved, or the likely cause; "" if unknown
  bool proved = false;               // the cause comes from a checker
  std::vector<std::string> notes;    // further lines
};

// The command that repeats one case.
std::string rerun_command(const Manifest& manifest, const Task& task, const Case& c, std::uint64_t seed,
                          const std::string& flags);

std::string failure_message(const Manifest& manifest, const Task& task, const Case& c, std::uint64_t seed,
                            const std::string& flags, const Failure& failure);

}  // namespace course::lab
