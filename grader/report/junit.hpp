// SPDX-License-Identifier: MIT
// The result as JUnit XML for CI services. A lab is a suite, a task a test case, points are properties. INFRA
// is an error; all other verdicts except OK are failures.
#pragma once

#include <string>

#include "report/result.hpp"

namespace course::grader {

std::string to_junit(const RunResult& result);

}  // namespace course::grader
