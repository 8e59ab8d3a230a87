// SPDX-License-Identifier: MIT
#include "smallest/message.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "lab/operators.hpp"
#include "smallest/values.hpp"
#include "smallest/wrong_store.hpp"
#include "text.hpp"

namespace course::grader {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::uint64_t kMaxRows = 16, kFewRows = 6;  // of the table; a part of longer arrays is shown
constexpr std::uint64_t kColumnsOfTrace = 1 << 17;    // elements of an array
constexpr std::size_t kFewNames = 5;                  // of operators or types that tell something
constexpr int kMaxCopies = 3;                         // that are followed from a wrong value

// The parts of an operator's and type's name: the type, the operator, and the kind of a scan; "" for none.
std::array<std::string, 3> name_parts(const std::string& variant) {
  const std::string first = variant.substr(0, variant.find('_')),
                    rest = variant.substr(0, variant.rfind('_'));
  const std::string kind = first.ends_with("clusive") ? first : "";
  return {variant.substr(variant.rfind('_') + 1),
          kind.empty() || rest == kind ? rest : rest.substr(kind.size() + 1), kind};
}

// By which part of their names wrong and right cases differ.
std::string what_differs(const SmallestFailure& found) {
  for (std::size_t part = 0; part < 3; ++part) {
    std::set<std::string> right, wrong, both;
    for (const std::string& variant : found.right) right.insert(name_parts(variant)[part]);
    for (const std::string& variant : found.wrong) wrong.insert(name_parts(variant)[part]);
    std::ranges::set_intersection(right, wrong, std::inserter(both, both.end()));
    if (both.empty() && !right.empty() && right.size() + wrong.size() <= kFewNames)
      return fmt::format("wrong with this length: {}; right: {}{}", fmt::join(wrong, ", "),
                         fmt::join(right, ", "),
                         wrong == std::set{std::string(lab::kNotCommutative)}
                             ? ". Its op(a, b) is not op(b, a): are the items combined in their order?"
                             : "");
  }
  return "";
}

}  // namespace

std::string smallest_text(const lab::Problem& problem, const lab::Task& task, const SmallestFailure& found,
                          const std::string& flags, std::size_t max_lines, const std::string& known) {
  const std::string lab(problem.manifest().id);
  const lab::Case& c = found.c;
  const lab::Failure& failure = found.outcome.failure;
  const bool whole = max_lines == 0, with_cause = known.empty();
  const auto line = [](const std::string& text) {
    return text.empty() ? "" : wrap(tame(text), kColumns, 2) + "\n";
  };
  const std::string cause = cause_of(failure);
  const CaseValues values(problem, task, found);
  std::string why =
      with_cause && !cause.empty()
          ? line(fmt::format("{}: {}", is_confirmed(failure) ? "confirmed cause" : "likely cause", cause))
          : "";
  if (found.is_traced && !found.trace_is_right) {
    const TraceView view = trace_view(problem, task, c, found.outcome.sim_report, kColumnsOfTrace);
    why +=
        line(first_wrong_between(view, task, values)) + line(right_elsewhere(view, values, failure.mismatch));
    if (!values.actual.empty() && (whole || (why.empty() && with_cause)))
      why += line(first_wrong_store(view, values, failure.mismatch, whole ? kMaxCopies : 1));
  }
  if (found.trace_is_right)
    why +=
        line("Traced, with the warps in another order, it comes out right: the result depends on the order.");
  if ((values.actual.empty() || !failure.mismatch) && (whole || with_cause))
    why += line(fmt::format("It {}.", failure.headline));
  why += line(what_differs(found));
  const std::string more = flags.empty() ? "" : " " + flags;
  std::string commands;
  const std::string title = whole ? "see it:        " : "A small input that fails: ";
  if (found.is_traced)
    commands += fmt::format("{}./lab trace {} {} --case {}{}\n", title, lab, task.id, c.name, more);
  // Only a wrong value has a store to begin at.
  if (whole || !found.is_traced)
    commands += fmt::format("{}./lab debug {} {} --case {}{}{}\n", whole ? "debug it:      " : title, lab,
                            task.id, c.name, failure.mismatch ? " --wrong" : "", more);
  if (whole)
    commands += fmt::format("run it again:  ./lab grade {} --task {} --case {} --seed {} --device sim{}\n",
                            lab, task.id, c.name, kSmallestSeed, more);
  commands = wrap_message(commands, kColumns, 2);
  std::string table =
      whole
          ? wrap(fmt::format("A small input that fails: {} / {}, case {}", lab, task.id, c.name), kColumns) +
                "\n"
          : "";
  // Its head takes two lines.
  const auto used = static_cast<std::size_t>(std::ranges::count(why + commands, '\n')) + 2;
  const std::uint64_t rows =
      whole ? kMaxRows : std::clamp<std::uint64_t>(max_lines - std::min(used, max_lines), 2, kFewRows);
  if (!values.actual.empty() || (whole && c.n > 0))  // inputs alone say little
    table += side_by_side(values, failure.mismatch, problem.row_length(task, c), rows, !whole);
  return whole ? table + why + commands : why + table + commands;
}

}  // namespace course::grader
