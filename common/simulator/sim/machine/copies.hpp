// SPDX-License-Identifier: MIT
// Asynchronous copies under way: cp.async and cp.async.bulk. A copy is recorded when its instruction runs,
// and carried out only when a thread waits for it. So code that does not wait reads old data, as it may on a
// GPU.
//   cp.async        a thread waits for its groups (cp.async.wait_group), or cp.async.mbarrier.arrive hands
//                   the copies over to an mbarrier
//   cp.async.bulk   to shared memory: an mbarrier counts the bytes; carried out when a thread tests that
//                   mbarrier
//                   to global memory: a thread waits for its groups, as for cp.async; carried out at the
//                   latest when the block ends
// Source: NVIDIA, "PTX ISA", version 9.0, section 9.7.9.25 (data movement, asynchronous copy).
#pragma once

#include <cstdint>
#include <vector>

#include "sim/machine/program.hpp"

namespace course::sim {

struct Block;
struct Warp;

// One execution of a copy instruction. Addresses are generic; arrays are by lane.
struct CopyBatch {
  static constexpr int kMaxLanes = 32;

  const MicroOp* op = nullptr;
  std::uint32_t warp = 0;
  std::uint32_t lanes = 0;   // lanes whose copies are still under way
  std::uint64_t serial = 0;  // distinguishes the batches of a block
  std::uint64_t to[kMaxLanes], from[kMaxLanes];
  std::uint32_t bytes[kMaxLanes];  // written
  std::uint32_t read[kMaxLanes];   // bytes that come from `from`; the rest of `bytes` is filled with zeros
  std::uint32_t group[kMaxLanes];  // number of the lane's group to which it belongs
  std::uint64_t ready = 0;         // for the timing model: when the bytes are there
  // Bulk copies to shared memory: the mbarrier that counts the bytes, otherwise 0.
  std::uint64_t barrier[kMaxLanes];
};

// The copies of a warp that its lanes wait for by groups.
struct CopyQueue {
  std::vector<CopyBatch> pending;
  std::uint32_t groups[CopyBatch::kMaxLanes] = {};  // groups committed so far

  void clear();
};

enum class CopyKind : std::uint8_t { small, bulk };

// new_copies returns a batch to fill in, for the lanes in `w.mask`; `issue` then starts it. The caller has
// checked the bounds.
CopyBatch new_copies(Warp& w, const MicroOp& op);
void issue(Warp& w, CopyBatch batch, CopyKind kind);

// The active lanes commit their current group.
void commit_copies(Warp& w, CopyKind kind);
// The active lanes wait until at most their last `left` groups are under way; `all`: for all copies,
// committed or not.
void await_copies(Warp& w, CopyKind kind, std::uint32_t left, bool all);

// cp.async.mbarrier.arrive: carries out one lane's copies so far; they belong to the mbarrier's current
// phase.
void hand_copies_over(Warp& w, int lane, std::uint64_t barrier);

// Carries out the bulk copies that the mbarrier at this address counts.
void finish_copies_for(Block& block, std::uint64_t barrier);
// The block has ended: carries out its copies to global memory and drops all others.
void finish_copies(Block& block);

// The host address of a generic address that has been checked.
std::byte* host_address(Block& block, std::uint64_t generic);

}  // namespace course::sim
