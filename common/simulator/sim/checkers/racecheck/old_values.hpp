// SPDX-License-Identifier: MIT
// Old values for strong loads. Strong accesses (volatile, relaxed, atomics) never race, but by themselves
// they order nothing: a load of global memory that does not happen after another block's newest write may
// return the value from before that write. One host thread runs all blocks, so memory alone would never show
// this. Therefore the checker draws for each strong write how many loads will miss it, that is, get the old
// value.
// The PTX memory model allows each of these values, so a correct program computes the same results as without
// them:
//   A load that happens after the write, by the order that SyncTracker knows or by the order of fence.sc,
//   gets the new value.
//   Once a thread of another block has got the new value, all threads get it (coherence). Threads of the
//   writing block always get it.
//   An atomic that changes the value gets the newest one. Or it takes place before the write, so that the
//   write is carried out once more, on the atomic's result: only if this gives the write the same result, or
//   nothing has used it. From then on the atomic's result is the old value.
//   A load that gets the old value acquires only what that value published.
//   A write is missed by fewer than kMisses loads, so a loop that polls ends.
// In three cases the model allows an old value and the checker does not choose it. If one thread of a block
// knows of a fence.sc or has released its writes, the whole block counts as having done so. Only the last
// write of a word can be missed. The lanes of one instruction that read the same word get the same value.
// Weak accesses are left alone.
// The instruction gets the old value from memory, where it is only while the instruction is executed.
// Source: NVIDIA, "PTX ISA" 9.0, 8.9 (ordering of memory operations) and 8.10 (axioms: coherence,
// fence-SC, causality).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "sim/checkers/racecheck/current_access.hpp"
#include "sim/checkers/racecheck/sync_tracker.hpp"

namespace course::sim::race {

class OldValues {
 public:
  // A load that got an old value because a fence is missing. It is dropped if its thread reads the word
  // again.
  struct Miss {
    std::uint32_t op, block, warp, lane;
    RecordId write;
    std::uint32_t writers_lane;
  };

  OldValues(const Arena& arena, const SyncTracker& sync) : arena_(arena), sync_(sync) {}
  // Whether the kernel has strong loads that can get old values.
  static bool may_occur(const Program& program, const LaunchRequest& launch);
  // Whether strong loads of the next launch may get old values, chosen at random with the schedule's seed.
  void turn(bool on, std::uint64_t schedule_seed);
  bool are_on() const { return on_; }
  void launch_begins(const Program& program);

  // For each access of global memory, before SyncTracker orders it by what its address publishes: decides
  // whether its lanes get an old value, and puts that into memory.
  void note(CurrentAccess& h, std::uint32_t lanes);
  // After the op has been executed: puts the newest values back.
  void after(const MicroOp& op);
  // A fence of device scope.
  void note_fence(BlockState& b, const MicroOp& op);
  // All threads see what is in memory there.
  void forget(std::uint64_t address, std::uint64_t n_bytes);
  // What the old value that a lane gets at this address publishes.
  Published& published_at(std::uint64_t address) { return unseen_.at(address).old_published; }
  const std::map<std::uint64_t, Miss>& misses() const { return misses_; }

 private:
  // What an op does with the value in memory.
  enum class Role : std::uint8_t {
    reads,     // loads; atomics that only read
    compares,  // compare-and-swap
    adds,      // an atomic addition of integers whose result is not used
    replaces,  // a store; an exchange whose result is not used
    other
  };
  using Value = std::array<std::byte, 16>;
  // A strong write that other blocks need not see yet.
  struct Unseen {
    Value old;                      // the value before the write
    Published old_published;        // what the old value publishes
    std::uint64_t instruction = 0;  // the one that wrote it or accessed it last
    std::uint64_t released = 0;     // number of the release by its block; 0: not released yet
    std::uint32_t block = 0, warp = 0, lanes = 0;
    RecordId id = 0;
    std::uint8_t bytes = 0, misses = 0;  // misses: loads that will still get the old value
    bool is_due = false;                 // the current instruction must see the new value
    bool is_first = false;               // of the word, or an addition after another block's write
    Role role = Role::other;             // of the write; `other` also if its result has been used
  };
  using UnseenWrites = std::unordered_map<std::uint64_t, Unseen>;

  static std::vector<Role> roles_of(const Program& program);
  template <typename Each>
  void for_unseen(std::uint64_t address, std::uint64_t n_bytes, const Each& each);
  void note_write(CurrentAccess& h, std::uint32_t lanes);
  void note_load(CurrentAccess& h, std::uint32_t lanes);
  void forget_misses(const CurrentAccess& h, std::uint32_t lanes);
  void give_old(CurrentAccess& h, UnseenWrites::iterator it, int lane);
  void note_release(BlockState& b);
  static bool must_see(const CurrentAccess& h, const Unseen& u, int lane);
  bool may_precede(const CurrentAccess& h, const Unseen& u, std::uint32_t lanes, int lane) const;

  const Arena& arena_;
  const SyncTracker& sync_;
  bool on_ = false;
  std::vector<Role> roles_;         // by op
  std::uint64_t one_write_in_ = 1;  // so rarely is a write missed at all
  Rng dice_{0};
  UnseenWrites unseen_;  // of global memory, by address
  // All of them lie between these addresses; the size of the smallest of them, 4 at most.
  std::uint64_t begin_ = ~std::uint64_t{0}, end_ = 0, step_ = 4;
  std::map<std::uint64_t, Miss> misses_;             // by address
  std::uint64_t n_instructions_ = 0, n_fences_ = 0;  // counted so far
  // The newest values that are missing in memory while the current op is executed, by address.
  std::vector<std::pair<std::uint64_t, Value>> put_back_;
};

}  // namespace course::sim::race
