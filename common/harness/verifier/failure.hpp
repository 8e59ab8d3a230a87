// SPDX-License-Identifier: MIT
// What went wrong in one case, as data. It goes through the judge, the result and its JSON form; only a
// report makes text of it. failure_message() fits on one screen and always has this order: task and case, the
// cause and its source line, notes, the first mismatch, the number and pattern of wrong elements, the command
// that runs it again, the section of the handout, the program's output.
// Invariant: without_values() leaves nothing that reveals an input or an expected result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lab/diagnosis.hpp"
#include "lab/problem.hpp"
#include "verifier/sim_report.hpp"

namespace course::lab {

struct Failure {
  std::string lab, task, case_name;  // case_name: "" if all cases of the task fail alike
  std::string section;               // of the handout
  std::string command;               // repeats the case; contains the seed
  std::string headline;              // "is wrong", "took longer than 10 s": follows the name of the case
  std::optional<Mismatch> mismatch;  // of the output
  std::vector<std::string> notes;    // further lines
  // The cause: what the checkers found (the first error, and the fault that follows it), else what the output
  // shows, or the only cause that the headline can have. Beside a finding, what the output of another case
  // shows (diagnosis.in_case), or the mistake that explains the wrong outputs (explains_reads).
  std::vector<SimFinding> findings;
  Diagnosis diagnosis;
  bool proved = false;  // by a checker
  // If another case has the findings: its name. Or the case was run again on the simulator.
  std::string found_in;
  bool found_on_simulator = false;
  std::string source;                // the line of the first finding: "31 | s_data[t] = x;"
  std::vector<std::string> printed;  // the last lines of the program's output

  void explain(const SimFinding& finding, bool is_proof) { findings = {finding}, proved = is_proof; }
  void explain(std::string text, bool is_proof) {
    findings.clear();
    diagnosis = {{{"", std::move(text)}}};
    proved = is_proof;
  }
  bool has_cause() const;
  void name_case(const Manifest& manifest, const Task& of_task, const Case& c, std::uint64_t seed,
                 const std::string& flags);
};

// T, or a T that is read only.
template <typename F, typename T>
concept FieldsOf = std::is_same_v<std::remove_const_t<F>, T>;

// A field that files of older versions lack.
void visit_later(auto& visit, const char* name, auto& field) {
  if constexpr (requires { visit.later(name, field); }) {
    visit.later(name, field);
  } else {
    visit(name, field);
  }
}
// Calls visit(name, field) for each field of the JSON form: all but Mismatch::causes.
template <FieldsOf<Failure> F, typename Visit>
void for_each_field(F& f, Visit visit) {
  visit("lab", f.lab), visit("task", f.task), visit("case", f.case_name), visit("section", f.section);
  visit("command", f.command), visit("headline", f.headline), visit("mismatch", f.mismatch);
  visit("notes", f.notes), visit("findings", f.findings), visit("diagnosis", f.diagnosis);
  visit("proved", f.proved), visit("found_in", f.found_in), visit("printed", f.printed);
  visit("found_on_simulator", f.found_on_simulator), visit_later(visit, "source", f.source);
}
template <FieldsOf<Mismatch> F, typename Visit>
void for_each_field(F& m, Visit visit) {
  visit("buffer", m.buffer), visit("index", m.index), visit("position", m.position);
  visit("expected", m.expected), visit("got", m.got), visit("n_wrong", m.n_wrong);
  visit("n_total", m.n_total), visit("pattern", m.pattern), visit("length_is_a_value", m.length_is_a_value);
  visit_later(visit, "near_expected", m.near_expected), visit_later(visit, "near_got", m.near_got);
}
template <FieldsOf<Diagnosis> F, typename Visit>
void for_each_field(F& d, Visit visit) {
  visit("causes", d.causes), visit("n_explained", d.n_explained), visit("n_failed", d.n_failed);
  visit("in_case", d.in_case);
}
template <FieldsOf<Cause> F, typename Visit>
void for_each_field(F& c, Visit visit) {
  visit("rule", c.rule), visit("text", c.text), visit("is_sign", c.is_sign);
  visit("without_values", c.without_values);
}
template <FieldsOf<SimFinding> F, typename Visit>
void for_each_field(F& f, Visit visit) {
  visit("checker", f.checker), visit("kind", f.kind), visit("kernel", f.kernel), visit("file", f.file);
  visit("line", f.line), visit("other_file", f.other_file), visit("other_line", f.other_line);
  visit("object", f.object), visit("message", f.message), visit("times", f.times);
  visit("block", f.block), visit("thread", f.thread), visit("other_block", f.other_block);
  visit("other_thread", f.other_thread), visit("is_hint", f.is_hint);
}

// Calls visit(text) for each text in a failure or a part of it.
template <typename T, typename Visit>
void for_each_text(T& value, Visit visit) {
  if constexpr (std::is_same_v<T, std::string>) {
    visit(value);
  } else if constexpr (requires { value.has_value(); }) {
    if (value) for_each_text(*value, visit);
  } else if constexpr (requires { value.begin(); }) {
    for (auto& one : value) for_each_text(one, visit);
  } else if constexpr (requires { for_each_field(value, [](auto, auto&) {}); }) {
    for_each_field(value, [&](auto, auto& field) { for_each_text(field, visit); });
  }
}

// Whether a checker proves the cause.
bool is_confirmed(const Failure& failure);
// Whether the findings are uninitialised reads, and a mistake that explains the outputs makes them.
bool explains_reads(const Failure& failure);

// The cause on one line or several; "" if it is unknown.
std::string cause_of(const Failure& failure);

// Parts of the message, each in lines of its own: the cause and notes; the mismatch and the command.
std::string why_text(const Failure& failure);
std::string what_text(const Failure& failure);
std::string failure_message(const Failure& failure);

// The same failure for people who must not learn the inputs: without the command and its seed, the values of
// items and results, and the program's output, which may contain any of them.
Failure without_values(Failure failure);

}  // namespace course::lab
