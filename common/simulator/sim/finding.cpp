// SPDX-License-Identifier: MIT
#include "sim/finding.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstddef>
#include <string_view>
#include <utility>

namespace course::sim {
namespace {

constexpr std::size_t kMaxFindings = 64;

bool same(const std::vector<SourcePlace>& a, const std::vector<SourcePlace>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const SourcePlace& x, const SourcePlace& y) {
    return x.line == y.line && x.file == y.file;
  });
}

// Whether two messages differ in numbers only.
bool alike(std::string_view a, std::string_view b) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  const auto end_of_number = [&](std::string_view text, std::size_t at) {
    if (at > 0 && is_word(text[at - 1])) return at;
    const bool number = at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
    while (number && at < text.size() && is_word(text[at])) ++at;
    return at;
  };
  std::size_t i = 0, k = 0;
  while (i < a.size() && k < b.size()) {
    const std::size_t after_i = end_of_number(a, i), after_k = end_of_number(b, k);
    if ((after_i == i) != (after_k == k) || (after_i == i && a[i] != b[k])) return false;
    i = std::max(after_i, i + 1);
    k = std::max(after_k, k + 1);
  }
  return i == a.size() && k == b.size();
}

// Findings without lines, such as those of the rounds of a loop of host code.
bool alike(const Finding& a, const Finding& b) {
  return a.checker == Checker::leakcheck ? a.message == b.message : alike(a.message, b.message);
}

}  // namespace

void add_finding(std::vector<Finding>& findings, Finding finding) {
  for (Finding& known : findings) {
    if (known.checker != finding.checker || known.kind != finding.kind || known.kernel != finding.kernel)
      continue;
    if (finding.where.empty() && !alike(known, finding)) continue;
    if (!same(known.where, finding.where) || !same(known.other_where, finding.other_where)) continue;
    const std::uint64_t number = known.number;
    if (known.severity == Severity::hint) std::swap(known, finding);  // an error does not become a hint
    known.times += finding.times;
    known.number = number;
    return;
  }
  static std::atomic<std::uint64_t> last{0};
  finding.number = ++last;
  if (findings.size() < kMaxFindings) return findings.push_back(std::move(finding));
  // Hints never keep an error from being reported.
  const auto hint = std::find_if(findings.rbegin(), findings.rend(),
                                 [](const Finding& known) { return known.severity == Severity::hint; });
  if (finding.severity != Severity::hint && hint != findings.rend()) *hint = std::move(finding);
}

}  // namespace course::sim
