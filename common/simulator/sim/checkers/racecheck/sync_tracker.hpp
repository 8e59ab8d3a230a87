// SPDX-License-Identifier: MIT
// What strong accesses and fences order: release → acquire, through synchronisation variables. And what is
// missing where a flag, a counter or a lock passes between two threads, but does not order their accesses.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sim/checkers/racecheck/current_access.hpp"
#include "sim/checkers/racecheck/locks.hpp"

namespace course::sim::race {

class OldValues;

// What is missing between an earlier access of another thread and this one, although a flag, a counter or a
// lock passes between the two.
enum class Missing : std::uint8_t {
  nothing_passes,
  writers_fence,
  readers_fence,
  writers_barrier,
  readers_barrier,
  lock_fence
};
inline bool is_fence(Missing missing) {
  return missing == Missing::writers_fence || missing == Missing::readers_fence ||
         missing == Missing::lock_fence;
}

class SyncTracker {
 public:
  explicit SyncTracker(AccessRecords& records) : records_(records) {}
  void launch_begins(const Program& program);

  // A strong access publishes at its address. What was published there, it has seen, or acquires at once.
  void order_by(CurrentAccess& h, std::uint32_t lanes, OldValues& old_values);
  // A fence, or an op by which lanes of a warp exchange values.
  void before(BlockState& b, Warp& w, const MicroOp& op, OldValues& old_values);

  // Whether strong accesses of global memory can order anything in this kernel.
  bool orders_global() const { return orders_global_; }
  const SyncVariables& variables() const { return variables_; }
  const Locks& locks() const { return locks_; }

  // `but_not`: the key of a variable that does not count.
  Missing missing_between(const CurrentAccess& h, int lane, RecordId id, std::uint32_t other_lane,
                          std::uint64_t but_not = 0) const;
  // Whether the last looks of this block got a value that the block of record `id` had set before that
  // access: that lane itself, or another thread of its block. Tickets do not count.
  enum class Announced : std::uint8_t { no, before_by_itself, before_by_another };
  static Announced announced(const CurrentAccess& h, RecordId id, std::uint32_t other_lane);

 private:
  void note_wait_or_ticket(CurrentAccess& h, std::uint32_t lanes) const;
  void publish(CurrentAccess& h, int lane, SyncVariables& variables, std::uint64_t key, bool replaces);

  AccessRecords& records_;
  SyncVariables variables_;    // of global memory
  std::size_t n_writers_ = 0;  // that all synchronisation variables remember together
  Locks locks_;
  // exchanges_: the kernel has strong accesses by which lanes of a warp may exchange values.
  bool fences_ = false, orders_global_ = false, exchanges_ = false;
};

}  // namespace course::sim::race
