// SPDX-License-Identifier: MIT
#include "grading/explain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
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

// The mistake that explains the outputs of all other failed cases.
void show_output_of_others(const Evidence& evidence, CaseRecord& record) {
  const std::vector<lab::FailedCase> others = failed_cases(evidence);
  lab::Diagnosis shown = lab::likely_cause(others);
  if (shown.causes.empty() || shown.causes.front().is_sign || shown.n_failed > 0) return;
  shown.in_case = others.front().name;
  lab::Failure failure = *record.failure;
  failure.diagnosis = std::move(shown);
  set_failure(record, std::move(failure));
}

}  // namespace

std::string RunContext::rerun_flags() const {
  return (gpus > 0 ? fmt::format("--gpus {}", gpus) : fmt::format("--device {}", name_of(device))) +
         (solutions ? " --solutions" : "");
}

std::uint64_t RunContext::seed_of(Stage stage, std::string_view task, std::string_view case_name) const {
  if (seed_is_of_case) return seed;
  return one_way(seed, fmt::format("{} {} {} {}", lab, name_of(stage), task, case_name));
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

bool hides_output(const CaseRecord* record) {
  return record != nullptr && record->failure && !record->failure->mismatch &&
         !record->failure->findings.empty() && record->failure->findings.front().checker == "memcheck" &&
         record->failure->findings.front().kind.starts_with("out-of-bounds");
}

std::vector<lab::FailedCase> failed_cases(const Evidence& evidence) {
  std::vector<lab::FailedCase> cases;
  for (const std::size_t i : evidence.failed)
    cases.push_back({evidence.cases[i].name, evidence.cases[i].failure->mismatch->causes});
  return cases;
}

void diagnose_together(Evidence& evidence) {
  if (const CaseRecord* deciding = deciding_record(evidence.cases); hides_output(deciding)) {
    show_output_of_others(evidence,
                          evidence.cases[static_cast<std::size_t>(deciding - evidence.cases.data())]);
    return;
  }
  if (evidence.failed.size() < 2) return;
  CaseRecord& record = evidence.cases[evidence.failed.front()];
  if (&record != deciding_record(evidence.cases)) return;
  lab::Failure failure = *record.failure;
  lab::Diagnosis common = lab::likely_cause(failed_cases(evidence));
  const bool explains_all = !common.causes.empty() && !common.causes.front().is_sign && common.n_failed == 0;
  if (failure.proved) {
    if (failure.findings.empty()) return;  // the diagnosis is the proof
    failure.diagnosis = explains_all ? std::move(common) : lab::Diagnosis{};
    set_failure(record, std::move(failure));
    return;
  }
  const auto proved =
      std::ranges::find_if(evidence.failed, [&](std::size_t i) { return evidence.cases[i].failure->proved; });
  if (proved != evidence.failed.end()) {
    const CaseRecord& other = evidence.cases[*proved];
    failure.findings = other.failure->findings;
    if (failure.findings.empty())
      failure.diagnosis = other.failure->diagnosis;
    else
      failure.diagnosis = explains_all ? std::move(common) : lab::Diagnosis{};
    failure.found_in = other.name;
  } else if (!text_of(common).empty() || failure.findings.empty()) {
    // What all outputs have in common, else what a checker has noticed in the first case.
    failure.findings.clear();
    failure.diagnosis = std::move(common);
  }
  set_failure(record, std::move(failure));
}

}  // namespace course::grader
