// SPDX-License-Identifier: MIT
#include "sim/machine/copies.hpp"

#include <algorithm>
#include <cstring>

#include "sim/machine/mbarrier.hpp"
#include "sim/machine/warp.hpp"

namespace course::sim {
namespace {

bool is_shared(std::uint64_t address) {
  return address >= kSharedWindow && address < kSharedWindow + kWindowSize;
}

CopyQueue& queue_of(Warp& w, CopyKind kind) {
  return kind == CopyKind::small ? w.copies : w.bulk_copies;
}

// Throws DeviceFault if global memory that a copy accesses has been freed since the copy was issued.
void check_still_there(Block& block, const CopyBatch& batch, int lane) {
  const Arena& arena = *block.warps[batch.warp].worker->arena;
  const auto check = [&](std::uint64_t address, std::uint64_t bytes) {
    if (bytes == 0 || is_shared(address) || arena.has_for_kernel(address, bytes)) return;
    throw DeviceFault(Fault::illegal_address, "a copy under way accesses memory that has been freed",
                      1u << lane, address);
  };
  check(batch.to[lane], batch.bytes[lane]);
  check(batch.from[lane], batch.read[lane]);
}

// Carries out the copies of `lanes`. `barrier`: the mbarrier to whose phase they belong, or 0.
void finish(Block& block, CopyBatch& batch, std::uint32_t lanes, std::uint64_t barrier) {
  if (lanes == 0) return;
  for (const int lane : EachLane{lanes}) check_still_there(block, batch, lane);
  if (Observer* observer = block.warps[batch.warp].worker->observer; observer != nullptr)
    observer->copies_finished(block, batch, lanes, barrier);
  for (const int i : EachLane{lanes}) {
    std::byte* const to = host_address(block, batch.to[i]);
    if (batch.read[i] != 0) std::memcpy(to, host_address(block, batch.from[i]), batch.read[i]);
    if (batch.read[i] < batch.bytes[i]) std::memset(to + batch.read[i], 0, batch.bytes[i] - batch.read[i]);
  }
  batch.lanes &= ~lanes;
}

void forget_finished(std::vector<CopyBatch>& batches) {
  std::erase_if(batches, [](const CopyBatch& b) { return b.lanes == 0; });
}

}  // namespace

void CopyQueue::clear() {
  pending.clear();
  std::ranges::fill(groups, 0u);
}

std::byte* host_address(Block& block, std::uint64_t generic) {
  return is_shared(generic) ? block.shared + (generic - kSharedWindow)
                            : reinterpret_cast<std::byte*>(generic);
}

CopyBatch new_copies(Warp& w, const MicroOp& op) {
  CopyBatch batch{};
  batch.op = &op;
  batch.warp = w.number;
  batch.lanes = w.mask;
  batch.serial = ++w.block->n_copies;
  return batch;
}

void issue(Warp& w, CopyBatch batch, CopyKind kind) {
  CopyQueue& queue = queue_of(w, kind);
  std::uint32_t counted = 0;  // lanes whose copies an mbarrier counts
  for (const int i : EachLane{batch.lanes}) {
    batch.group[i] = queue.groups[i];
    if (batch.barrier[i] != 0) counted |= 1u << i;
  }
  if (Observer* observer = w.worker->observer; observer != nullptr) observer->copies_issued(w, batch);
  (counted != 0 ? w.block->counted_copies : queue.pending).push_back(batch);
}

void commit_copies(Warp& w, CopyKind kind) {
  CopyQueue& queue = queue_of(w, kind);
  for (const int lane : EachLane{w.mask}) ++queue.groups[lane];
}

void await_copies(Warp& w, CopyKind kind, std::uint32_t left, bool all) {
  CopyQueue& queue = queue_of(w, kind);
  for (CopyBatch& batch : queue.pending) {
    std::uint32_t due = 0;
    for (const int i : EachLane{batch.lanes & w.mask}) {
      if (all || std::uint64_t{batch.group[i]} + left < queue.groups[i]) due |= 1u << i;
    }
    finish(*w.block, batch, due, 0);
    const std::uint64_t now = w.time_of(*w.current);
    if (due != 0 && batch.ready > now) w.time += batch.ready - now;
  }
  forget_finished(queue.pending);
}

void hand_copies_over(Warp& w, int lane, std::uint64_t barrier) {
  for (CopyBatch& batch : w.copies.pending) finish(*w.block, batch, batch.lanes & 1u << lane, barrier);
  forget_finished(w.copies.pending);
}

void finish_copies_for(Block& block, std::uint64_t barrier) {
  std::vector<CopyBatch>& batches = block.counted_copies;
  for (CopyBatch& batch : batches) {
    for (const int i : EachLane{batch.lanes}) {
      if (batch.barrier[i] != barrier) continue;
      finish(block, batch, 1u << i, barrier);
      complete_bytes(block, barrier, batch.bytes[i]);
    }
  }
  forget_finished(batches);
}

void finish_copies(Block& block) {
  for (Warp& w : block.warps) {
    for (CopyBatch& batch : w.bulk_copies.pending) finish(block, batch, batch.lanes, 0);
    w.copies.clear();
    w.bulk_copies.clear();
  }
  block.counted_copies.clear();
}

}  // namespace course::sim
