// SPDX-License-Identifier: MIT
#include "lab/diagnosis.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

namespace course::lab {
namespace {

constexpr std::size_t kMaxReported = 3;  // more mistakes that fit equally well are not reported

std::string_view family_of(const Cause& cause) {
  return std::string_view(cause.rule).substr(0, cause.rule.find(' '));
}

// Keeps the first cause of each family.
std::vector<Cause> one_of_each(std::span<const Cause> causes) {
  std::vector<Cause> some;
  for (const Cause& cause : causes)
    if (std::ranges::none_of(some, [&](const Cause& other) { return family_of(other) == family_of(cause); }))
      some.push_back(cause);
  return some;
}

std::string one_of(std::span<const Cause> fitting) {
  const std::vector<Cause> causes = one_of_each(fitting);
  if (causes.empty() || causes.size() > kMaxReported) return "";
  if (causes.size() == 1) return causes[0].text;
  std::string text = "several mistakes look like this: ";
  for (std::size_t i = 0; i < causes.size(); ++i)
    text += fmt::format("{}({}) {}", i == 0 ? "" : "; ", i + 1, causes[i].text);
  return text;
}

const Cause* find(const FailedCase& c, const std::string& rule) {
  const auto found = std::ranges::find(c.causes, rule, &Cause::rule);
  return found == c.causes.end() ? nullptr : &*found;
}

// The rules that explain the most cases, with the text for the first such case, and how many cases they
// explain.
struct Best {
  std::vector<Cause> causes;
  std::size_t n_cases = 0;
  const FailedCase* first = nullptr;  // the first case that the first of them explains
};
Best best_of(std::span<const FailedCase> cases) {
  Best best;
  std::vector<std::string> seen;
  for (const FailedCase& c : cases) {
    for (const Cause& cause : c.causes) {
      if (cause.is_sign || std::ranges::find(seen, cause.rule) != seen.end()) continue;
      seen.push_back(cause.rule);
      const auto n = static_cast<std::size_t>(std::ranges::count_if(
          cases, [&](const FailedCase& one) { return find(one, cause.rule) != nullptr; }));
      if (n > best.n_cases) best = {{}, n, &c};
      if (n == best.n_cases) best.causes.push_back(cause);
    }
  }
  best.causes = one_of_each(best.causes);
  return best;
}

// The signs that all cases have, with the texts of the first case.
Diagnosis common_signs(std::span<const FailedCase> cases) {
  Diagnosis signs;
  for (const Cause& sign : cases.front().causes)
    if (sign.is_sign && std::ranges::all_of(cases, [&](const FailedCase& c) { return find(c, sign.rule); }))
      signs.causes.push_back(sign);
  return signs;
}

}  // namespace

std::string describe_causes(std::span<const Cause> causes) {
  std::vector<Cause> mistakes(causes.begin(), causes.end());
  std::erase_if(mistakes, [](const Cause& cause) { return cause.is_sign; });
  std::vector<std::string> signs;
  for (const Cause& cause : causes)
    if (cause.is_sign) signs.push_back(cause.text);
  const std::string text = one_of(mistakes);
  return text.empty() ? fmt::format("{}", fmt::join(signs, "; ")) : text;
}

// What was never written may follow from a mistake that a lab knows.
bool is_explained(const Mismatch& mismatch) {
  return std::ranges::any_of(
      mismatch.causes, [](const Cause& cause) { return !cause.is_sign && cause.rule != "never_written"; });
}

void add_causes(Mismatch& mismatch, std::vector<Cause> causes) {
  if (std::ranges::any_of(causes, [](const Cause& cause) { return !cause.is_sign; }))
    std::erase_if(mismatch.causes, [](const Cause& cause) { return cause.rule == "never_written"; });
  mismatch.causes.insert(mismatch.causes.end(), std::make_move_iterator(causes.begin()),
                         std::make_move_iterator(causes.end()));
}

std::string Mismatch::hint() const {
  return describe_causes(causes);
}

std::string text_of(const Diagnosis& diagnosis) {
  std::string text = describe_causes(diagnosis.causes);
  if (!diagnosis.in_case.empty()) text = fmt::format("in case {}: {}", diagnosis.in_case, text);
  if (diagnosis.n_failed > 0)
    text +=
        fmt::format(" (this explains {} of the {} failed cases)", diagnosis.n_explained, diagnosis.n_failed);
  return text;
}

Diagnosis likely_cause(std::span<const FailedCase> cases) {
  if (cases.empty()) return {};
  const Best best = best_of(cases);
  if (best.n_cases == 0) return {cases.front().causes};
  const bool is_clear = !one_of(best.causes).empty();
  if (is_clear && best.n_cases == cases.size()) return {best.causes};
  // The mistake explains only some cases; the others may have another cause.
  if (!is_clear || 2 * best.n_cases <= cases.size()) return common_signs(cases);
  const bool of_first = find(cases.front(), best.causes.front().rule) != nullptr;
  return {best.causes, best.n_cases, cases.size(), of_first ? "" : best.first->name};
}

void drop_unlikely(std::vector<Cause>& causes, std::span<const FailedCase> others) {
  if (others.empty()) return;
  const std::vector<Cause> likely = likely_cause(others).causes;
  std::erase_if(causes, [&](const Cause& cause) {
    return !cause.is_sign &&
           std::ranges::none_of(likely, [&](const Cause& one) { return family_of(one) == family_of(cause); });
  });
}

bool is_ambiguous(std::span<const FailedCase> cases) {
  const Best best = best_of(cases);
  return 2 * best.n_cases > cases.size() && best.causes.size() > 1;
}

}  // namespace course::lab
