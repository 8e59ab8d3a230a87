// SPDX-License-Identifier: MIT
#include "explain.hpp"

#include <fmt/format.h>

#include <set>
#include <tuple>

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
  return fmt::format("--device {}{}", name_of(device), solutions ? " --solutions" : "");
}

std::uint64_t RunContext::seed_of(Stage stage, std::string_view task) const {
  return seed_is_of_stage ? seed : seed_for(stage_seed(seed, lab, stage), task);
}

std::string place_of(const ReportedFinding& finding) {
  if (finding.file.empty() || finding.line == 0) return "";
  std::string place = fmt::format("{}:{}", base_name(finding.file), finding.line);
  const bool other = !finding.other_file.empty() && finding.other_line != 0;
  if (other && (finding.other_line != finding.line || finding.other_file != finding.file)) {
    place += fmt::format(" and {}:{}", base_name(finding.other_file), finding.other_line);
  }
  return place;
}

std::string describe(const ReportedFinding& finding) {
  const std::string place = place_of(finding);
  std::string text = place.empty() ? "" : place + ": ";
  text += finding.message.empty() ? finding.kind : finding.message;
  if (!finding.object.empty() && text.find(finding.object) == std::string::npos)
    text += " [" + finding.object + "]";
  text += fmt::format(" (thread {} of block {}", triple(finding.thread), triple(finding.block));
  if (finding.checker == "racecheck") {
    text += fmt::format(", thread {} of block {}", triple(finding.other_thread), triple(finding.other_block));
  }
  if (finding.times > 1) text += fmt::format("; {} times", finding.times);
  return tame(text + ")");
}

bool is_fault(const ReportedFinding& finding) {
  return finding.checker != "leakcheck";
}

std::string describe_causes(std::span<const ReportedFinding> findings, std::size_t limit) {
  std::string text;
  std::set<std::tuple<std::string, std::string, std::uint32_t>> told;
  for (const ReportedFinding& finding : findings) {
    if (told.size() == limit) break;
    if (!is_fault(finding) || !told.insert({finding.kind, finding.file, finding.line}).second) continue;
    if (!text.empty()) text += "\n    ";
    text += describe(finding);
  }
  return text;
}

}  // namespace course::grader
