// SPDX-License-Identifier: MIT
// A submission for testing the grader. The header of its file states the expected result. Header lines are
// `// key: value`:
//   about: one sentence           what is wrong with it, or different
//   task: shuffle                 the task to grade, together with the
//   verdict: WRONG_ANSWER         expected verdict; OK requires full marks for correctness
//   checker: racecheck            the checker that must prove the cause
//   reason: NAME …                the reasons that are true for it: names of rules, or
//                                 checker:kind of a finding; no other may be shown. Without this line, any
//                                 may
//   says: words                   words that the task's message must contain; may be repeated
//   screen: words                 screening refuses the submission (POLICY) with these words; it is run
//                                 all the same and must give the expected results. Without this line,
//                                 screening must accept the submission
//   jobs: 1                       tasks graded at a time (default 2)
//   needs: filter                 skipped unless the sandbox has it: filter, namespaces or cgroup
//   misses: shuffle active_lanes  a goal that a right_… submission does not meet; may be repeated
//   expect: sequential CRASH ended   instead of task and verdict, one line per task: task, verdict, then
//                                 words of the message
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "verifier/session.hpp"

namespace course::grader::testing {

struct Expectation {
  std::string task;
  lab::Verdict verdict = lab::Verdict::ok;
  std::vector<std::string> says, reasons;
  std::string checker;
};

struct MissedGoal {
  std::string task, metric;
};

struct Submission {
  std::string name;  // the file name without its extension
  std::string about;
  std::string screen, needs;  // "" for none
  unsigned jobs = 2;
  std::vector<Expectation> expected;
  std::vector<MissedGoal> missed;
};

std::optional<lab::Verdict> verdict_named(std::string_view name);

Result<Submission> parse_submission(std::string_view text, std::string name);

// Screens the objects in a folder, and returns their number. Several mutants may share an object; then each
// of them must be accepted.
int expect_screened(const Submission& submission, const std::string& folder, const std::string& lab,
                    bool several_devices);

}  // namespace course::grader::testing
