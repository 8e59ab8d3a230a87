// SPDX-License-Identifier: MIT
// A result in the forms that other programs read. Text of a submission may be in any of them: each escapes what its reader would
// take for markup, a formula or a command.
#pragma once

#include <string>

#include "report/result.hpp"

namespace course::grader {

// Gradescope's results.json: the students' edition, visible; a test that only instructors see has the rest.
std::string to_gradescope(const RunResult& result);

// A line for each task (RFC 4180), with a header.
std::string to_csv(const RunResult& result);

// For GitHub: the `result` that an autograding step hands to Classroom's reporter (base64 of JSON), a step summary in Markdown,
// and annotations (workflow commands) at the lines that messages name. All are the students' edition.
std::string to_classroom(const RunResult& result);
std::string to_step_summary(const RunResult& result);
std::string to_annotations(const RunResult& result);

}  // namespace course::grader
