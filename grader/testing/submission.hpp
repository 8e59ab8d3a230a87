// SPDX-License-Identifier: MIT
// A submission that the grader is tested with: what its file's header says must come out. Header lines are
// `// key: value`:
//   about: one sentence                       what is wrong with it, or different
//   task: shuffle                             } the task that it is about, and what the grader must say of
//                                             it; OK asks
//   verdict: WRONG_ANSWER                     } for full marks
//   checker: racecheck                        who must prove the cause
//   says: words                               that the task's message must contain; may be repeated
//   screen: words                             screening refuses it (POLICY) and says this; what is expected
//                                             besides is what happens when it is run all the same. Without:
//                                             screening lets it pass
//   jobs: 1                                   tasks graded at a time (2)
//   needs: filter                             of the sandbox, else it is skipped: filter, namespaces or
//                                             cgroup
//   expect: sequential CRASH ended            instead of the above, one line a task: verdict, then words of the message
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
  std::vector<std::string> says;
  std::string checker;
};

struct Submission {
  std::string name;  // the file's, without its ending
  std::string about;
  std::string screen, needs;  // "" for none
  unsigned jobs = 2;
  std::vector<Expectation> expected;
};

std::optional<lab::Verdict> verdict_named(std::string_view name);

Result<Submission> parse_submission(std::string_view text, std::string name);

}  // namespace course::grader::testing
