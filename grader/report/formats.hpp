// SPDX-License-Identifier: MIT
// A result in the formats of other programs. Each may contain text of a submission and escapes what its
// reader would interpret as markup, a formula or a command.
#pragma once

#include <string>

#include "report/result.hpp"

namespace course::grader {

// Gradescope's results.json. The visible tests are the students' edition; a test that only instructors see
// has the seed and the whole messages (unless `result` is a students' edition already).
std::string to_gradescope(const RunResult& result);

// One self-contained HTML page: without scripts and external resources, in light and dark colours, readable
// on a phone and on paper.
std::string to_html(const RunResult& result);

// JUnit XML for CI services. A lab is a suite, a task a test case, points are properties. INFRA is an error;
// all other verdicts except OK are failures.
std::string to_junit(const RunResult& result);

// One line per task (RFC 4180), with a header.
std::string to_csv(const RunResult& result);

// For GitHub Actions: a step summary in Markdown, and annotations (workflow commands) at the lines that
// messages name. Both are the students' edition.
std::string to_step_summary(const RunResult& result);
std::string to_annotations(const RunResult& result);

}  // namespace course::grader
