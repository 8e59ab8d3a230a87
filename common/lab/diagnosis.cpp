// SPDX-License-Identifier: MIT
#include "lab/diagnosis.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace course::lab {
namespace {

constexpr std::size_t kMostTold = 3;  // mistakes that fit equally well; more of them say nothing

std::string one_of(std::span<const Cause> causes) {
  if (causes.empty() || causes.size() > kMostTold) return "";
  if (causes.size() == 1) return causes[0].text;
  std::string text = "several mistakes look like this: ";
  for (std::size_t i = 0; i < causes.size(); ++i)
    text += fmt::format("{}({}) {}", i == 0 ? "" : "; ", i + 1, causes[i].text);
  return text;
}

const Cause* find(const FailedCase& c, const std::string& rule) {
  const auto found =
      std::find_if(c.causes.begin(), c.causes.end(), [&](const Cause& cause) { return cause.rule == rule; });
  return found == c.causes.end() ? nullptr : &*found;
}

// The rules that explain the most cases, each as the first of these cases words it, and how many cases they explain.
struct Best {
  std::vector<Cause> causes;
  std::size_t n_cases = 0;
  const FailedCase* first = nullptr;  // that the first of them explains
};
Best best_of(std::span<const FailedCase> cases, bool signs) {
  Best best;
  std::vector<std::string> seen;
  for (const FailedCase& c : cases) {
    for (const Cause& cause : c.causes) {
      if (cause.is_sign != signs || std::find(seen.begin(), seen.end(), cause.rule) != seen.end()) continue;
      seen.push_back(cause.rule);
      const auto n =
          static_cast<std::size_t>(std::count_if(cases.begin(), cases.end(), [&](const FailedCase& one) {
            return find(one, cause.rule) != nullptr;
          }));
      if (n > best.n_cases) best = {{}, n, &c};
      if (n == best.n_cases) best.causes.push_back(cause);
    }
  }
  return best;
}

}  // namespace

std::string describe_causes(std::span<const Cause> causes) {
  for (const bool signs : {false, true}) {
    std::vector<Cause> some;
    std::copy_if(causes.begin(), causes.end(), std::back_inserter(some),
                 [&](const Cause& cause) { return cause.is_sign == signs; });
    if (!some.empty() && !signs) return one_of(some);
    std::vector<std::string> texts;
    for (const Cause& cause : some) texts.push_back(cause.text);
    if (signs) return fmt::format("{}", fmt::join(texts, "; "));
  }
  return "";
}

bool is_explained(const Mismatch& mismatch) {
  return std::any_of(mismatch.causes.begin(), mismatch.causes.end(),
                     [](const Cause& cause) { return !cause.is_sign; });
}

void add_causes(Mismatch& mismatch, std::vector<Cause> causes) {
  mismatch.causes.insert(mismatch.causes.end(), std::make_move_iterator(causes.begin()),
                         std::make_move_iterator(causes.end()));
  mismatch.hint = describe_causes(mismatch.causes);
}

std::string likely_cause(std::span<const FailedCase> cases) {
  if (cases.empty()) return "";
  const Best best = best_of(cases, false);
  if (best.n_cases == 0) return describe_causes(cases.front().causes);
  const std::string text = one_of(best.causes);
  if (text.empty() || best.n_cases == cases.size()) return text;
  // It explains some cases only; the others may have another cause.
  if (best.causes.size() > 1) return "";
  if (find(cases.front(), best.causes.front().rule) != nullptr)
    return fmt::format("{} (this explains {} of the {} failed cases)", text, best.n_cases, cases.size());
  if (2 * best.n_cases <= cases.size()) return "";
  return fmt::format("in case {}: {} (this explains {} of the {} failed cases)", best.first->name, text,
                     best.n_cases, cases.size());
}

bool is_ambiguous(std::span<const FailedCase> cases) {
  const Best best = best_of(cases, false);
  return best.n_cases == cases.size() && best.causes.size() > 1;
}

}  // namespace course::lab
