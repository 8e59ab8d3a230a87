// SPDX-License-Identifier: MIT
// Why an output is wrong. A lab has one table of rules. Each rule is a mistake that students make; it looks
// at one failing case and either explains all that is wrong there, or says nothing. The grader then looks at
// all failing cases of a task together: a mistake that explains every one of them is reported; if several do,
// all are reported; if none does, none is, but what strikes in all cases. A name such as "sorted_runs 512" is
// that of a family and of one member: the rules of a family are one mistake with different numbers. Each
// member is counted for itself; of those that fit equally well, the first is reported.
// Reading order: Rule, causes_of (one case), likely_cause (all failing cases).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lab/problem.hpp"

namespace course::lab {

// Facts: what a lab's rules look at. A rule with `is_sign` describes what is striking about the output; it
// counts only where no mistake explains the case.
template <typename Facts>
struct Rule {
  std::string_view name;
  std::string (*explain)(const Facts&);  // "" when it does not explain the case
  bool is_sign = false;
};

template <typename Facts>
std::vector<Cause> causes_of(std::span<const Rule<Facts>> rules, const Facts& facts) {
  std::vector<Cause> causes;
  for (const auto& rule : rules) {
    if (std::string text = rule.explain(facts); !text.empty())
      causes.push_back({std::string(rule.name), std::move(text), rule.is_sign});
  }
  return causes;
}

// What is said of one case: its mistakes, else its signs; "" when there is nothing, or too much to choose
// from.
std::string describe_causes(std::span<const Cause> causes);

// Whether a mistake is known that explains all of it.
bool is_explained(const Mismatch& mismatch);

void add_causes(Mismatch& mismatch, std::vector<Cause> causes);

// Adds what a lab's rules say, unless compare.hpp knows the mistake already: those that any output can show.
template <typename Facts>
void diagnose(Mismatch& mismatch, std::span<const Rule<Facts>> rules, const Facts& facts) {
  if (!is_explained(mismatch)) add_causes(mismatch, causes_of(rules, facts));
}

// A failing case of a task.
struct FailedCase {
  std::string name;
  std::vector<Cause> causes;
};

// What is said of all of them, beside the message on the first one.
std::string likely_cause(std::span<const FailedCase> cases);

// Whether one more failing case could decide between several mistakes that explain all so far.
bool is_ambiguous(std::span<const FailedCase> cases);

}  // namespace course::lab
