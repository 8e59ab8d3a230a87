// SPDX-License-Identifier: MIT
#include "grading/printed.hpp"

#include "text.hpp"

namespace course::grader {
namespace {

// Without the simulator's messages, which findings tell, and empty lines at the end.
std::string own_output(std::string_view printed) {
  std::string own;
  for (const std::string_view line : lines_of(printed))
    if (!line.starts_with("simulator: ")) own += std::string(line) + "\n";
  return own.substr(0, own.find_last_not_of('\n') + 1);
}

}  // namespace

std::string printed_by(const lab::Outcome& outcome) {
  return outcome.failure.has_cause() ? own_output(outcome.printed) : outcome.printed;
}

std::vector<std::string> last_words(const lab::Outcome& outcome) {
  if (outcome.verdict == lab::Verdict::infra || outcome.verdict == lab::Verdict::not_implemented) return {};
  constexpr std::size_t kLongest = 400;  // bytes of a line
  const std::string own = printed_by(outcome);
  std::string_view printed = own;
  while (!printed.empty() && printed.back() == '\n') printed.remove_suffix(1);
  std::vector<std::string> lines;
  for (const std::string_view one : lines_of(printed)) {
    const std::string line = tame_line(one);
    lines.push_back(line.size() > kLongest ? line.substr(0, kLongest) + "…" : line);
  }
  if (lines.size() <= kMaxLinesInMessage) return lines;
  lines.erase(lines.begin(), lines.end() - kMaxLinesInMessage);
  lines.insert(lines.begin(), "…");
  return lines;
}

std::string printed_lines(std::string_view printed, std::size_t limit, std::size_t indent) {
  const std::string own = own_output(printed), shown = first_lines(own, limit);
  std::string out;
  for (const std::string_view line : lines_of(own.empty() ? own : shown))
    out += std::string(indent, ' ') + tame_line(line) + "\n";
  return out;
}

}  // namespace course::grader
