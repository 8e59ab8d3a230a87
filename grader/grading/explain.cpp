// SPDX-License-Identifier: MIT
#include "grading/explain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "base/rng.hpp"
#include "text.hpp"

namespace course::grader {
namespace {

std::string base_name(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

std::string triple(const std::array<std::uint32_t, 3>& id) {
  if (id[1] == 0 && id[2] == 0) return fmt::format("{}", id[0]);
  return fmt::format("({},{},{})", id[0], id[1], id[2]);
}

}  // namespace

std::string RunContext::rerun_flags() const {
  return (gpus > 0 ? fmt::format("--gpus {}", gpus) : fmt::format("--device {}", name_of(device))) +
         (solutions ? " --solutions" : "");
}

std::uint64_t RunContext::seed_of(Stage stage, std::string_view task) const {
  return seed_is_of_stage ? seed : seed_for(stage_seed(seed, lab, stage), task);
}

std::string place_of(const lab::SimFinding& finding) {
  if (finding.file.empty() || finding.line == 0) return "";
  std::string place = fmt::format("{}:{}", base_name(finding.file), finding.line);
  const bool other = !finding.other_file.empty() && finding.other_line != 0;
  if (other && (finding.other_line != finding.line || finding.other_file != finding.file)) {
    place += fmt::format(" and {}:{}", base_name(finding.other_file), finding.other_line);
  }
  return place;
}

std::string describe(const lab::SimFinding& finding) {
  std::string text = finding.message.empty() ? finding.kind : finding.message;
  for (const std::string& file : {finding.file, finding.other_file}) replace_all(text, file, base_name(file));
  // The grader compiles the file, so advice about compiling does not help.
  replace_all(text, " (compile with -lineinfo to see it)", "");
  // Most messages contain the place and the threads; they are added to the others.
  const auto lacks = [&](const std::string& what) {
    return !what.empty() && text.find(what) == std::string::npos;
  };
  if (const std::string place = place_of(finding); lacks(place)) text = place + ": " + text;
  if (lacks(finding.object)) text += " [" + finding.object + "]";
  std::vector<std::string> more;
  const auto who = [](const auto& thread, const auto& block) {
    return fmt::format("thread {} of block {}", triple(thread), triple(block));
  };
  if (lacks("thread " + triple(finding.thread) + " of block")) {
    more.push_back(who(finding.thread, finding.block));
    if (finding.checker == "racecheck") more.back() += ", " + who(finding.other_thread, finding.other_block);
  }
  if (finding.times > 1) more.push_back(fmt::format("{} times", finding.times));
  return tame(more.empty() ? text : fmt::format("{} ({})", text, fmt::join(more, "; ")));
}

std::string printed_lines(std::string_view printed, std::size_t limit, std::size_t indent) {
  while (!printed.empty() && printed.back() == '\n') printed.remove_suffix(1);
  std::string out;
  const std::string shown = first_lines(printed, limit);
  if (printed.empty()) return out;
  for (const std::string_view line : lines_of(shown))
    out += std::string(indent, ' ') + tame_line(line) + "\n";
  return out;
}

}  // namespace course::grader
