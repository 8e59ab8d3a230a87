// SPDX-License-Identifier: MIT
#include "sim/finding.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <utility>

namespace course::sim {
namespace {

constexpr std::size_t kMaxFindings = 64;

bool same(const std::vector<SourcePlace>& a, const std::vector<SourcePlace>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const SourcePlace& x, const SourcePlace& y) {
    return x.line == y.line && x.file == y.file;
  });
}

}  // namespace

void add_finding(std::vector<Finding>& findings, Finding finding) {
  for (Finding& known : findings) {
    if (known.checker != finding.checker || known.kind != finding.kind || known.kernel != finding.kernel)
      continue;
    if (finding.where.empty() && known.message != finding.message) continue;
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
