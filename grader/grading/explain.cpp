// SPDX-License-Identifier: MIT
// Reading order: explain_lines, explain_launches (one case); diagnose_together (all).
#include "grading/explain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "text.hpp"
#include "verifier/report_fields.hpp"
#include "verifier/sim_report.hpp"

namespace course::grader {
namespace {

using lab::fields::Json;

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

// Whether an element was never stored, and no race explains why: perhaps there are too few threads.
bool lacks_stores(const lab::Failure& failure) {
  if (!failure.findings.empty() && failure.findings[0].checker == "racecheck") return false;
  const bool is_read = !failure.findings.empty() && failure.findings[0].kind == "uninitialised-global";
  return is_read ||
         (failure.mismatch && std::ranges::any_of(failure.mismatch->causes, [](const lab::Cause& cause) {
            return cause.rule == "never_written";
          }));
}

// "launched for n = 300: k01_rows<<<1, 256>>>, k01_columns<<<1, 256>>>" of the simulator's report; "" if
// there are many. No launch may have a thread for each of the output's elements; or one has just as many
// blocks as elements are right before the first wrong one.
std::string launches_in(std::string_view sim_report, std::uint64_t n, const lab::Mismatch& mismatch) {
  const Json root = Json::parse(sim_report, nullptr, /*allow_exceptions=*/false);
  std::vector<std::string> all;
  std::uint64_t most_threads = 0;
  bool lacks_a_block = false;
  for (const Json& one : lab::fields::list(root, "launches")) {
    const std::string_view kernel = lab::fields::text(one, "kernel");
    if (kernel.empty()) continue;
    std::string text = tame_line(lab::short_kernel_name(std::string(kernel))) + "<<<";
    std::uint64_t threads = 1;
    for (const char* size : {"grid", "block"}) {
      std::vector<unsigned> numbers;
      for (const Json& side : lab::fields::list(one, size))
        if (side.is_number_unsigned()) threads *= numbers.emplace_back(side.get<unsigned>());
      lacks_a_block |= size[0] == 'g' && threads == mismatch.index && threads > 1;
      while (numbers.size() > 1 && numbers.back() == 1) numbers.pop_back();
      text += fmt::format("{}{}", size[0] == 'g' ? "" : ", ", fmt::join(numbers, " x "));
    }
    most_threads = std::max(most_threads, threads);
    if (std::ranges::find(all, text + ">>>") == all.end()) all.push_back(text + ">>>");
  }
  if (all.empty() || all.size() > 4) return "";
  return fmt::format("launched for n = {}: {}{}", n, fmt::join(all, ", "),
                     n == 0                            ? ". Is the result stored if there are no items?"
                     : most_threads < mismatch.n_total ? ". Is there a thread for each element?"
                     : lacks_a_block                   ? ". Is there a block for each element?"
                                                       : "");
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

void explain_launches(lab::Failure& failure, std::string_view sim_report, std::uint64_t n) {
  if (!lacks_stores(failure)) return;
  std::string launched = launches_in(sim_report, n, failure.mismatch.value_or(lab::Mismatch{}));
  if (!launched.empty()) failure.notes.push_back(std::move(launched));
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
  if (failure.proved && failure.findings.empty()) return;  // the diagnosis is the proof
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
    if (&other != &record) failure.found_in = other.name;
  } else if (!text_of(common).empty() || failure.findings.empty()) {
    // What all outputs have in common, else what a checker has noticed in the first case.
    failure.findings.clear();
    failure.diagnosis = std::move(common);
  }
  set_failure(record, std::move(failure));
}

}  // namespace course::grader
