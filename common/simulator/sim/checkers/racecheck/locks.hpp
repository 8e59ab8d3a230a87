// SPDX-License-Identifier: MIT
// Which threads have changed words that some op swaps, as atomicExch and atomicCAS do for a lock: to find
// out whether a lock passes between two accesses.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>

#include "sim/checkers/racecheck/vector_clock.hpp"
#include "sim/machine/atomic_patterns.hpp"

namespace course::sim::race {

class Locks {
 public:
  struct Thread {
    Thread(std::uint32_t of_block, std::uint32_t warp, int lane)
        : block(of_block), number(warp * 32 + static_cast<std::uint32_t>(lane)) {}
    std::uint32_t block, number;  // number: in the block
    auto operator<=>(const Thread&) const = default;
  };
  struct Word {
    std::uint64_t number = 0;
    std::uint32_t block = ~0u;  // of a word of shared memory
    auto operator<=>(const Word&) const = default;
  };

  void launch_begins(const Program& program) {
    swaps_ = swaps_of(program);
    uses_.clear();
    n_uses_ = 0;
  }
  bool any() const { return !swaps_.empty(); }
  bool is_swap(std::uint32_t op) const { return swaps_.contains(op); }
  // A thread changes a word after its accesses with numbers below `before`. Of each thread and op only the
  // last change counts, so that a thread that tries again does not hide its release.
  void note(Word word, Thread thread, std::uint32_t op, RecordId before);
  // Whether `first` has changed a lock after its access `id`, and `second` after that.
  bool pass(Thread first, RecordId id, Thread second) const;

 private:
  struct Use {
    RecordId before = 0;
    std::uint64_t number = 0;
  };
  std::set<std::uint32_t> swaps_;                                        // ops
  std::map<Word, std::map<Thread, std::map<std::uint32_t, Use>>> uses_;  // by op
  std::uint64_t n_uses_ = 0;
};

}  // namespace course::sim::race
