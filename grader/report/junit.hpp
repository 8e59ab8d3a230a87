// SPDX-License-Identifier: MIT
// The result as JUnit XML, for CI services: a lab is a suite, a task a test case. Points are properties;
// INFRA is an error, every other verdict but OK a failure.
#pragma once

#include <string>

#include "report/result.hpp"

namespace course::grader {

std::string to_junit(const RunResult& result);

}  // namespace course::grader
