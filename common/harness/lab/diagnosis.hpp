// SPDX-License-Identifier: MIT
// Finds out why an output is wrong. A lab has one table of rules. Each rule describes a mistake that students
// make. It examines one failing case and either explains everything that is wrong there or returns "". The
// grader then considers all failing cases of a task together. It reports the mistakes that explain the most
// of them, if these are more than half of the cases and at most three mistakes fit equally well; otherwise
// the signs that all cases share. If no case has a mistake, it reports the signs of the first one.
// A name such as "sorted_runs 512" consists of a family and a member. The rules of a family are the same
// mistake with different numbers. Each member is counted separately; of those that fit equally well, the
// first is reported.
// Reading order: Rule, causes_of (one case), likely_cause (all failing cases), text_of.
#pragma once

#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lab/problem.hpp"

namespace course::lab {

// The formatted text, or "" if it does not hold.
template <typename... Args>
std::string text_if(bool holds, fmt::format_string<const Args&...> text, const Args&... args) {
  return holds ? fmt::format(text, args...) : "";
}

// Facts: the data that a lab's rules examine. A rule with `is_sign` describes a striking property of the
// output. It is used only if no mistake explains the case.
template <typename Facts>
struct Rule {
  std::string_view name;
  std::string (*explain)(const Facts&);  // "" when it does not explain the case
  bool is_sign = false;
  std::string_view without_values = "";  // as in Cause
};

template <typename Facts>
std::vector<Cause> causes_of(std::span<const Rule<Facts>> rules, const Facts& facts) {
  std::vector<Cause> causes;
  for (const auto& rule : rules) {
    if (std::string text = rule.explain(facts); !text.empty())
      causes.push_back(
          {std::string(rule.name), std::move(text), rule.is_sign, std::string(rule.without_values)});
  }
  return causes;
}

// The text for one case: its mistakes; if there are none or more than three, its signs; "" if there are none.
std::string describe_causes(std::span<const Cause> causes);

// Whether a known mistake explains the whole mismatch.
bool is_explained(const Mismatch& mismatch);

void add_causes(Mismatch& mismatch, std::vector<Cause> causes);

// Adds the causes that a lab's rules find, unless the general rules of compare.cpp have already explained the
// mismatch.
template <typename Facts>
void diagnose(Mismatch& mismatch, std::span<const Rule<Facts>> rules, const Facts& facts) {
  if (!is_explained(mismatch)) add_causes(mismatch, causes_of(rules, facts));
}

// A failing case of a task.
struct FailedCase {
  std::string name;
  std::vector<Cause> causes;
};

// Why an output is wrong, for all that is known: mistakes that explain it equally well, or signs that it has.
struct Diagnosis {
  std::vector<Cause> causes = {};
  // If they explain only some of the failed cases of a task: how many of how many, and the first of these, if
  // it is not the first failed one.
  std::uint64_t n_explained = 0, n_failed = 0;
  std::string in_case = "";
};
std::string text_of(const Diagnosis& diagnosis);

// What all failing cases of a task say together. It is shown beside the message about the first one.
Diagnosis likely_cause(std::span<const FailedCase> cases);

// Drops mistakes that explain one more failing case, but not what the others say together: in a short input
// several mistakes look alike.
void drop_unlikely(std::vector<Cause>& causes, std::span<const FailedCase> others);

// Whether one more failing case could decide between several mistakes that explain most so far.
bool is_ambiguous(std::span<const FailedCase> cases);

}  // namespace course::lab
