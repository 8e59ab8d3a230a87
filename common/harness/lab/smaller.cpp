// SPDX-License-Identifier: MIT
#include "lab/smaller.hpp"

#include <algorithm>

namespace course::lab {
namespace {

constexpr std::uint64_t kMostExampleItems = 16384;
constexpr std::uint64_t kFew = 9;  // items that are easily looked at

// 1 to 9, then 0, which shows nothing, then the lengths around powers of two, up to `most`.
std::vector<std::uint64_t> lengths_up_to(std::uint64_t most) {
  std::vector<std::uint64_t> lengths;
  for (const std::uint64_t n : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 0u})
    if (n <= most) lengths.push_back(n);
  for (std::uint64_t power = 16; power <= most; power *= 2) {
    for (const std::uint64_t n : {power - 1, power, power + 1})
      if (n <= most) lengths.push_back(n);
  }
  if (std::ranges::find(lengths, most) == lengths.end()) lengths.push_back(most);
  return lengths;
}

}  // namespace

std::vector<Case> smaller_cases(const Problem& problem, const Task& task, const Case& like) {
  std::vector<Pattern> patterns{Pattern::example, Pattern::ascending, Pattern::alternating, Pattern::random};
  std::erase(patterns, like.pattern);
  patterns.push_back(like.pattern);
  std::vector<Case> all;
  const std::uint64_t most = std::max(like.n, kFew);
  for (const std::uint64_t n : lengths_up_to(most)) {
    for (const Pattern pattern : patterns) {
      std::optional<Case> c = problem.with_items(task, like, n, pattern);
      if (!c || problem.refuses(task, *c) || c->n > most || c->name == like.name) continue;
      const auto same = [&](const Case& other) { return other.name == c->name; };
      if (std::ranges::any_of(all, same)) continue;
      c->purpose = kCorrectness;
      all.push_back(std::move(*c));
    }
  }
  all.push_back(like);
  return all;
}

std::vector<Case> variants(const Problem& problem, const Task& task) {
  std::vector<Case> all;
  for (Case& c : problem.cases(task)) {
    if (problem.refuses(task, c)) continue;
    const auto known =
        std::ranges::find_if(all, [&](const Case& other) { return other.words.variant == c.words.variant; });
    if (known == all.end())
      all.push_back(std::move(c));
    else if (known->pattern != Pattern::random && c.pattern == Pattern::random)
      *known = std::move(c);
  }
  return all;
}

std::optional<Case> aligned(const Case& c) {
  if (c.misalign == 0) return std::nullopt;
  Case out = c;
  out.misalign = 0;
  return named(std::move(out));
}

std::optional<Case> find_case(const Problem& problem, const Task& task, std::string_view name) {
  const std::vector<Case> graded = problem.cases(task);
  for (const Case& c : graded)
    if (c.name == name) return c;
  if (name.ends_with(name_of(Pattern::example))) {
    for (std::uint64_t n = 0; n <= kMostExampleItems; ++n)
      if (Case c = problem.example(task, n); c.name == name) return c;
  }
  for (const Case& like : graded) {
    if (!name.starts_with(like.words.variant)) continue;
    for (const Case& one : smaller_cases(problem, task, like)) {
      if (one.name == name) return one;
      if (auto other = aligned(one); other && other->name == name) return other;
    }
  }
  return std::nullopt;
}

}  // namespace course::lab
