// SPDX-License-Identifier: MIT
#include "grading/explain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "text.hpp"

namespace course::grader {
namespace {

// Without indentation and comment.
std::string trimmed(std::string_view text) {
  constexpr std::size_t kLongestLine = 400;
  text = text.substr(0, std::min(text.find("//"), kLongestLine));
  while (text.ends_with(' ')) text.remove_suffix(1);
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  return tame_line(text);
}

// The line as it stands in the source, without indentation and comment; with the rest of its statement.
std::string quote(const SourceLine& source_line, const std::string& file, std::uint32_t line) {
  std::string text = trimmed(source_line(file, line));
  for (std::uint32_t more = 1;
       more <= 4 && !text.empty() && std::string_view(";{}").find(text.back()) == std::string_view::npos;
       ++more)
    text += " " + trimmed(source_line(file, line + more));
  return text;
}

bool is_out_of_bounds(const lab::SimFinding& finding) {
  return finding.checker == "memcheck" && finding.kind.starts_with("out-of-bounds");
}

// What sim::describe_index says of an index: "; the position comes from d_starts (line 7), by lines 8, 7".
constexpr std::string_view kPosition = "; the position ", kByLines = ", by lines ";
constexpr std::string_view kComputed = "is computed";  // if no array is known

// Takes the lines out of the message and calls quote(line) with the first of them.
template <typename Quote>
void quote_index(std::string& message, const Quote& quote) {
  constexpr std::size_t kMost = 4;
  const std::size_t position = message.find(kPosition), at = message.find(kByLines, position);
  if (at == std::string::npos) return;
  const char* next = message.c_str() + at + kByLines.size();
  for (std::size_t n = 0; n < kMost && *next >= '0' && *next <= '9'; ++n) {
    char* end = nullptr;
    quote(static_cast<std::uint32_t>(std::strtoul(next, &end, 10)));
    next = end + (std::string_view(end).starts_with(", ") ? 2 : 0);
  }
  const std::size_t end = message.find_first_not_of("0123456789, ", at + kByLines.size());
  message.erase(at, std::min(end, message.size()) - at);
  if (message.ends_with(kComputed)) message.resize(position);
}

// The mistake that explains the outputs of all other failed cases.
void show_output_of_others(const Evidence& evidence, CaseRecord& record) {
  const std::vector<lab::FailedCase> others = failed_cases(evidence);
  lab::Diagnosis shown = lab::likely_cause(others);
  // One other output fits a mistake by chance.
  if (others.size() < 2 || shown.causes.empty() || shown.causes.front().is_sign || shown.n_failed > 0) return;
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

void explain_lines(lab::Failure& failure, const SourceLine& source_line) {
  if (failure.findings.empty()) return;
  if (std::ranges::any_of(failure.findings, is_out_of_bounds))
    std::erase_if(failure.notes,
                  [](const std::string& note) { return note.starts_with("cudaErrorIllegalAddress"); });
  lab::SimFinding& first = failure.findings.front();
  if (first.line == 0 || source_line(first.file, first.line).empty()) return;
  failure.source = fmt::format("{} | {}", first.line, quote(source_line, first.file, first.line));
  const std::size_t both = first.message.find(", and so does thread");
  const std::size_t why = both == std::string::npos ? both : first.message.find(": ", both);
  // What is lost by a change in several steps has another remedy, unless the steps are far apart.
  const std::size_t change = first.message.find(": both read it, change it");
  const bool apart =
      change != std::string::npos && first.line != first.other_line && both == std::string::npos;
  if (apart)
    first.message.replace(
        change, std::string::npos,
        ": both threads read it and write it back. Are the parts of the threads disjoint? If "
        "they should share it, an atomic does both steps as one");
  else if (why != std::string::npos && change == std::string::npos) {
    const std::size_t index = std::min(first.message.find(kPosition, why), first.message.size());
    const std::string how = first.message.substr(index);
    const char* const what =
        has(how, "same for all threads") ? "only one thread may store there" : "two items have one position";
    first.message.replace(why, std::string::npos, fmt::format(": {}, so no barrier helps{}", what, how));
  } else if (!is_out_of_bounds(first))
    return;
  if (const std::size_t size = first.message.find(" bytes of shared memory"); size != std::string::npos) {
    bool is_dynamic = false;
    for (std::uint32_t at = first.line;
         at > 0 && !source_line(first.file, at).starts_with('}') && !is_dynamic; --at)
      is_dynamic = has(source_line(first.file, at), "extern __shared__");
    if (is_dynamic) first.message += "; a launch asks for dynamic shared memory in bytes, not in elements";
  }
  quote_index(first.message, [&](std::uint32_t line) {
    failure.source += fmt::format("\n    {} | {}", line, quote(source_line, first.file, line));
  });
}

std::string own_output(std::string_view printed) {
  std::string own;
  for (const std::string_view line : lines_of(printed))
    if (!line.starts_with("simulator: ")) own += std::string(line) + "\n";
  return own.substr(0, own.find_last_not_of('\n') + 1);
}

std::string printed_lines(std::string_view printed, std::size_t limit, std::size_t indent) {
  const std::string own = own_output(printed), shown = first_lines(own, limit);
  std::string out;
  for (const std::string_view line : lines_of(own.empty() ? own : shown))
    out += std::string(indent, ' ') + tame_line(line) + "\n";
  return out;
}

bool hides_output(const CaseRecord* record) {
  return record != nullptr && record->failure && !record->failure->mismatch &&
         std::ranges::any_of(record->failure->findings, is_out_of_bounds);
}

std::vector<lab::FailedCase> failed_cases(const Evidence& evidence) {
  std::vector<lab::FailedCase> cases;
  for (const std::size_t i : evidence.failed)
    cases.push_back({evidence.cases[i].name, evidence.cases[i].failure->mismatch->causes});
  return cases;
}

std::string lengths_text(const std::vector<std::uint64_t>& right, const std::vector<std::uint64_t>& wrong) {
  constexpr std::size_t kEnough = 5;
  constexpr std::uint64_t kLeast = 8, kMaxUnit = 8192;
  if (right.size() < kEnough || wrong.size() < 2) return "";
  const std::uint64_t longest = std::ranges::max(right), shortest = std::ranges::min(wrong);
  if (longest < shortest && longest >= kLeast)
    return fmt::format("all cases of up to {} items are right, those from {} items on are wrong", longest,
                       shortest);
  for (std::uint64_t unit = 32; unit <= kMaxUnit; unit *= 2) {
    const auto whole = [unit](std::uint64_t n) { return n % unit == 0; };
    const auto all = [&](const auto& lengths) { return std::ranges::all_of(lengths, whole); };
    const auto none = [&](const auto& lengths) { return std::ranges::none_of(lengths, whole); };
    if (all(wrong) && none(right))
      return fmt::format("only lengths that are multiples of {} are wrong", unit);
    if (none(wrong) && all(right))
      return fmt::format("only lengths that are no multiples of {} are wrong", unit);
  }
  return "";
}

void diagnose_together(Evidence& evidence, const std::string& lengths) {
  if (const CaseRecord* deciding = deciding_record(evidence.cases); hides_output(deciding)) {
    show_output_of_others(evidence,
                          evidence.cases[static_cast<std::size_t>(deciding - evidence.cases.data())]);
    return;
  }
  if (evidence.failed.size() < 2) return;
  CaseRecord& record = evidence.cases[evidence.failed.front()];
  if (&record != deciding_record(evidence.cases)) return;
  lab::Failure failure = *record.failure;
  // A race is there in cases, too, that are right by luck.
  const bool is_race =
      failure.proved && !failure.findings.empty() && failure.findings.front().checker == "racecheck";
  if (!lengths.empty() && !is_race) failure.notes.push_back(lengths);
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
    failure.source = other.failure->source;
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
