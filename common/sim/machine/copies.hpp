// SPDX-License-Identifier: MIT
// Copies under way: cp.async and cp.async.bulk. A copy is noted when its instruction runs and done no earlier than somebody
// waits for it, so that code that does not wait sees old data here as it may on a GPU.
//   cp.async        by groups of the thread: cp.async.wait_group, or an mbarrier that cp.async.mbarrier.arrive tells
//   cp.async.bulk   to shared memory: an mbarrier counts the bytes; done once a thread looks at that mbarrier
//                   to global memory: by groups of the thread, like cp.async; done at the latest when the block ends
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
  static constexpr int kMostLanes = 32;

  const MicroOp* op = nullptr;
  std::uint32_t warp = 0;
  std::uint32_t lanes = 0;   // whose copies are still under way
  std::uint64_t serial = 0;  // tells batches of a block apart
  std::uint64_t to[kMostLanes], from[kMostLanes];
  std::uint32_t bytes[kMostLanes];    // written
  std::uint32_t read[kMostLanes];     // of which the first so many come from `from`; the rest are zeros
  std::uint32_t group[kMostLanes];    // number of the lane's group that it belongs to
  std::uint64_t barrier[kMostLanes];  // of bulk copies to shared memory: the mbarrier that is told, else 0
};

// A warp's copies that its lanes wait for by groups.
struct CopyQueue {
  std::vector<CopyBatch> pending;
  std::uint32_t groups[CopyBatch::kMostLanes] = {};  // committed so far

  void clear();
};

enum class CopyKind : std::uint8_t { small, bulk };

// A batch to fill in, for the lanes in `w.mask`; `issue` then puts it under way. Bounds have been checked.
CopyBatch new_copies(Warp& w, const MicroOp& op);
void issue(Warp& w, CopyBatch batch, CopyKind kind);

// The active lanes close their group.
void commit_copies(Warp& w, CopyKind kind);
// The active lanes wait until at most their `left` last groups are under way; `all`: for everything, committed or not.
void await_copies(Warp& w, CopyKind kind, std::uint32_t left, bool all);

// One lane's copies so far will have been done when the current phase of the mbarrier at `barrier` is.
void hand_copies_over(Warp& w, int lane, std::uint64_t barrier);

// Does the bulk copies that the mbarrier at this address counts.
void finish_copies_for(Block& block, std::uint64_t barrier);
// The block has ended: what is on its way to global memory arrives, the rest is dropped.
void finish_copies(Block& block);

// Where a checked generic address lies in this process.
std::byte* host_address(Block& block, std::uint64_t generic);

}  // namespace course::sim
