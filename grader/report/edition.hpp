// SPDX-License-Identifier: MIT
// The students' edition of a result: the same points and verdicts, but without data that would reveal secret
// inputs.
#pragma once

#include <string>

#include "report/result.hpp"

namespace course::grader {

// Removes the seed, the commands that contain it, the values of inputs and outputs, and the program's output,
// which may contain either.
RunResult for_students(RunResult result);

// "0x12ab", or "kept back" in the students' edition.
std::string seed_text(const RunResult& result);

}  // namespace course::grader
