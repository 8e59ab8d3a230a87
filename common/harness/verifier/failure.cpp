// SPDX-License-Identifier: MIT
#include "verifier/failure.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace course::lab {
namespace {

std::string mismatch_text(const Mismatch& m) {
  const bool has_values = !m.expected.empty() || !m.got.empty();
  const std::string element = m.length_is_a_value && !has_values ? "" : fmt::format("[{}]", m.index);
  std::string text = fmt::format(
      "  {}{}{}{}\n", m.buffer, element, m.position.empty() ? "" : fmt::format(" ({})", m.position),
      has_values ? fmt::format(": expected {}, got {}", m.expected, m.got) : " is wrong");
  if (m.n_total > 1) {
    text += fmt::format("  {} of {} elements are wrong{}{}\n", m.n_wrong, m.n_total,
                        m.pattern.empty() ? "" : ": ", m.pattern);
  }
  return text;
}

}  // namespace

std::string why_text(const Failure& failure) {
  std::string text;
  if (const std::string cause = cause_of(failure); !cause.empty())
    text += fmt::format("  {} cause{}: {}\n", is_confirmed(failure) ? "confirmed" : "likely",
                        failure.found_on_simulator ? ", found on the simulator" : "", cause);
  if (!failure.source.empty()) text += fmt::format("    {}\n", failure.source);
  for (const auto& note : failure.notes) text += fmt::format("  {}\n", note);
  return text;
}

std::string what_text(const Failure& failure) {
  return (failure.mismatch ? mismatch_text(*failure.mismatch) : "") +
         (failure.command.empty() ? "" : fmt::format("  run it again:  {}\n", failure.command));
}

bool is_confirmed(const Failure& failure) {
  return failure.proved && !explains_reads(failure);
}

bool explains_reads(const Failure& failure) {
  const auto& causes = failure.diagnosis.causes;
  return !failure.findings.empty() && failure.findings.front().checker == "initcheck" && !causes.empty() &&
         !causes.front().is_sign && causes.front().rule != "never_written" &&
         causes.front().rule != "zero_for_identity" &&  // what was read may be 0
         failure.diagnosis.in_case.empty();
}

bool Failure::has_cause() const {
  return !cause_of(*this).empty();
}

void Failure::name_case(const Manifest& manifest, const Task& of_task, const Case& c, std::uint64_t seed,
                        const std::string& flags) {
  lab = manifest.id;
  task = of_task.id;
  section = section_of(manifest, of_task);
  case_name = c.name;
  command = fmt::format("./lab grade {} --task {} --case {} --seed {}{}{}", lab, task, case_name, seed,
                        flags.empty() ? "" : " ", flags);
}

std::string cause_of(const Failure& failure) {
  // What computes all wrong outputs comes before what a checker has noticed on the way.
  if (explains_reads(failure)) {
    const std::string in = failure.found_in.empty() ? "" : fmt::format(" in case {}", failure.found_in);
    return fmt::format("{}\n    a checker also reports{}: {}", text_of(failure.diagnosis), in,
                       one_line(failure.findings.front()));
  }
  std::string text = failure.findings.empty() ? text_of(failure.diagnosis) : "";
  for (const SimFinding& finding : failure.findings)
    text += (&finding == failure.findings.data() ? "" : "\n    then: ") + one_line(finding);
  if (!failure.findings.empty() && !failure.diagnosis.in_case.empty())
    text += "\n    " + text_of(failure.diagnosis);
  if (failure.found_in.empty()) return text;
  return fmt::format("in case {}, too: {}", failure.found_in, text);
}

std::string failure_message(const Failure& failure) {
  std::string text = fmt::format("{} / {}", failure.lab, failure.task);
  if (!failure.case_name.empty()) text += ": case " + failure.case_name;
  text += fmt::format(" {}\n", failure.headline);
  text += why_text(failure) + what_text(failure) + fmt::format("  read:  {}\n", failure.section);
  if (!failure.printed.empty()) text += "  it printed:\n";
  for (const std::string& line : failure.printed) text += fmt::format("    {}\n", line);
  return text;
}

Failure without_values(Failure failure) {
  failure.command.clear();
  failure.printed.clear();
  if (failure.mismatch) {
    Mismatch& m = *failure.mismatch;
    m.expected.clear(), m.got.clear(), m.causes.clear(), m.near_expected.clear(), m.near_got.clear();
    if (m.length_is_a_value) m.index = m.n_wrong = m.n_total = 0, m.pattern.clear(), m.position.clear();
  }
  for (Cause& cause : failure.diagnosis.causes)
    if (!cause.without_values.empty()) cause.text = std::exchange(cause.without_values, "");
  for (SimFinding& finding : failure.findings) finding = without_elements(std::move(finding));
  return failure;
}

}  // namespace course::lab
