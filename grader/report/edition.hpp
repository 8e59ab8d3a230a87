// SPDX-License-Identifier: MIT
// The students' edition of a result: the same points and verdicts, and no more of secret inputs than what went wrong.
#pragma once

#include <string>

#include "report/result.hpp"

namespace course::grader {

// Without the seed, the commands that need it, values of inputs and outputs, and what the program printed (which may be either).
RunResult for_students(RunResult result);

// "0x12ab", or "kept back" in the students' edition.
std::string seed_text(const RunResult& result);

}  // namespace course::grader
