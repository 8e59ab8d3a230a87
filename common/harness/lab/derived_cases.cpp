// SPDX-License-Identifier: MIT
#include "lab/derived_cases.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/rng.hpp"

namespace course::lab {
namespace {

constexpr std::uint64_t kMaxExampleItems = 16384;
constexpr std::uint64_t kFew = 9;  // items that are easily looked at

// graded_cases draws at most so many like cases of more than kFewer items, with lengths from 1 to that of the
// case, but below kLongest, whose logarithms are uniform.
constexpr std::size_t kDrawn = 3;
constexpr std::uint64_t kFewer = 1 << 9, kLongest = 1 << 17;

constexpr std::uint32_t kLine = 128;  // bytes; the longest load has 16

// 1 to 9, then 0, which shows nothing, then the lengths around powers of two, up to `most`.
std::vector<std::uint64_t> lengths_up_to(std::uint64_t most) {
  std::vector<std::uint64_t> lengths;
  for (const std::uint64_t n : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 0u})
    if (n <= most) lengths.push_back(n);
  for (std::uint64_t power = 16; power <= most; power *= 2)
    for (const std::uint64_t n : {power - 1, power, power + 1})
      if (n <= most) lengths.push_back(n);
  if (std::ranges::find(lengths, most) == lengths.end()) lengths.push_back(most);
  return lengths;
}

// The numbers in a name of a case and the products of two neighbours ("181x182"): among them is its length.
std::vector<std::uint64_t> lengths_in(std::string_view name) {
  std::vector<std::uint64_t> numbers;
  bool goes_on = false;
  for (const char c : name) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (digit && !goes_on) numbers.push_back(0);
    if (digit) numbers.back() = std::min(numbers.back() * 10 + static_cast<std::uint64_t>(c - '0'), kLongest);
    goes_on = digit;
  }
  for (std::size_t i = 1, n = numbers.size(); i < n; ++i) numbers.push_back(numbers[i - 1] * numbers[i]);
  std::erase_if(numbers, [](std::uint64_t n) { return n > kLongest; });
  return numbers;
}

// The inputs of the case start at multiples of so many bytes.
std::uint32_t alignment_of(const Problem& problem, const Task& task, const Case& c) {
  std::size_t most = 1;
  for (const BufferSpec& spec : problem.shape(task, c).inputs) most = std::max(most, bytes_of(spec.dtype));
  return static_cast<std::uint32_t>(most);
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
  Case out = c;
  out.misalign = 0;
  return c.misalign == 0 ? std::nullopt : std::optional(with_name(std::move(out)));
}

std::vector<Case> graded_cases(const Problem& problem, const Task& task, std::uint64_t seed) {
  std::vector<Case> all = problem.cases(task), longer = all;
  const auto is_new = [&](const Case& c) { return std::ranges::count(all, c.name, &Case::name) == 0; };
  for (Case& c : all) {
    if ((c.purpose & (kEfficiency | kSpeedup)) != 0 || c.misalign != 0) continue;
    Case other = c;
    const std::uint32_t unit = alignment_of(problem, task, c);
    other.misalign = static_cast<std::uint32_t>(seed_for(seed, c.name) % (kLine / unit)) * unit;
    if (other = with_name(other); is_new(other)) c = other;
  }
  std::erase_if(longer, [&](const Case& c) {
    return (c.purpose & kCorrectness) == 0 || c.n <= kFewer || problem.refuses(task, c);
  });
  Rng rng(seed_for(seed, "lengths"));
  for (std::size_t i = 0; i < kDrawn && !longer.empty(); ++i) {
    const Case& like = longer[rng.below(longer.size())];
    const double octaves = std::log2(static_cast<double>(std::min(like.n, kLongest)));
    const double share = static_cast<double>(rng.below(1 << 20)) / (1 << 20);
    const auto n = static_cast<std::uint64_t>(std::exp2(octaves * share));
    std::optional<Case> c = problem.with_items(task, like, n, like.pattern);
    if (c) c = find_case(problem, task, c->name);  // a name can leave out what two cases differ in
    if (c) c = on_multiprocessors(static_cast<std::uint32_t>((seed + i) % 3), std::move(*c));
    if (!c || problem.refuses(task, *c) || !is_new(*c)) continue;
    c->purpose = kCorrectness;
    all.push_back(std::move(*c));
  }
  return all;
}

std::optional<Case> find_case(const Problem& problem, const Task& task, std::string_view name) {
  const std::vector<Case> graded = problem.cases(task);
  for (const Case& c : graded)
    if (c.name == name) return c;
  if (name.ends_with(name_of(Pattern::example))) {
    for (std::uint64_t n = 0; n <= kMaxExampleItems; ++n)
      if (Case c = problem.example(task, n); c.name == name) return c;
  }
  for (const Case& given : graded) {
    if (!name.starts_with(given.words.variant)) continue;
    const Case like = on_multiprocessors(0, given);
    for (const Case& one : smaller_cases(problem, task, like)) {
      if (one.name == name) return one;
      if (auto other = aligned(one); other && other->name == name) return other;
    }
    for (const std::uint64_t n : lengths_in(name))
      if (auto one = problem.with_items(task, like, n, like.pattern); one && one->name == name) return one;
  }
  for (const std::uint32_t n : {1u, 2u}) {
    const std::string word = '_' + std::to_string(n) + "sm";
    if (const std::size_t at = name.find(word); at != std::string_view::npos)
      if (auto c = find_case(problem, task, std::string(name).erase(at, word.size())))
        return on_multiprocessors(n, std::move(*c));
  }
  if (const std::size_t end = name.rfind("_off"); end != std::string_view::npos)
    if (auto c = find_case(problem, task, name.substr(0, end)))
      for (const std::uint32_t unit = alignment_of(problem, task, *c); (c->misalign += unit) < kLine;)
        if (Case one = with_name(*c); one.name == name) return one;
  return std::nullopt;
}

}  // namespace course::lab
