// SPDX-License-Identifier: MIT
#include "report/edition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace course::grader {
namespace {

bool begins(std::string_view line, std::string_view what) {
  const std::size_t at = line.find_first_not_of(' ');
  return at != std::string_view::npos && line.substr(at).starts_with(what);
}

// Removes the values from a message, line by line. (verifier/failure_message.hpp makes most messages.)
std::string without_values(std::string_view message) {
  std::string out;
  bool printed = false;  // within the program's output, whose lines are indented further
  while (!message.empty()) {
    const std::size_t end = std::min(message.find('\n'), message.size());
    std::string_view line = message.substr(0, end);
    message.remove_prefix(std::min(end + 1, message.size()));
    if (printed && line.starts_with("    ")) continue;
    printed = begins(line, "it printed:");
    if (printed || begins(line, "run it again:") || begins(line, "again:") ||
        line.find("--seed") != std::string_view::npos)
      continue;
    if (const std::size_t at = line.find(": expected "); at != std::string_view::npos) {
      out += fmt::format("{} is wrong\n", line.substr(0, at));
      continue;
    }
    out += fmt::format("{}\n", line);
  }
  if (!out.empty()) out.pop_back();
  return out;
}

}  // namespace

RunResult for_students(RunResult result) {
  result.for_students = true;
  result.seed = 0;
  for (LabResult& lab : result.labs) {
    for (TaskResult& task : lab.tasks) {
      // The messages of compilers and of the screening are about the student's own file.
      if (task.verdict == lab::Verdict::compile_error || task.verdict == lab::Verdict::policy) continue;
      task.message = without_values(task.message);
      for (CaseRecord& record : task.cases) record.message = without_values(record.message);
    }
  }
  return result;
}

std::string seed_text(const RunResult& result) {
  return result.for_students ? "kept back" : fmt::format("{:#x}", result.seed);
}

}  // namespace course::grader
