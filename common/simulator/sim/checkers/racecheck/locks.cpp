// SPDX-License-Identifier: MIT
#include "sim/checkers/racecheck/locks.hpp"

#include <algorithm>

namespace course::sim::race {

void Locks::note(Word word, Thread thread, std::uint32_t op, RecordId before) {
  constexpr std::uint64_t kMaxUses = 1 << 16;  // in a launch; a limit for reasons only
  if (n_uses_ >= kMaxUses || (!is_swap(op) && !uses_.contains(word))) return;
  uses_[word][thread][op] = {before, ++n_uses_};
}

bool Locks::pass(Thread first, RecordId id, Thread second) const {
  return std::ranges::any_of(uses_, [&](const auto& lock) {
    const auto theirs = lock.second.find(first), own = lock.second.find(second);
    if (theirs == lock.second.end() || own == lock.second.end()) return false;
    std::uint64_t last = 0;
    for (const auto& [op, use] : own->second) last = std::max(last, use.number);
    return std::ranges::any_of(
        theirs->second, [&](const auto& use) { return use.second.before > id && use.second.number < last; });
  });
}

}  // namespace course::sim::race
