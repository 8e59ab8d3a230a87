// SPDX-License-Identifier: MIT
// From the names on the command line to labs, tasks and cases; a wrong name gets an error with the nearest
// right ones.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "lab/problem.hpp"

namespace course::grader {

using Problems = std::span<const lab::Problem* const>;

// The named labs, each once, in the order of `all`; all of them for no names.
Result<std::vector<const lab::Problem*>> select_labs(Problems all, const std::vector<std::string>& names);

// An Error unless one of the labs has the task, and one of its tasks (of that name, if given) the case.
// (`further`: a further rung, which only solutions have, will do as well.)
Result<void> check_task(Problems labs, const std::string& task, bool further = false);
Result<void> check_case(Problems labs, const std::string* task, const std::string& case_name);

}  // namespace course::grader
