// SPDX-License-Identifier: MIT
// Finds the labs, tasks and cases that the command line names. The Error about an unknown name contains
// similar ones.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "lab/problem.hpp"

namespace course::grader {

using Problems = std::span<const lab::Problem* const>;

// The named labs, each once, in the order of `all`; all labs if `names` is empty.
Result<std::vector<const lab::Problem*>> select_labs(Problems all, const std::vector<std::string>& names);

// "LAB TASK" in place of "LAB --task TASK": moves the second of two names to `task` if it is a task of the
// first, and `task` is empty.
void take_task(Problems all, std::vector<std::string>& names, std::string& task);

// An Error unless one of the labs has the task, and one of its tasks (or `task`, if given) has the case.
// `further`: further rungs, which only the solutions have, are allowed, too.
Result<void> check_task(Problems labs, const std::string& task, bool further = false);
Result<void> check_case(Problems labs, const std::string* task, const std::string& case_name);

}  // namespace course::grader
