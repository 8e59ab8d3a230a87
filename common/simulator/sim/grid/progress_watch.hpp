// SPDX-License-Identifier: MIT
// Whether a launch that has run for a long time still makes progress. The blocks that a host thread has
// resident are checked from time to time: they continue to run for a while under observation. They are stuck
// for good if no global memory changes and
//   each of them returns to a state that it was in before: registers, shared and local memory, positions of
//   all threads; or
//   all threads that run only poll the same addresses, and have done so for very long (they may count their
//   attempts or read a clock, so their state need not repeat).
// A kernel that computes, however slowly, does neither.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include "sim/machine/composite_observer.hpp"

namespace course::sim {

class ProgressWatch final : public CompositeObserver {
 public:
  // Replaces the worker's observer while it exists, and forwards all calls to it.
  explicit ProgressWatch(Worker& worker);
  ~ProgressWatch() override;
  ProgressWatch(const ProgressWatch&) = delete;
  ProgressWatch& operator=(const ProgressWatch&) = delete;

  enum class Verdict : std::uint8_t { gets_on, polls, repeats };
  // `turn` runs the block for one turn and returns whether it has ended.
  Verdict watch(Block& block, const std::function<bool()>& turn);
  // Whether the blocks have accessed memory other than locals, constants, and shared memory by stores.
  bool looks_elsewhere() const { return looks_elsewhere_; }

  void before(Warp& w, const MicroOp& op) override;
  void threads_exit(Warp& w, const Group& g, const BasicBlock& b) override;
  void copies_issued(Warp& w, const CopyBatch& batch) override;
  void copies_finished(Block& b, const CopyBatch& batch, std::uint32_t lanes, std::uint64_t barrier) override;
  void mbarrier_arrived(Warp& w, int lane, std::uint64_t address) override;
  void mbarrier_ended(Block& b, std::uint64_t address) override;

 private:
  void settle();

  Worker& worker_;
  Observer* const inner_;
  bool changed_ = false;  // global memory has changed, or something happened that cannot be undone
  bool wanders_ = false;  // a polling thread has read another address than before
  bool looks_elsewhere_ = false;
  std::unordered_map<std::uint64_t, std::uint64_t> looks_;  // by op, warp and lane: the address
  struct Cell {
    const std::byte* memory;
    std::uint64_t old[2];
    std::uint32_t n_bytes;
  };
  std::vector<Cell> pending_;  // about to be written
};

}  // namespace course::sim
